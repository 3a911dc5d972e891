// The whole picture in a corner; the frame is what is in sight, a click goes there.

const EDGE = 6;
const FEWEST = 8;

export class Minimap {
  constructor(canvas, camera) {
    this.canvas = canvas;
    this.camera = camera;
    this.drawn = false;
    this.cards = document.createElement("canvas"); // drawn once a scene; the frame moves over it
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.#go(event);
    });
    canvas.addEventListener("pointermove", (event) => event.buttons && this.#go(event));
  }

  show(scene) {
    const { canvas, cards } = this;
    canvas.hidden = scene.boxes.length < FEWEST;
    const ratio = devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    this.drawn = width > 0 && height > 0; // beside the list and on a phone it takes no room
    if (!this.drawn) return;
    for (const one of [canvas, cards]) [one.width, one.height] = [width * ratio, height * ratio];
    this.scale = Math.min((width - 2 * EDGE) / scene.width, (height - 2 * EDGE) / scene.height);
    this.left = (width - scene.width * this.scale) / 2;
    this.top = (height - scene.height * this.scale) / 2;
    const style = getComputedStyle(canvas);
    this.accent = style.getPropertyValue("--accent");
    const context = cards.getContext("2d");
    context.scale(ratio, ratio);
    context.fillStyle = style.getPropertyValue("--faint");
    for (const box of scene.boxes) {
      const size = [Math.max(2, box.width * this.scale), Math.max(1.5, box.height * this.scale)];
      context.fillRect(this.left + box.x * this.scale, this.top + box.y * this.scale, ...size);
    }
    this.look();
  }

  /** Draws the frame where the camera looks now. */
  look() {
    const { canvas, camera, scale } = this;
    if (!this.drawn) return;
    const ratio = devicePixelRatio || 1;
    const context = canvas.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.drawImage(this.cards, 0, 0);
    context.scale(ratio, ratio);
    const sight = camera.sight();
    context.strokeStyle = this.accent;
    context.lineWidth = 1.5;
    const corner = [this.left + sight.left * scale, this.top + sight.top * scale];
    context.strokeRect(...corner, (sight.right - sight.left) * scale, (sight.bottom - sight.top) * scale);
  }

  #go(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = (event.clientX - box.left - this.left) / this.scale;
    const y = (event.clientY - box.top - this.top) / this.scale;
    const { width, height } = this.camera.size;
    this.camera.set(width / 2 - x * this.camera.k, height / 2 - y * this.camera.k, this.camera.k);
  }
}
