// The chain behind a column as the panel shows it: each path to its bases, lit in the picture as one goes along it.
import { breakable, html, when } from "../base/dom.mjs";
import { knownFrom } from "../base/words.mjs";
import { baseColumns, chainRows, howOf, statementText } from "../graph/chain.mjs";
import { partsOf, readable, unquoted, visible } from "../graph/model.mjs";
import { sqlElement } from "./sql.mjs";

const MOST = 500;

/** `act` has along(way or null), go(entity, path), copy() and, where tables of the chain are not in the picture, bring(). */
export function originElements(explained, act) {
  const name = shortName(explained.column);
  const heading = html("h3", {}, `Where ${name} comes from`);
  const rows = chainRows(explained);
  const joined = explained.tables.length
    ? html(
        "p",
        { class: "note" },
        "Of these only the tables are known to be joined, no columns: ",
        breakable(explained.tables.map(readable).join(", ")),
      )
    : null;
  if (!rows.length) return [heading, html("p", { class: "note" }, "Nothing upstream of it is known."), joined];
  return [
    heading,
    html(
      "p",
      {},
      html("button", { type: "button", id: "chain-copy", onclick: act.copy }, "Copy as text"),
      " ",
      act.bring ? html("button", { type: "button", id: "chain-bring", onclick: act.bring }, "Show all of it") : null,
    ),
    ...basesElements(explained),
    chainList(explained, rows.slice(0, MOST), act),
    rows.length > MOST
      ? html("p", { class: "note" }, `and ${rows.length - MOST} more steps: the copied text has them all`)
      : null,
    explained.truncated ? html("p", { class: "note" }, "There is more upstream than could be read.") : null,
    joined,
  ];
}

function basesElements(explained) {
  const [direct, indirect, unseen] = baseColumns(explained);
  return [
    ["Made of", direct],
    ["Depending on", indirect],
    ["Not seen any more", unseen],
  ]
    .filter(([, names]) => names.length)
    .map(([title, names]) => html("p", { class: "bases" }, `${title} `, html("b", {}, breakable(named(names)))));
}

function named(names) {
  const some = names.slice(0, 8).map(shortName).join(", ");
  return names.length > 8 ? `${some} and ${names.length - 8} more` : some;
}

/** The last two parts of a column's name: its table and itself. */
function shortName(name) {
  return readable(partsOf(name).slice(-2).join("."));
}

/** Lists in lists, as deep as the chain goes. */
function chainList(explained, rows, act) {
  const lists = [html("ul", { class: "chain", onpointerleave: () => act.along(null) })];
  for (const row of rows) {
    lists.length = row.depth;
    const item = html("li", {}, hopElement(explained, row, act));
    lists[row.depth - 1].append(item);
    const inner = html("ul", { class: "chain" });
    item.append(inner);
    lists.push(inner);
  }
  for (const empty of lists[0].querySelectorAll("ul:empty")) empty.remove();
  return lists[0];
}

function hopElement(explained, { hop, way, again }, act) {
  const kind = hop.direct ? "direct" : "indirect";
  const light = (event) => event.pointerType !== "touch" && act.along(way);
  const place = explained.places.get(hop.source);
  return html(
    "div",
    { class: "hop", onpointermove: light, onfocusin: light, onfocusout: () => act.along(null) },
    html(
      "button",
      {
        type: "button",
        class: "go",
        title: readable(hop.source),
        onclick: () => place && act.go(place.entity, place.path),
      },
      html("span", { class: `sample ${kind}`, "aria-hidden": "true" }),
      html("span", {}, breakable(shortName(hop.source))),
    ),
    html("span", { class: "how" }, howOf(hop), again ? " (see above)" : ""),
    hop.expression ? html("code", { class: "expression" }, breakable(visible(hop.expression))) : null,
    ...hop.statements.map((number) => statement(explained, number, hop, way[0].to)),
  );
}

/** A statement behind a hop; its text is made when it is opened. */
function statement({ statements }, number, hop, target) {
  const said = statements[number - 1];
  const seen = said.lastSeen ? `, last seen ${when(said.lastSeen).slice(0, 10)}` : "";
  const what = said.text ? `Show the SQL (${knownFrom(said.producer)}${seen})` : `${knownFrom(said.producer)}${seen}`;
  const open = (event) => {
    const { currentTarget: place } = event;
    if (!place.open || place.children.length > 1) return;
    const [from, to] = [hop.source, target].map((name) => readable(unquoted(partsOf(name).pop())));
    place.append(
      said.text
        ? sqlElement(said.text, hop.expression, { from, to })
        : html("p", { class: "note" }, statementText(said)),
    );
  };
  return html("details", { class: "statement", ontoggle: open }, html("summary", {}, what));
}
