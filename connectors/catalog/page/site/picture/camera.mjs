// The camera over the picture: drag to pan, wheel or pinch to zoom, and moves to what is asked for.

const [NEAREST, READABLE, FARTHEST] = [2.5, 0.7, 0.04];
export const LEGIBLE = 0.92; // the smallest letters, which are 12 high, are 11 pixels high

export class Camera {
  constructor(surface, moved) {
    this.x = 40;
    this.y = 40;
    this.k = 1;
    this.surface = surface;
    this.dragged = false;
    this.#moved = moved;
    this.#pointers = new Map();
    surface.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    surface.addEventListener("pointerdown", (event) => this.#down(event));
    surface.addEventListener("pointermove", (event) => this.#move(event));
    for (const name of ["pointerup", "pointercancel"]) surface.addEventListener(name, (event) => this.#up(event));
    new ResizeObserver(() => {
      this.#observed = this.#measured;
      this.#tell();
    }).observe(surface);
  }

  #moved;
  #pointers;
  #asked = 0;
  #size = null;
  #observed = null;

  get size() {
    return this.#size ?? this.#measured;
  }

  get #measured() {
    return { width: this.surface.clientWidth, height: this.surface.clientHeight };
  }

  /** What of the picture is in sight, with a margin in picture units. */
  sight(margin = 0) {
    const { width, height } = this.size;
    const [left, top] = [-this.x / this.k, -this.y / this.k];
    return {
      left: left - margin,
      top: top - margin,
      right: left + width / this.k + margin,
      bottom: top + height / this.k + margin,
    };
  }

  toPicture(clientX, clientY) {
    const box = this.surface.getBoundingClientRect();
    return [(clientX - box.left - this.x) / this.k, (clientY - box.top - this.y) / this.k];
  }

  set(x, y, k) {
    Object.assign(this, { x, y, k: Math.min(NEAREST, Math.max(FARTHEST, k)) });
    this.#tell();
  }

  zoom(factor, clientX = null, clientY = null) {
    const box = this.surface.getBoundingClientRect();
    const [px, py] = clientX === null ? [box.width / 2, box.height / 2] : [clientX - box.left, clientY - box.top];
    const k = Math.min(NEAREST, Math.max(FARTHEST, this.k * factor));
    this.set(px - ((px - this.x) * k) / this.k, py - ((py - this.y) * k) / this.k, k);
  }

  pan(dx, dy) {
    this.set(this.x + dx, this.y + dy, this.k);
  }

  /** Follows a box that has moved, so that it stays where it is on the screen. */
  hold(before, now) {
    if (before && now) this.pan((before.x - now.x) * this.k, (before.y - now.y) * this.k);
  }

  /** Shows all of an area. */
  fit(area, { largest = 1.1, space = 56 } = {}) {
    const { width, height } = this.size;
    if (!area.width || !area.height || !width || !height) return;
    const k = Math.min(largest, (width - 2 * space) / area.width, (height - 2 * space) / area.height);
    const kept = Math.max(FARTHEST, k);
    this.set((width - area.width * kept) / 2 - area.x * kept, (height - area.height * kept) / 2 - area.y * kept, kept);
  }

  /** The first look at a scene: all of it where it can be read at that size, else the box that was asked for. */
  begin(scene, root) {
    this.fit({ x: 0, y: 0, width: scene.width, height: scene.height }, { space: 36 });
    const least = scene.how.level ? LEGIBLE : READABLE;
    if (this.k >= least - 0.02 || !root) return;
    const { width, height } = this.size;
    const wider = scene.width * least > width - 80;
    const [x, y] = [wider ? root.x + root.width / 2 : scene.width / 2, root.y + Math.min(root.height, 300) / 2];
    this.set(width / 2 - x * least, height / 2 - y * least, least);
  }

  /** Moves as little as needed for an area to be in sight. */
  reveal(area, space = 60) {
    const { width, height } = this.size;
    const nudge = (start, length, at, room) => {
      const [low, high] = [start * this.k + at - space, (start + length) * this.k + at + space - room];
      return low < 0 ? -low : high > 0 ? -Math.min(high, low) : 0;
    };
    const [dx, dy] = [nudge(area.x, area.width, this.x, width), nudge(area.y, area.height, this.y, height)];
    if (dx || dy) this.pan(dx, dy);
  }

  /** Moves so that all of these boxes are in sight, where they do not fit the last one. */
  revealAll(boxes) {
    const [x, y] = [Math.min(...boxes.map((box) => box.x)), Math.min(...boxes.map((box) => box.y))];
    const width = Math.max(...boxes.map((box) => box.x + box.width)) - x;
    const height = Math.min(200, Math.max(...boxes.map((box) => box.y + box.height)) - y);
    if (!boxes.length) return;
    const last = boxes[boxes.length - 1];
    if (width * this.k < this.size.width - 80) this.reveal({ x, y, width, height }, 30);
    else this.reveal({ ...last, height: Math.min(200, last.height) }, 30);
  }

  #tell() {
    if (this.#asked) return;
    this.#asked = requestAnimationFrame(() => {
      this.#asked = 0;
      this.#size = this.#observed ?? this.size; // to measure it would have everything laid out that the frame has changed
      this.#moved(this);
      this.#size = null;
    });
  }

  #wheel(event) {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 18 : 1;
    if (event.shiftKey) this.pan(-(event.deltaY + event.deltaX) * unit, 0);
    else this.zoom(Math.exp(-event.deltaY * unit * (event.ctrlKey ? 0.01 : 0.0016)), event.clientX, event.clientY);
  }

  #down(event) {
    if (event.button !== 0 && event.button !== 1) return;
    this.#pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    this.dragged = false;
    this.travelled = 0;
  }

  #move(event) {
    const last = this.#pointers.get(event.pointerId);
    if (!last) return;
    const [dx, dy] = [event.clientX - last.x, event.clientY - last.y];
    if (this.#pointers.size === 2) this.#pinch(event, last);
    else {
      this.travelled += Math.abs(dx) + Math.abs(dy);
      if (!this.dragged && this.travelled < 5) return;
      if (!this.dragged) this.surface.setPointerCapture(event.pointerId);
      this.dragged = true;
      this.pan(dx, dy);
    }
    Object.assign(last, { x: event.clientX, y: event.clientY });
  }

  #pinch(event, last) {
    const other = [...this.#pointers].find(([id]) => id !== event.pointerId)[1];
    const before = Math.hypot(last.x - other.x, last.y - other.y) || 1;
    const now = Math.hypot(event.clientX - other.x, event.clientY - other.y);
    this.dragged = true;
    this.zoom(now / before, (event.clientX + other.x) / 2, (event.clientY + other.y) / 2);
  }

  #up(event) {
    this.#pointers.delete(event.pointerId);
  }
}
