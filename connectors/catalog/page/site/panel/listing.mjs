// The same lineage as text: one table of links, for screen readers, for sorting, for copying.
import { byId, html } from "../base/dom.mjs";
import { GLYPHS, expressionsOf } from "../graph/difference.mjs";
import { keyOf, kindOf, label, visible } from "../graph/model.mjs";
import { useText } from "./labels.mjs";

const KINDS = { direct: "direct", indirect: "indirect", both: "direct and indirect", table: "tables only" };
const MOST = 2000;

/** One row for each link: from, to, how, by whom, how sure. */
export function linkRows(graph, links) {
  return links
    .map((link) => ({
      link,
      from: label(graph, link.from) + (link.fromPath ? "" : " (every row)"),
      to: label(graph, link.to) + (link.toPath ? "" : " (every row)"),
      kind: KINDS[kindOf(link)],
      how: [...new Set(link.said.map((said) => said.column?.subtype).filter(Boolean))]
        .join(", ")
        .toLowerCase()
        .replaceAll("_", " "),
      by: [...new Set(link.said.map((said) => said.contribution.producer.kind))].join(", "),
      confidence: Math.max(...link.said.map((said) => said.contribution.confidence ?? 1)),
    }))
    .sort((a, b) => a.to.localeCompare(b.to) || a.from.localeCompare(b.from));
}

/** Shows or hides the list view; choosing a row opens its edge beside it. */
export function showList(explorer) {
  const { list } = explorer.view;
  byId("list-toggle").setAttribute("aria-pressed", String(list));
  byId("list").hidden = !list;
  byId("stage").classList.toggle("listed", list);
  if (list) byId("list").replaceChildren(...listElements(explorer).filter(Boolean));
}

function listElements(explorer) {
  const { graph, links } = explorer;
  const rows = linkRows(graph, links);
  const heads = [...(graph.before ? ["Change"] : []), "To", "From", "Kind", "How", "Known from", "Confidence"];
  const head = heads.map((text) => html("th", { scope: "col", role: "columnheader", class: text === "Confidence" ? "number" : null }, text));
  const body = rows
    .slice(0, MOST)
    .map((row) =>
      html(
        "tr",
        { role: "row" },
        graph.before ? html("td", { role: "cell", "data-label": "Change" }, html("div", {}, changeElements(row.link))) : null,
        html(
          "th",
          { scope: "row", role: "rowheader", "data-label": "To" },
          html("button", { type: "button", onclick: () => explorer.openEdge([row.link]) }, row.to),
        ),
        html("td", { role: "cell", "data-label": "From" }, row.from),
        html("td", { role: "cell", "data-label": "Kind" }, html("div", {}, html("span", { class: `sample ${kindOf(row.link)}`, "aria-hidden": "true" }), ` ${row.kind}`)),
        html("td", { role: "cell", "data-label": "How" }, row.how),
        html("td", { role: "cell", "data-label": "Known from" }, row.by),
        html("td", { role: "cell", class: "number", "data-label": "Confidence" }, `${Math.round(row.confidence * 100)} %`),
      ),
    );
  const tables = [...graph.cards.values()]
    .sort((a, b) => a.fqn.localeCompare(b.fqn))
    .map((card) =>
      html(
        "li",
        {},
        html("button", { type: "button", onclick: () => explorer.openColumn(keyOf(card.id, "")) }, card.title),
        ` ${card.kind}, ${card.columns.length} columns; not shown: ${card.hidden.upstream} upstream, ${card.hidden.downstream} downstream${useText(card.metric)}`,
      ),
    );
  return [
    html("h2", {}, `${rows.length} links between ${graph.cards.size} tables`),
    html(
      "p",
      {},
      html("button", { type: "button", id: "list-csv", onclick: () => byId("save-csv").click() }, "Save as CSV"),
    ),
    html(
      "table",
      { class: "rows links", role: "table" }, // on a phone its rows are blocks, which would not be a table any more
      html("caption", {}, "Column lineage in the picture"),
      html("thead", { role: "rowgroup" }, html("tr", { role: "row" }, head)),
      html("tbody", { role: "rowgroup" }, body),
    ),
    rows.length > MOST ? html("p", { class: "note" }, `and ${rows.length - MOST} more: the CSV has them all`) : null,
    html("h2", {}, "Tables"),
    html("ul", { class: "tables" }, tables),
  ];
}

function changeElements({ change, said, then }) {
  if (!change) return [];
  const [was, is] = [expressionsOf(then ?? []).join("; "), expressionsOf(said).join("; ")];
  const text = change === "changed" && was !== is ? html("code", { class: "expression" }, visible(`${was || "as it is"} → ${is || "as it is"}`)) : null;
  return [html("span", { class: `glyph ${change}`, "aria-hidden": "true" }, GLYPHS[change]), ` ${change}`, text];
}

/** Comma-separated values (RFC 4180); a cell that a spreadsheet would take for a formula is made text. */
export function csv(head, rows) {
  const cell = (value) => {
    const text = /^[=+\-@\t\r]/.test(String(value)) ? `'${value}` : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [head, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

/** Shows the list, which then has the focus, or takes it away. */
export function toggleList(explorer) {
  explorer.view.list = !explorer.view.list;
  explorer.draw();
  if (explorer.view.list) byId("list").focus();
}
