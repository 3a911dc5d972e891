// What changed between two moments, as a list: what it was, what it is, and what it reaches or breaks.
import { breakable, html } from "../base/dom.mjs";
import { GLYPHS } from "../graph/difference.mjs";
import { readable, visible } from "../graph/model.mjs";

const MOST = 500;

/** The list in the panel; `act` goes to a place and saves the list. */
export function changesPanel(title, rows, act) {
  const breaking = rows.filter((row) => row.breaks.length).length;
  return [
    html("h2", {}, "What changed"),
    html("p", { class: "fqn" }, title),
    html(
      "p",
      {},
      rows.length ? `${rows.length} change${rows.length === 1 ? "" : "s"}, ${breaking} breaking something downstream. ` : "Nothing changed.",
      rows.length ? html("button", { type: "button", id: "changes-csv", onclick: act.csv }, "Save as CSV") : null,
    ),
    html("ul", { class: "changes", id: "changes" }, rows.slice(0, MOST).map((row) => changeElement(row, act))),
    rows.length > MOST ? html("p", { class: "note" }, `and ${rows.length - MOST} more: the CSV has them all`) : null,
  ];
}

function changeElement(row, act) {
  const glyph = html("span", { class: `glyph ${row.change}`, role: "img", "aria-label": row.change }, GLYPHS[row.change]);
  const sides = row.change === "changed" ? `${row.before || "as it is"}\n→ ${row.after || "as it is"}` : row.before || row.after;
  const texts = row.before || row.after ? html("code", { class: "expression", tabindex: 0 }, visible(sides, { lines: true })) : null;
  return html(
    "li",
    { class: row.breaks.length ? "breaks" : null },
    glyph,
    html(
      "div",
      {},
      html("span", { class: "of" }, `${row.what} ${row.change}`),
      row.entity
        ? html("button", { type: "button", class: "go", onclick: () => act.go(row.entity, row.path) }, breakable(readable(row.name)))
        : html("div", {}, breakable(readable(row.name))),
      texts,
      reachesElement(row),
    ),
  );
}

function reachesElement({ breaks, reaches, count }) {
  if (!count && !breaks.length) return null;
  const told = breaks.length ? breaks : reaches;
  const word = breaks.length ? "Breaks" : "Reaches";
  const more = !breaks.length && count > told.length ? ` and ${count - told.length} more` : "";
  return html(
    "details",
    { class: "statement" },
    html("summary", {}, `${word} ${breaks.length ? breaks.length : count}`),
    html("p", { class: "way" }, breakable(readable(told.join(", ") + more))),
  );
}

export const CHANGES_HEAD = ["change", "what", "name", "before", "after", "reaches", "breaks"];

export function changeCells(rows) {
  return rows.map((row) => [row.change, row.what, row.name, row.before, row.after, row.count, row.breaks.join(" ")]);
}
