// What changed between two moments, as a list: what it was, what it is, and what it reaches or breaks.
import { GLYPHS } from "./difference.mjs";
import { breakable, html } from "./dom.mjs";
import { readable, visible } from "./model.mjs";

const MOST = 500;
const KINDS = {
  entityAdded: ["added", "table"],
  entityDropped: ["removed", "table"],
  entityRenamed: ["changed", "table renamed"],
  columnAdded: ["added", "column"],
  columnDropped: ["removed", "column"],
  columnRetyped: ["changed", "type of column"],
  columnRenamed: ["changed", "column renamed"],
  edgeAdded: ["added", "table link"],
  edgeRemoved: ["removed", "table link"],
  columnEdgeAdded: ["added", "column link"],
  columnEdgeRemoved: ["removed", "column link"],
  columnEdgeChanged: ["changed", "expression"],
  "model added": ["added", "model"],
  "model dropped": ["removed", "model"],
  "column added": ["added", "column"],
  "column dropped": ["removed", "column"],
  "column redefined": ["changed", "expression"],
};

/** The rows of a list from a catalog's answer about two moments: {change, what, name, entity, path, …}. */
export function rowsOfAnswer({ schemaChanges, lineageChanges }) {
  const path = (column, entity) => (column ? column.slice(entity.length + 1) : "");
  const type = (value) => (value === null || value === undefined ? "" : typeof value === "string" ? value : (value.dataType ?? ""));
  const schema = schemaChanges.map((one) => {
    const entity = one.entity.fullyQualifiedName;
    const texts = { before: type(one.before), after: type(one.after) };
    return { ...rowOf(one), name: one.column ?? entity, entity, path: path(one.column, entity), ...texts };
  });
  const lineage = lineageChanges.map((one) => ({
    ...rowOf(one),
    name: `${one.fromColumn ?? one.from} → ${one.toColumn ?? one.to}`,
    entity: one.to,
    path: path(one.toColumn, one.to),
    before: (one.before ?? []).join("; "),
    after: (one.after ?? []).join("; "),
  }));
  return [...schema, ...lineage].sort((a, b) => b.breaks.length - a.breaks.length);
}

function rowOf({ kind, reaches, breaking }) {
  const names = reaches.named.map((one) => one.name);
  const [change, what] = KINDS[kind];
  return { change, what, reaches: names, count: reaches.count, breaks: breaking ? names : [] };
}

/** The same from the list that a page of two manifests carries. */
export function rowsOfList(changes) {
  return changes.map(({ kind, name, entity, path, reaches, broken }) => {
    const [change, what] = KINDS[kind];
    return { change, what, name, entity, path, before: "", after: "", reaches, count: reaches.length, breaks: broken };
  });
}

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
