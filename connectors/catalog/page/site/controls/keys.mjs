// The keyboard: every move of the pointer has a key.
import { keyOf, splitKey } from "../graph/model.mjs";
import { openOverview } from "./overview.mjs";
import { help } from "./pointer.mjs";

/** Keys on the picture; `explorer` is what they act on. */
export function keys(explorer, input) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest?.("dialog") && event.key !== "?") return; // Escape closes it, and nothing behind it
    if (isTypedIn(event.target) && event.key !== "Escape") return;
    const act = ANYWHERE[event.key] ?? (event.target.closest?.("#picture") ? ON_PICTURE[event.key] : null);
    if (!act) return;
    event.preventDefault();
    act(explorer, event, input);
  });
}

/** Whether letters are for an element: they are for no slider, and for no box that is ticked. */
function isTypedIn(element) {
  return /^(SELECT|TEXTAREA)$/.test(element.tagName) || (element.tagName === "INPUT" && !/^(range|checkbox|radio)$/.test(element.type));
}

const ANYWHERE = {
  "/": (_, __, input) => input.focus(),
  "?": help,
  f: (explorer) => explorer.fit(),
  F: (explorer) => explorer.finder.open(),
  l: (explorer) => explorer.toggleList(),
  o: (explorer) => openOverview(explorer),
  t: (explorer) => explorer.time.toggle(),
  "+": (explorer) => explorer.camera.zoom(1.25),
  "=": (explorer) => explorer.camera.zoom(1.25),
  "-": (explorer) => explorer.camera.zoom(0.8),
  Escape: escape,
};

const ON_PICTURE = {
  ArrowUp: (explorer) => step(explorer, -1),
  ArrowDown: (explorer) => step(explorer, 1),
  ArrowLeft: (explorer) => follow(explorer, true),
  ArrowRight: (explorer) => follow(explorer, false),
  Enter: (explorer) => explorer.focused && explorer.pick(explorer.focused),
  " ": (explorer) => explorer.focused && explorer.pick(explorer.focused),
  "[": (explorer) => expand(explorer, "upstream", 1),
  "]": (explorer) => expand(explorer, "downstream", 1),
  "{": (explorer) => expand(explorer, "upstream", 100),
  "}": (explorer) => expand(explorer, "downstream", 100),
  Delete: (explorer) => explorer.focused && explorer.remove(explorer.graph.cards.get(splitKey(explorer.focused)[0])),
};

/** Takes back what was done last: the panel, then the pins, then an open menu. */
function escape(explorer) {
  if (explorer.details.open) explorer.closePanel();
  else if (explorer.pins.size) explorer.unpin();
  else for (const menu of document.querySelectorAll("details[open]")) menu.open = false;
}

/** Takes in neighbours; the focus stays where it was, in a picture that is drawn anew. */
async function expand(explorer, side, hops) {
  const { focused } = explorer;
  if (!focused) return;
  const drawn = await explorer.expand(explorer.graph.cards.get(splitKey(focused)[0]), side, hops);
  if (drawn) explorer.focus(focused);
}

/** Up and down through a card's columns; over its edge to the next card of the same layer. */
function step(explorer, by) {
  const scene = explorer.scene;
  if (!scene?.boxes.length) return;
  if (!explorer.focused) return explorer.focus(keyOf(scene.boxes[0].id, ""));
  const [id, path] = splitKey(explorer.focused);
  const box = explorer.picture.boxOf(id);
  const stops = ["", ...box.rows.map((row) => row.path)];
  const at = stops.indexOf(path) + by;
  if (at >= 0 && at < stops.length) return explorer.focus(keyOf(id, stops[at]));
  const column = scene.boxes.filter((other) => Math.abs(other.x - box.x) < 1).sort((a, b) => a.y - b.y);
  const next = column[column.indexOf(box) + by];
  if (!next) return;
  const last = next.rows[next.rows.length - 1];
  explorer.focus(keyOf(next.id, by < 0 && last ? last.path : ""));
}

/** Left and right along the links of the column that has the focus. */
function follow(explorer, upstream) {
  if (!explorer.focused) return step(explorer, 1);
  const { scene, picture } = explorer;
  const [id, path] = splitKey(explorer.focused);
  const at = scene.number.get(id);
  const own = (wire) => (upstream ? wire.to : wire.from) === at && wire.from !== wire.to;
  const here = scene.wires.filter(own);
  const exact = here.filter((wire) => wire.ends[upstream ? 1 : 0] === explorer.focused);
  const chosen = (exact.length ? exact : path ? [] : here).sort((a, b) => rank(a) - rank(b))[0];
  if (chosen) explorer.focus(chosen.ends[upstream ? 0 : 1]);
  else picture.elementOf(explorer.focused)?.focus();
}

function rank(wire) {
  return ["direct", "both", "indirect", "table"].indexOf(wire.kind);
}
