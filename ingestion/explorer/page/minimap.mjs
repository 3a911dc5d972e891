// The whole picture in a corner; the frame is what is in sight, a click goes there.

export class Minimap {
  constructor(canvas, camera) {
    this.canvas = canvas;
    this.camera = camera;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.#go(event);
    });
    canvas.addEventListener("pointermove", (event) => event.buttons && this.#go(event));
  }

  draw(scene) {
    this.scene = scene;
    const { canvas, camera } = this;
    canvas.hidden = !scene || scene.boxes.length < 8;
    if (canvas.hidden) return;
    const ratio = devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    [canvas.width, canvas.height] = [width * ratio, height * ratio];
    this.scale = Math.min((width - 12) / scene.width, (height - 12) / scene.height);
    this.left = (width - scene.width * this.scale) / 2;
    this.top = (height - scene.height * this.scale) / 2;
    const style = getComputedStyle(canvas);
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    context.fillStyle = style.getPropertyValue("--faint");
    for (const box of scene.boxes) {
      const [w, h] = [Math.max(2, box.width * this.scale), Math.max(1.5, box.height * this.scale)];
      context.fillRect(this.left + box.x * this.scale, this.top + box.y * this.scale, w, h);
    }
    const sight = camera.sight();
    context.strokeStyle = style.getPropertyValue("--accent");
    context.lineWidth = 1.5;
    const frame = [this.left + sight.left * this.scale, this.top + sight.top * this.scale];
    context.strokeRect(...frame, (sight.right - sight.left) * this.scale, (sight.bottom - sight.top) * this.scale);
  }

  #go(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = (event.clientX - box.left - this.left) / this.scale;
    const y = (event.clientY - box.top - this.top) / this.scale;
    const { width, height } = this.camera.size;
    this.camera.set(width / 2 - x * this.camera.k, height / 2 - y * this.camera.k, this.camera.k);
  }
}
