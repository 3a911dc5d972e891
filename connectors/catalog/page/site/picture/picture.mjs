// The picture on the screen: only the cards in sight exist, wires are paths or one canvas, light follows the pointer.
import { svg } from "../base/dom.mjs";
import { keyOf, splitKey } from "../graph/model.mjs";
import { CardLayer } from "./card_layer.mjs";
import { NEAR, markStates } from "./cards.mjs";
import { MovingLayer } from "./moving_layer.mjs";
import { ROW } from "./scene.mjs";
import { WireCanvas } from "./wire_canvas.mjs";
import { CANVAS_FROM, WireIndex, wireElement } from "./wires.mjs";

const REST = 140; // milliseconds without a move

export class Picture {
  /** `surface` is what the camera looks at; `layer` in it holds `canvas` and `drawing`, for many wires and all else. */
  constructor(surface, { layer, canvas, drawing }) {
    this.canvas = canvas;
    this.layer = new MovingLayer(layer);
    this.wireCanvas = new WireCanvas(canvas);
    this.cards = new CardLayer((element) => this.#paintCard(element));
    this.wireLayer = svg("g", { class: "wires" });
    this.world = svg("g", { class: "world" }, this.wireLayer, this.cards.element);
    drawing.append(this.world);
    this.surface = surface;
    this.scene = null;
    this.wireElements = [];
    this.light = null;
    this.pins = new Set();
    this.chosen = null;
    this.found = new Set();
    this.current = null;
    this.moved = -Infinity;
  }

  /** Shows a scene; the light and the pins stay as they were said. */
  show(scene, roots, camera) {
    this.scene = scene;
    this.camera = camera;
    this.index = new WireIndex(scene.wires);
    this.onCanvas = scene.wires.length > CANVAS_FROM;
    if (this.onCanvas) this.wireCanvas.show(scene.wires);
    this.cards.show(scene.boxes, new Set(roots));
    this.wireElements = this.onCanvas ? [] : scene.wires.map(wireElement);
    this.wireLayer.replaceChildren(...this.wireElements);
    this.surface.classList.toggle("on-canvas", this.onCanvas);
    this.surface.classList.toggle("compared", scene.compared);
    this.canvas.hidden = !this.onCanvas;
    this.moved = -Infinity;
    this.#settle();
    this.paint();
  }

  /** Follows the camera. On the move only the layer moves, and what is missing comes with the next frames. */
  look(camera) {
    if (!this.scene) return;
    this.camera = camera;
    const moving = performance.now() - this.moved < REST;
    const fresh = this.moved === -Infinity; // where the camera goes to after a scene came is no move
    this.moved = performance.now();
    clearTimeout(this.resting);
    const { moved } = this;
    // where frames take long the next move may wait already: a whole frame passes before that is called a rest
    const next = (act) => requestAnimationFrame(() => requestAnimationFrame(act));
    this.resting = setTimeout(() => next(() => this.#rest(moved)), REST);
    this.wireCanvas.interrupt();
    if (fresh) this.#settle();
    else if (!this.layer.follow(camera)) this.#refocus();
    this.#bring({ moving });
  }

  /** Draws everything for the camera as it is. */
  #settle() {
    this.#refocus();
    this.#bring({ moving: false });
    this.#paintCanvas({ atOnce: true });
  }

  /** Has the browser draw what is there, no more, as large as the camera shows it. */
  #refocus() {
    const { x, y, k } = this.camera;
    this.layer.settle(this.camera);
    this.world.style.transform = `translate(${x}px, ${y}px) scale(${k})`;
    if (this.onCanvas) this.wireCanvas.place(this.layer.drawn);
  }

  /** The camera rests: the cards are drawn as from where it is, frame by frame, and the wires in all their detail. */
  #rest(moved) {
    if (moved !== this.moved) return;
    this.#refocus();
    this.#bring({ moving: true, resting: true });
    this.#paintCanvas();
  }

  /** Brings what is in sight and not there yet. */
  #bring({ moving, resting = false }) {
    cancelAnimationFrame(this.bringing);
    if (!this.cards.look(this.camera, { moving, anew: !moving || resting })) {
      this.bringing = requestAnimationFrame(() => this.#bring({ moving: true, resting }));
    }
    const { drawn } = this.layer;
    if (!this.onCanvas || this.wireCanvas.covers(drawn, this.layer.sight(this.camera))) return;
    this.#paintCanvas({ haste: moving });
  }

