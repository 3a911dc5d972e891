// The cards in sight as elements: they come and go with the camera, on the move only as many as a frame has time for.
import { svg } from "../base/dom.mjs";
import { FAR, NEAR, TINY, cardElement } from "./cards.mjs";

const FAR_BELOW = 0.42; // scales
const TINY_BELOW = 0.12;
const MARGIN = 300; // pixels
const TIME = 4; // milliseconds of a frame

export class CardLayer {
  /** `entered` is told of each element that comes. */
  constructor(entered) {
    this.element = svg("g", { class: "cards" });
    this.entered = entered;
    this.boxes = [];
    this.elements = new Map();
    this.distances = new Map();
    this.held = null; // the part of the picture whose cards are all there
  }

  show(boxes, roots) {
    this.boxes = boxes;
    this.roots = roots;
    this.elements.clear();
    this.distances.clear();
    this.element.replaceChildren();
    this.held = null;
  }

  /**
   * Follows the camera and says whether every card in sight is there; `moving` bounds the time that it takes.
   * With `anew` those go that are out of sight, and those that are drawn as from another distance are drawn again.
   */
  look(camera, { moving, anew = true }) {
    if (moving && !anew && this.held && contains(this.held, camera.sight())) return true;
    this.distance = camera.k < TINY_BELOW ? TINY : camera.k < FAR_BELOW ? FAR : NEAR;
    const sight = camera.sight(MARGIN / camera.k);
    const focused = document.activeElement?.closest?.(".card")?.getAttribute("data-card");
    const wanted = [];
    for (const box of this.boxes) {
      const seen =
        box.x < sight.right && box.x + box.width > sight.left && box.y < sight.bottom && box.y + box.height > sight.top;
      const known = this.distances.get(box.id);
      if (seen && (anew ? known !== this.distance : known === undefined)) wanted.push(box);
      else if (!seen && anew && known !== undefined && box.id !== focused) this.#leave(box);
    }
    if (moving) nearestFirst(wanted, camera);
    const end = moving ? performance.now() + TIME : Infinity;
    const whole = wanted.every((box) => performance.now() < end && this.enter(box));
    this.held = whole ? sight : null;
    return whole;
  }

  #leave({ id }) {
    this.elements.get(id).remove();
    this.elements.delete(id);
    this.distances.delete(id);
  }

  /** Makes the element of a box, in place of the one that is drawn as from another distance. */
  enter(box) {
    const element = cardElement(box, { distance: this.distance, root: this.roots.has(box.id) });
    const known = this.elements.get(box.id);
    this.elements.set(box.id, element);
    this.distances.set(box.id, this.distance);
    this.entered(element);
    if (known) known.replaceWith(element);
    else this.element.append(element);
    return element;
  }

  distanceOf(id) {
    return this.distances.get(id);
  }
}

function contains(area, { left, top, right, bottom }) {
  return area.left <= left && area.top <= top && area.right >= right && area.bottom >= bottom;
}

function nearestFirst(boxes, camera) {
  const { left, right, top, bottom } = camera.sight();
  const [x, y] = [(left + right) / 2, (top + bottom) / 2];
  const far = (box) => Math.hypot(box.x + box.width / 2 - x, box.y + box.height / 2 - y);
  boxes.sort((a, b) => far(a) - far(b));
}
