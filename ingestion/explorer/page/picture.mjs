// The picture on the screen: only the cards in sight exist, wires are paths or one canvas, light follows the pointer.
import { FAR, NEAR, TINY, cardElement } from "./cards.mjs";
import { svg } from "./dom.mjs";
import { keyOf, splitKey } from "./model.mjs";
import { ROW } from "./scene.mjs";
import { CANVAS_FROM, WireIndex, drawWires, prepareWires, wireElement } from "./wires.mjs";

const FAR_BELOW = 0.42; // scales
const TINY_BELOW = 0.12;
const MARGIN = 300;

export class Picture {
  constructor(surface, canvas) {
    this.canvas = canvas;
    this.world = svg("g", { class: "world" });
    this.wireLayer = svg("g", { class: "wires" });
    this.cardLayer = svg("g", { class: "cards" });
    this.world.append(this.wireLayer, this.cardLayer);
    surface.append(this.world);
    this.surface = surface;
    this.scene = null;
    this.elements = new Map();
    this.wireElements = [];
    this.light = null;
    this.pins = new Set();
    this.chosen = null;
    this.found = new Set();
    this.current = null;
  }

  /** Shows a scene; the light and the pins stay as they were said. */
  show(scene, roots, camera) {
    this.scene = scene;
    this.roots = new Set(roots);
    this.index = new WireIndex(scene.wires);
    this.onCanvas = scene.wires.length > CANVAS_FROM;
    if (this.onCanvas) prepareWires(scene.wires);
    this.painted = null;
    this.elements.forEach((element) => element.remove());
    this.elements.clear();
    this.wireElements = this.onCanvas ? [] : scene.wires.map(wireElement);
    this.wireLayer.replaceChildren(...this.wireElements);
    this.surface.classList.toggle("on-canvas", this.onCanvas);
    this.surface.classList.toggle("compared", scene.compared);
    this.canvas.hidden = !this.onCanvas;
    this.look(camera);
    this.paint();
  }

  /** Follows the camera: adds the cards that came into sight, removes those that left it. */
  look(camera) {
    if (!this.scene) return;
    this.camera = camera;
    this.world.setAttribute("transform", `translate(${camera.x} ${camera.y}) scale(${camera.k})`);
    const distance = camera.k < TINY_BELOW ? TINY : camera.k < FAR_BELOW ? FAR : NEAR;
    if (distance !== this.distance) {
      this.distance = distance;
      this.elements.forEach((element) => element.remove());
      this.elements.clear();
    }
    const sight = camera.sight(MARGIN / camera.k);
    const focused = document.activeElement?.closest?.(".card")?.getAttribute("data-card");
    this.scene.boxes.forEach((box) => {
      const seen =
        box.x < sight.right && box.x + box.width > sight.left && box.y < sight.bottom && box.y + box.height > sight.top;
      const element = this.elements.get(box.id);
      if (seen && !element) this.#enter(box);
      else if (!seen && element && box.id !== focused) {
        element.remove();
        this.elements.delete(box.id);
      }
    });
    if (this.onCanvas) this.#moveCanvas();
  }

  /** On the move wires are drawn fast, from afar only moved; when the camera rests, they are as they should be. */
  #moveCanvas() {
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.#paintCanvas(), 140);
    const { camera, painted } = this;
    if (this.distance === NEAR || !painted) return this.#paintCanvas({ haste: true });
    const scale = camera.k / painted.k;
    const [x, y] = [camera.x - painted.x * scale, camera.y - painted.y * scale];
    this.canvas.style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
    return undefined;
  }

  #enter(box) {
    const element = cardElement(box, { distance: this.distance, root: this.roots.has(box.id) });
    this.elements.set(box.id, element);
    this.#paintCard(element);
    this.cardLayer.append(element);
  }

  /** Lights columns and links (`light`: {columns, links} with strengths, or null for none), marks pins and the choice. */
  paint({ light = this.light, pins = this.pins, chosen = this.chosen, found = this.found, current = this.current } = {}) {
    Object.assign(this, { light, pins, chosen, found, current });
    this.surface.classList.toggle("lit", Boolean(light));
    this.elements.forEach((element) => this.#paintCard(element));
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
    if (this.distance > NEAR) any = this.#paintBars(element, box) || any;
    if (columns && !any && (this.distance > NEAR || box.mode === "none"))
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

  #paintCanvas({ haste = false } = {}) {
    if (!this.onCanvas) return;
    this.colours ??= coloursOf(this.surface);
    const paint = (wire) => {
      const on = this.#strengthOf(wire) !== null || this.#isChosen(wire);
      const faint = this.scene.compared && !wire.change;
      const opacity = on ? 1 : this.light ? 0.1 : faint ? 0.2 : wire.certain ? 0.6 : 0.35;
      return { colour: this.colours[wire.change ?? wire.kind], width: Math.max(on ? 2.4 : 1.4, 0.6 / this.camera.k), opacity };
    };
    drawWires(this.canvas, this.scene.wires, this.camera, { paint, haste });
    const { x, y, k } = this.camera;
    this.painted = { x, y, k };
    this.canvas.style.transform = "";
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
    if (!this.elements.has(id)) this.#enter(box);
    const card = this.elements.get(id);
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
