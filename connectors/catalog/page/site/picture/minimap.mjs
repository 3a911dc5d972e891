// The whole picture in a corner; the frame is what is in sight, a click goes there.
import { moveAlone } from "./moving_layer.mjs";

const EDGE = 6;
const FEWEST = 8;
const REST = 140; // milliseconds without a move

export class Minimap {
  constructor(element, camera) {
    this.element = element;
    [this.cards, this.frame] = element.children; // the cards are drawn once a scene; the frame moves over them
    this.camera = camera;
    this.drawn = false;
    moveAlone(this.frame);
    element.addEventListener("pointerdown", (event) => {
      element.setPointerCapture(event.pointerId);
      this.#go(event);
    });
    element.addEventListener("pointermove", (event) => event.buttons && this.#go(event));
  }

  show(scene) {
    const { element, cards } = this;
    element.hidden = scene.boxes.length < FEWEST;
    const ratio = devicePixelRatio || 1;
    const [width, height] = [cards.clientWidth, cards.clientHeight];
    this.drawn = width > 0 && height > 0; // beside the list and on a phone it takes no room
    if (!this.drawn) return;
    [cards.width, cards.height] = [width * ratio, height * ratio];
    this.scale = Math.min((width - 2 * EDGE) / scene.width, (height - 2 * EDGE) / scene.height);
    this.left = (width - scene.width * this.scale) / 2;
    this.top = (height - scene.height * this.scale) / 2;
    const context = cards.getContext("2d");
    context.scale(ratio, ratio);
    context.fillStyle = getComputedStyle(element).getPropertyValue("--faint");
    for (const box of scene.boxes) {
      const size = [Math.max(2, box.width * this.scale), Math.max(1.5, box.height * this.scale)];
      context.fillRect(this.left + box.x * this.scale, this.top + box.y * this.scale, ...size);
    }
    this.#size();
  }

  /** Moves the frame to where the camera looks now; on the move it is scaled, and has its size when that rests. */
  look() {
    if (!this.drawn) return;
    this.#place();
    clearTimeout(this.resting);
    const { width, height } = this.camera.size;
    const { k, width: wide, height: high } = this.sized;
    if (k !== this.camera.k || wide !== width || high !== height) this.resting = setTimeout(() => this.#size(), REST);
  }

  #size() {
    const { width, height } = this.camera.size;
    const { k } = this.camera;
    this.sized = { k, width, height };
    const { style } = this.frame;
    [style.width, style.height] = [width, height].map((side) => `${(side / k) * this.scale}px`);
    this.#place();
  }

  #place() {
    const { left, top } = this.camera.sight();
    const [x, y] = [this.left + left * this.scale, this.top + top * this.scale];
    this.frame.style.transform = `translate(${x}px, ${y}px) scale(${this.sized.k / this.camera.k})`;
  }

  #go(event) {
    const box = this.cards.getBoundingClientRect();
    const x = (event.clientX - box.left - this.left) / this.scale;
    const y = (event.clientY - box.top - this.top) / this.scale;
    const { width, height } = this.camera.size;
    this.camera.set(width / 2 - x * this.camera.k, height / 2 - y * this.camera.k, this.camera.k);
  }
}
