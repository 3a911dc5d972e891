// What the page shows, in words: its title, its first heading, and a link that says it.
import { byId } from "../base/dom.mjs";
import { cardNamed, readable } from "../graph/model.mjs";
import { areaTitle } from "./overview.mjs";

const USUAL = document.title;

/** The name of what a view shows: the column or table that it began with; "" where it shows no one table. */
export function subjectOf(view, graph, whole) {
  if (view.area) return areaTitle(view.area);
  if (view.query && !view.steps.length) return view.query;
  if (!view.steps.length || whole) return "";
  const [{ entity }] = view.steps;
  const name = cardNamed(graph, entity)?.name ?? readable(entity);
  const pin = view.pins.find((one) => one.entity === entity && one.path);
  return pin ? `${name}.${readable(pin.path)}` : name;
}

/** Puts the subject, and the moment where it is not the present, into the title and the heading. */
export function showHeading(subject, moment = "") {
  document.title = [subject, moment, USUAL].filter(Boolean).join(" · ");
  byId("title").textContent = [subject ? `Lineage of ${subject}` : USUAL, moment].filter(Boolean).join(", ");
  byId("title").hidden = !byId("start").hidden;
}

/** The page's address with what it shows, as text to pass on. */
export function linkText() {
  return `${document.title}\n${location.href}`;
}
