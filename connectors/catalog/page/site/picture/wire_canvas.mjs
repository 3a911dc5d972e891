// Many wires on one canvas: it is larger than the window, so that while the camera moves it only moves along.
import { drawWires, prepareWires } from "./wires.mjs";

const BEYOND = 240; // pixels on each side
const FEW = 600; // wires that are drawn within a few frames
const TIME = 6; // milliseconds of a frame

export class WireCanvas {
  #drawn = null; // the camera that it is drawn for, with the canvas's corner as that of the window
  #many = false;

  constructor(canvas) {
    this.canvas = canvas;
    // a browser copies a canvas that is drawn on for each frame, a bitmap only once
    this.shown = canvas.getContext("bitmaprenderer");
    this.brush = new OffscreenCanvas(1, 1);
  }

  show(wires) {
    prepareWires(wires);
    this.#stop();
    this.wires = wires;
    this.#drawn = null;
  }

  /** Whether what is drawn will do for this part of a layer (drawn for the camera `on`) until the camera rests. */
  covers(on, { left, top, right, bottom }) {
    if (!this.#drawn) return false;
    if (this.#many) return true;
    const { x, y, scale, width, height } = this.#placeOn(on);
    return x <= left && y <= top && x + width * scale >= right && y + height * scale >= bottom;
  }

  #placeOn(on) {
    const { x, y, k, width, height } = this.#drawn;
    const scale = on.k / k;
    return { x: on.x - x * scale, y: on.y - y * scale, scale, width, height };
  }

  /** Puts what is drawn where it belongs on a layer that is drawn for the camera `on`. */
  place(on) {
    this.on = on;
    if (!this.#drawn) return;
    const { x, y, scale } = this.#placeOn(on);
    this.canvas.style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
  }

  /** Leaves off drawing all the detail: what was drawn before stays. */
  interrupt() {
    if (!this.hasty) this.#stop();
  }

  #stop() {
    cancelAnimationFrame(this.drawing);
    this.drawing = 0;
  }

  /**
   * Draws the wires in a part of the layer, as `paint` says: at once, or over as many frames as it takes, in which what
   * was drawn before stays. In `haste` what takes long is left out.
   */
  draw(on, sight, paint, { haste = false, atOnce = false }) {
    if (haste && this.drawing && this.hasty) return;
    this.#stop();
    this.hasty = haste;
    const [left, top] = [Math.floor(sight.left - BEYOND), Math.floor(sight.top - BEYOND)];
    const [width, height] = [Math.ceil(sight.right + BEYOND - left), Math.ceil(sight.bottom + BEYOND - top)];
    const drawn = { x: on.x - left, y: on.y - top, k: on.k, width, height };
    const steps = drawWires(this.brush, this.wires, { camera: drawn, width, height, paint, haste });
    this.on = on;
    this.#step(drawn, steps, atOnce ? Infinity : TIME);
  }

  #step(drawn, steps, time) {
    const end = performance.now() + time;
    let step = steps.next();
    while (!step.done && performance.now() < end) {
      if (time !== Infinity) step.value.getImageData(0, 0, 1, 1); // a browser keeps strokes until they are asked for
      step = steps.next();
    }
    if (!step.done) {
      this.drawing = requestAnimationFrame(() => this.#step(drawn, steps, time));
      return;
    }
    this.drawing = 0;
    this.#drawn = drawn;
    this.#many = step.value > FEW;
    this.shown.transferFromImageBitmap(this.brush.transferToImageBitmap());
    [this.canvas.style.width, this.canvas.style.height] = [`${drawn.width}px`, `${drawn.height}px`];
    this.place(this.on);
  }
}
