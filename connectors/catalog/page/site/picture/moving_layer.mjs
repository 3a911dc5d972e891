// The layer that cards and wires are drawn on: while the camera moves it is moved as a whole, and nothing in it changes.

const [FINEST, COARSEST] = [0.5, 4]; // how much of its size a drawing may have on the screen until it is drawn anew

/**
 * Lets a browser move an element without a look at what else is on the page: of what is animated it takes the worst for
 * granted, and this animation, which adds nothing and stands still, does no more than say so.
 */
export function moveAlone(element) {
  element.animate({ transform: ["none", "none"] }, { duration: 1000, composite: "add" }).pause();
}

export class MovingLayer {
  constructor(element) {
    this.element = element;
    moveAlone(element);
    this.drawn = null; // the camera that it is drawn for
  }

  /** What the layer holds is drawn for this camera now. */
  settle({ x, y, k }) {
    this.drawn = { x, y, k };
    this.element.style.transform = "none";
  }

  /** Moves the layer to where the camera wants it; says whether that can be looked at, until the camera rests. */
  follow(camera) {
    const scale = this.drawn ? camera.k / this.drawn.k : 0;
    if (scale < FINEST || scale > COARSEST) return false;
    const [x, y] = this.#shift(camera, scale);
    this.element.style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
    return true;
  }

  #shift(camera, scale) {
    return [camera.x - this.drawn.x * scale, camera.y - this.drawn.y * scale];
  }

  /** What of the layer is in the window, in its own pixels. */
  sight(camera) {
    const scale = camera.k / this.drawn.k;
    const [x, y] = this.#shift(camera, scale);
    const { width, height } = camera.size;
    return { left: -x / scale, top: -y / scale, right: (width - x) / scale, bottom: (height - y) / scale };
  }
}
