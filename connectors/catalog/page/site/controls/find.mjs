// Finding within the picture: cards and columns by their names, those too that are folded away or out of sight.
import { byId } from "../base/dom.mjs";
import { searched } from "../graph/matching.mjs";
import { keyOf, splitKey } from "../graph/model.mjs";

const READABLE = 0.5; // scale
const OUT_OF_THE_WAY = 130; // pixels from the edge, where this bar is

export class Finder {
  constructor(explorer) {
    this.explorer = explorer;
    this.keys = [];
    this.at = -1;
    this.within = null; // the card that alone is looked through
    this.bar = byId("find");
    const input = byId("find-text");
    input.addEventListener("input", () => this.look());
    byId("find-here").addEventListener("change", () => this.look());
    byId("find-next").addEventListener("click", () => this.go(1));
    byId("find-previous").addEventListener("click", () => this.go(-1));
    byId("find-close").addEventListener("click", () => this.close());
    this.bar.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target === input) this.go(event.shiftKey ? -1 : 1);
      else if (event.key === "Escape") this.close();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  /** Opens the bar; `card` limits it to the columns of one table. */
  open(card = null) {
    const { explorer } = this;
    if (!explorer.graph.cards.size) return;
    const [focused] = explorer.focused ? splitKey(explorer.focused) : [];
    this.within = card ?? explorer.graph.cards.get(focused) ?? null;
    byId("find-here-label").hidden = !this.within;
    byId("find-here-name").textContent = this.within?.name ?? "";
    byId("find-here").checked = Boolean(card);
    this.bar.hidden = false;
    byId("find-text").focus();
    byId("find-text").select();
    this.look();
  }

  close() {
    const key = this.keys[this.at];
    this.bar.hidden = true;
    [this.keys, this.at] = [[], -1];
    this.#mark();
    if (key) this.explorer.focus(key);
    else byId("picture").focus();
  }

  /** Looks anew, as the picture may have changed; where one was at is kept if it is still found. */
  look() {
    if (this.bar.hidden) return;
    const { scene } = this.explorer;
    const current = this.keys[this.at];
    const asked = searched(byId("find-text").value);
    const here = byId("find-here").checked && this.within ? this.within.id : null;
    const fits = (name) => {
      const known = searched(name);
      const begins = (word) => known.words.some((one) => one.startsWith(word));
      return known.plain.includes(asked.plain) || asked.words.every(begins);
    };
    const boxes = [...scene.boxes].sort((a, b) => a.x - b.x || a.y - b.y);
    this.keys = !asked.plain
      ? []
      : boxes
          .filter((box) => !here || box.id === here)
          .flatMap(({ id, card }) => [
            ...(!here && fits(card.name) ? [keyOf(id, "")] : []),
            ...card.columns.filter((column) => fits(column.name)).map((column) => keyOf(id, column.path)),
          ]);
    this.at = current === undefined ? -1 : this.keys.indexOf(current);
    this.#mark();
    this.#count();
  }

  /** Goes to the next (1) or the one before (-1). */
  go(by) {
    if (!this.keys.length) return;
    this.at = (this.at + by + this.keys.length + (this.at < 0 && by < 0 ? 1 : 0)) % this.keys.length;
    const { explorer } = this;
    const key = this.keys[this.at];
    const [id, path] = splitKey(key);
    const box = explorer.picture.boxOf(id);
    if (path && !box.port.has(path)) explorer.mode(box.card, "full");
    if (explorer.camera.k < READABLE) explorer.camera.begin(explorer.scene, explorer.picture.boxOf(id));
    explorer.reveal(key, OUT_OF_THE_WAY);
    this.#mark();
    this.#count();
  }

  #mark() {
    this.explorer.picture.paint({ found: new Set(this.keys), current: this.keys[this.at] ?? null });
  }

  #count() {
    const [id, path] = this.at < 0 ? [] : splitKey(this.keys[this.at]);
    const name = id ? `, ${this.explorer.graph.cards.get(id).name}${path ? `.${path}` : ""}` : "";
    byId("find-count").textContent = !byId("find-text").value
      ? ""
      : this.keys.length
        ? `${this.at < 0 ? "" : `${this.at + 1} of `}${this.keys.length}${name}`
        : "none";
  }
}
