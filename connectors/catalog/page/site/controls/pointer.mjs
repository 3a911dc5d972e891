// What the pointer does to the picture, and what the buttons around it do.
import { byId, copy } from "../base/dom.mjs";
import { keyOf } from "../graph/model.mjs";
import { linkText } from "./heading.mjs";
import { openOverview } from "./overview.mjs";
import { saveGraph, saveImage, saveLinks, savePicture } from "./saving.mjs";

/** Hovering, clicking and double clicking on the picture. */
export function pointer(explorer) {
  const { surface, camera } = explorer;
  surface.addEventListener("pointermove", (event) => !event.buttons && hover(explorer, event));
  surface.addEventListener("pointerleave", () => explorer.hoverOver([]));
  surface.addEventListener("click", (event) => camera.dragged || clicked(explorer, event));
  surface.addEventListener(
    "dblclick",
    (event) => event.target.closest(".card") || camera.zoom(1.5, event.clientX, event.clientY),
  );
  surface.addEventListener("focusin", (event) => focused(explorer, event.target));
  surface.addEventListener("focus", () => {
    const [first] = explorer.scene?.boxes ?? [];
    if (!explorer.focused && first) explorer.focus(keyOf(first.id, ""));
  });
}

/** The focus lights what the pointer would. */
function focused(explorer, element) {
  const column = element.closest(".column");
  const card = element.closest(".card");
  if (!card) return;
  explorer.focused = (column ?? card).getAttribute(column ? "data-key" : "data-head");
  explorer.hoverOver(column ? [explorer.focused] : []);
}

function hover(explorer, event) {
  const column = event.target.closest(".column");
  const card = event.target.closest(".card");
  const wire = card ? null : explorer.picture.wireAt(event.clientX, event.clientY);
  explorer.surface.classList.toggle("over-wire", Boolean(wire));
  explorer.hoverOver(column ? [column.getAttribute("data-key")] : (wire?.ends ?? []));
}

function clicked(explorer, event) {
  const at = (selector) => event.target.closest(selector);
  const cardOf = (element, attribute) => explorer.graph.cards.get(element.getAttribute(attribute));
  const [expand, fold, more] = [at("[data-expand]"), at("[data-fold]"), at("[data-more]")];
  const group = at(".card")?.getAttribute("data-card");
  if (explorer.scene?.groups.has(group)) return explorer.pick(keyOf(group, ""));
  if (expand)
    return explorer.expand(cardOf(expand, "data-of"), expand.getAttribute("data-expand"), event.shiftKey ? 100 : 1);
  if (fold) return foldOrUnfold(explorer, cardOf(fold, "data-fold"));
  if (more) return showMore(explorer, cardOf(more, "data-more"));
  if (at(".column")) return explorer.pick(at(".column").getAttribute("data-key"));
  if (at(".card")) return explorer.pick(at(".card").getAttribute("data-head"));
  const wire = explorer.picture.wireAt(event.clientX, event.clientY);
  return wire ? explorer.openEdge(wire.links) : explorer.closePanel();
}

function foldOrUnfold(explorer, card) {
  const { columns } = explorer.view;
  const folded = explorer.picture.boxOf(card.id).mode === "none";
  return explorer.mode(card, !folded ? "none" : ["none", "fit"].includes(columns) ? "involved" : columns);
}

function showMore(explorer, card) {
  return card.tables === null ? explorer.mode(card, "full") : explorer.pick(keyOf(card.id, ""));
}

/** The buttons of the page. */
export function buttons(explorer) {
  const { camera } = explorer;
  const acts = {
    "zoom-in": () => camera.zoom(1.25),
    "zoom-out": () => camera.zoom(0.8),
    "zoom-fit": () => explorer.fit(),
    "zoom-area": () => openOverview(explorer),
    "find-toggle": () => explorer.finder.open(),
    "list-toggle": () => explorer.toggleList(),
    "close-panel": () => explorer.closePanel(),
    "save-svg": () => savePicture(explorer),
    "save-png": () => saveImage(explorer),
    print: () => print(),
    "copy-link": async () => {
      await copy(linkText());
      explorer.say("The link is on the clipboard");
    },
    "save-json": () => saveGraph(explorer),
    "save-csv": () => saveLinks(explorer),
    "clear-pins": () => explorer.unpin(),
    "filters-disagreements": () => {
      byId("filters").open = false;
      explorer.details.openDisagreements();
    },
    "help-toggle": help,
  };
  for (const [id, act] of Object.entries(acts)) byId(id).addEventListener("click", act);
  byId("home").addEventListener("click", (event) => {
    event.preventDefault();
    explorer.home();
  });
  addEventListener("pointerdown", (event) => {
    for (const menu of document.querySelectorAll("details[open]")) if (!menu.contains(event.target)) menu.open = false;
  });
  addEventListener("resize", () => explorer.resized());
  addEventListener("beforeprint", () => explorer.fit());
}

/** Opens or closes the page of keys and signs. */
export function help() {
  const dialog = byId("help");
  if (dialog.open) dialog.close();
  else dialog.showModal();
}
