// Many wires on one canvas: it is larger than the window, so that while the camera moves it only moves along.
import { drawWires, prepareWires } from "./wires.mjs";

const BEYOND = 240; // pixels on each side
const COARSEST = 2; // so many times as large as drawn
const FEW = 600; // wires that are drawn within a frame

export class WireCanvas {
  #drawn = null; // the camera that it was drawn for
  #many = false;

  constructor(canvas) {
    this.canvas = canvas;
  }

  show(wires) {
    prepareWires(wires);
    this.wires = wires;
    this.#drawn = null;
  }

  /** Moves what is drawn under the camera; says whether that will do until the camera rests. */
  move(camera) {
    if (!this.#drawn) return false;
    const scale = camera.k / this.#drawn.k;
    const [x, y] = [camera.x - this.#drawn.x * scale, camera.y - this.#drawn.y * scale];
    const { width, height } = camera.size;
    const [left, top] = [x - BEYOND * scale, y - BEYOND * scale];
    const [right, bottom] = [x + (width + BEYOND) * scale, y + (height + BEYOND) * scale];
    this.canvas.style.transform = `translate(${left}px, ${top}px) scale(${scale})`;
    const fills = scale <= COARSEST && left <= 0 && top <= 0 && right >= width && bottom >= height;
    return fills || this.#many;
  }

  /** Draws the wires as `paint` says; in haste without what takes long. */
  draw(camera, paint, { haste }) {
    const { width, height } = camera.size;
    this.canvas.style.width = `${width + 2 * BEYOND}px`;
    this.canvas.style.height = `${height + 2 * BEYOND}px`;
    const { x, y, k } = camera;
    this.#many = drawWires(this.canvas, this.wires, { x: x + BEYOND, y: y + BEYOND, k }, { paint, haste }) > FEW;
    this.#drawn = { x, y, k };
    this.canvas.style.transform = `translate(${-BEYOND}px, ${-BEYOND}px)`;
  }
}