  /** Lights columns and links (`light`: {columns, links} with strengths, or null for none), marks pins and the choice. */
  paint({ light = this.light, pins = this.pins, chosen = this.chosen, found = this.found, current = this.current } = {}) {
    Object.assign(this, { light, pins, chosen, found, current });
    this.surface.classList.toggle("lit", Boolean(light));
    this.cards.elements.forEach((element) => this.#paintCard(element));
    if (this.onCanvas) this.#paintCanvas();
    else this.wireElements.forEach((element, at) => this.#paintWire(element, at));
  }

  #strengthOf(wire) {
    if (!this.light) return null;
    const found = wire.links.map((link) => this.light.links.get(link.key)).filter((one) => one !== undefined);
    return found.length ? Math.min(...found) : null;
  }

  #isChosen(wire) {
    return this.chosen !== null && wire.links.some((link) => link.key === this.chosen);
  }

  #paintWire(element, at) {
    const wire = this.scene.wires[at];
    const strength = this.#strengthOf(wire);
    element.classList.toggle("on", strength !== null);
    element.classList.toggle("chosen", this.#isChosen(wire));
    if (strength !== null) this.wireLayer.append(element);
  }

  #paintCard(element) {
    const columns = this.light?.columns;
    const id = element.getAttribute("data-card");
    let any = columns?.has(element.getAttribute("data-head")) ?? false;
    for (const column of element.querySelectorAll(".column")) {
      const key = column.getAttribute("data-key");
      const strength = columns?.get(key);
      any ||= strength !== undefined;
      column.classList.toggle("direct", strength === 0);
      column.classList.toggle("indirect", strength !== undefined && strength > 0);
      column.classList.toggle("pinned", this.pins.has(key));
      column.classList.toggle("found", this.found.has(key));
      column.classList.toggle("current", this.current === key);
      column.setAttribute("aria-pressed", String(this.pins.has(key)));
    }
    element.classList.toggle("found", this.found.has(keyOf(id, "")));
    element.classList.toggle("current", this.current === keyOf(id, ""));
    const box = this.scene.boxes[this.scene.number.get(id)];
    const far = this.cards.distanceOf(id) > NEAR;
    if (far) any = this.#paintBars(element, box) || any;
    if (columns && !any && (far || box.mode === "none"))
      any = [...columns.keys()].some((key) => splitKey(key)[0] === id);
    element.classList.toggle("on", any);
  }

  /** From afar a lit column is a bar: its name could not be read. */
  #paintBars(element, box) {
    element.querySelectorAll(".bar").forEach((bar) => bar.remove());
    if (!this.light) return false;
    let any = false;
    for (const [path, y] of box.port) {
      const strength = this.light.columns.get(keyOf(box.id, path));
      if (strength === undefined) continue;
      any = true;
      const kind = strength === 0 ? "direct" : "indirect";
      element.insertBefore(
        svg("rect", { class: `bar ${kind}`, x: 1, y: y - ROW / 2, width: box.width - 2, height: ROW }),
        element.children[2],
      );
    }
    return any;
  }

  #paintCanvas(how = {}) {
    if (!this.onCanvas) return;
    this.colours ??= coloursOf(this.surface);
    const paint = (wire) => {
      const on = this.#strengthOf(wire) !== null || this.#isChosen(wire);
      const faint = this.scene.compared && !wire.change;
      const opacity = on ? 1 : this.light ? 0.1 : faint ? 0.2 : wire.certain && !wire.unseen ? 0.6 : 0.35;
      return { colour: this.colours[wire.change ?? wire.kind], width: Math.max(on ? 2.4 : 1.4, 0.6 / this.layer.drawn.k), opacity };
    };
    this.wireCanvas.draw(this.layer.drawn, this.layer.sight(this.camera), paint, how);
  }

  /** The states of cards came: those that are there are marked. */
  markStates() {
    for (const [id, element] of this.cards.elements) if (this.cards.distanceOf(id) === NEAR) markStates(element, this.boxOf(id));
  }

  /** The page took other colours. */
  recolour() {
    this.colours = null;
    this.#paintCanvas();
  }

  /** The wire under a point of the screen, or null. */
  wireAt(clientX, clientY) {
    if (!this.scene || !this.camera) return null;
    const at = this.index.at(...this.camera.toPicture(clientX, clientY), Math.max(4, 7 / this.camera.k));
    return at === null ? null : this.scene.wires[at];
  }

  boxOf(id) {
    return this.scene?.boxes[this.scene.number.get(id)] ?? null;
  }

  /** The element of a column or (empty path) of a card, made if the camera has not brought it. */
  elementOf(key) {
    const [id, path] = splitKey(key);
    const box = this.boxOf(id);
    if (!box) return null;
    const card = this.cards.elements.get(box.id) ?? this.cards.enter(box);
    return path
      ? [...card.querySelectorAll(".column")].find((column) => column.getAttribute("data-key") === key)
      : card;
  }
}

function coloursOf(element) {
  const style = getComputedStyle(element);
  const kinds = ["direct", "indirect", "both", "table", "added", "removed", "changed"];
  return Object.fromEntries(kinds.map((kind) => [kind, style.getPropertyValue(`--${kind}`).trim()]));
}
