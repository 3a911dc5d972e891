// The panel at the side: what is said of an edge and by whom; what a column comes from and what it reaches.
import { breakable, html, many, when } from "../base/dom.mjs";
import { KIND_NAMES, knownFrom } from "../base/words.mjs";
import { GLYPHS, expressionsOf } from "../graph/difference.mjs";
import { kindOf, partsOf, readable, splitKey, unquoted, unseenText, visible } from "../graph/model.mjs";
import { columnList } from "../lists/columns.mjs";
import { stateFacts } from "../lists/states.mjs";
import { verdictButtons } from "./corrections.mjs";
import { metricRows, tagRows } from "./labels.mjs";
import { sqlElement } from "./sql.mjs";
import { witnessPills } from "./witnesses.mjs";

const SUBTYPES = {
  IDENTITY: "taken as it is",
  TRANSFORMATION: "transformed",
  AGGREGATION: "aggregated",
  JOIN: "join condition",
  GROUP_BY: "grouping",
  FILTER: "filter",
  SORT: "sort order",
  WINDOW: "window",
  CONDITIONAL: "condition",
};

function pill(kind) {
  return html("span", { class: `pill ${kind}` }, html("span", { class: `sample ${kind}` }), KIND_NAMES[kind]);
}

function facts(rows) {
  const list = html("dl", { class: "facts" });
  for (const [name, value] of rows)
    if (value !== null && value !== undefined && value !== "") list.append(html("dt", {}, name), html("dd", {}, value));
  return list;
}

function nameOf(graph, key) {
  const [id, path] = splitKey(key);
  const card = graph.cards.get(id);
  return html(
    "span",
    { class: "fqn" },
    html("span", { class: "of" }, breakable(`${card?.title ?? id}${path ? "." : ""}`)),
    html("b", {}, path ? breakable(readable(path)) : " (every row)"),
  );
}

/** Everything that is said of the links of a wire. */
export function edgePanel(graph, links, act) {
  const parts = [html("h2", {}, links.length > 1 ? `${links.length} column links` : "Link")];
  for (const link of links.slice(0, 40)) {
    parts.push(
      html(
        "section",
        { class: "link" },
        html(
          "div",
          { class: "ends" },
          nameOf(graph, link.from),
          html("span", { class: "arrow", role: "img", "aria-label": "to" }, "→"),
          nameOf(graph, link.to),
        ),
        html(
          "p",
          { class: "pills" },
          pill(kindOf(link)),
          ...witnessPills(link),
          link.certain ? null : html("span", { class: "pill unsure" }, "not certain"),
          link.folded ? html("span", { class: "pill folded" }, "◆ through temporary tables") : null,
          link.unseen ? html("span", { class: "pill unsure" }, unseenText(link.unseen)) : null,
          link.change ? html("span", { class: `pill ${link.change}` }, `${GLYPHS[link.change]} ${link.change}`) : null,
        ),
        link.change === "changed" ? facts([["Was", expressionTexts(expressionsOf(link.then))]]) : null,
        act.live ? verdictButtons(graph, link, act) : null,
        ...grouped(link).map((said) => contribution(said, link)),
      ),
    );
  }
  if (links.length > 40)
    parts.push(html("p", { class: "note" }, `and ${links.length - 40} more; the list view has them all`));
  return parts;
}

/** What one producer says of a link, together: one expression and several ways to take part. */
function grouped(link) {
  const found = new Map();
  for (const { contribution: one, column } of link.said) {
    if (!found.has(one)) found.set(one, []);
    if (column) found.get(one).push(column);
  }
  return [...found].map(([one, columns]) => ({ contribution: one, columns }));
}

function contribution({ contribution: one, columns }, link) {
  const expressions = [...new Set(columns.map((column) => column.expression).filter(Boolean))];
  const ways = [
    ...new Set(
      columns.map(
        (column) =>
          `${column.type === "INDIRECT" ? "indirect" : "direct"}: ${SUBTYPES[column.subtype] ?? column.subtype ?? "not said"}${column.masking ? ", masking" : ""}${column.certain === false ? " (one of several candidates)" : ""}`,
      ),
    ),
  ];
  const [from, to] = [link.fromPath, link.toPath].map((path) => readable(unquoted(partsOf(path).pop() ?? "")));
  return html(
    "article",
    { class: "said" },
    html(
      "h3",
      {},
      html("span", { class: "producer" }, knownFrom(one.producer.kind)),
      html("code", { class: "key", title: one.producer.key }, visible(one.producer.key)),
    ),
    facts([
      [
        "Transformation",
        ways.length ? ways.map((way) => html("span", { class: "way" }, way)) : "the tables only: no columns are known",
      ],
      [
        "Expression",
        expressions.length
          ? expressions.map((text) => html("code", { class: "expression", tabindex: 0 }, breakable(visible(text))))
          : null,
      ],
      ["Run by", one.jobs?.length ? one.jobs.map((job) => html("span", { class: "way" }, breakable(job))) : null],
      ["Parser", one.parser],
      ["Confidence", one.confidence === undefined || one.confidence === null ? null : confidence(one.confidence)],
      ["First seen", one.firstSeen ? when(one.firstSeen) : null],
      ["Last seen", one.lastSeen ? when(one.lastSeen) : null],
      ["Seen in the log", one.count ? many(one.count, "time") : null],
      ["Source", one.source],
      ["Author", one.author && visible(one.author)],
      ["Description", one.description && visible(one.description, { lines: true })],
      [
        "Through",
        one.tempLineageTables?.length
          ? html(
              "ol",
              { class: "hops" },
              one.tempLineageTables.map((hop) => html("li", {}, readable(`${hop.fromEntity} → ${hop.toEntity}`))),
            )
          : null,
      ],
    ]),
    one.sqlQuery
      ? sqlElement(one.sqlQuery, expressions[0] ?? "", { from, to })
      : html("p", { class: "note" }, "No SQL was given."),
  );
}

function expressionTexts(texts) {
  const shown = texts.length ? texts : ["as it is"];
  return shown.map((text) => html("code", { class: "expression", tabindex: 0 }, breakable(visible(text))));
}

function confidence(value) {
  const meter = html("meter", { "aria-label": "Confidence", min: 0, max: 1, low: 0.5, high: 0.79, optimum: 1, value });
  return html("span", { class: "confidence" }, meter, ` ${Math.round(value * 100)} %`);
}

/** A column or a table: its place, and the list of what changes when it changes. */
export function columnPanel(graph, key, act) {
  const [id, path] = splitKey(key);
  const card = graph.cards.get(id);
  const column = card.columns.find((one) => one.path === path);
  const button = (text, title, run) => html("button", { type: "button", title, onclick: run }, text);
  return [
    html("h2", {}, breakable(path ? readable(path) : card.name)),
    html("p", { class: "fqn" }, breakable(card.title + (path ? `.${readable(path)}` : ""))),
    facts([
      ["Type", path ? column?.type : card.kind],
      ["Description", visible(column?.description || (path ? "" : card.description), { lines: true })],
      ["Owner", path ? null : visible(card.owners.join(", "))],
      ["Tags", tagRows(path ? column : card)],
      ...(path ? [] : metricRows(card.metric, act)),
      ["Tests", testRows(card.tests, path)],
      ["Address", path ? null : visible(card.url ?? "")],
      ["Columns", path ? null : card.columns.length],
      ["Queries that read it", path ? null : card.readsMore ? `more than ${card.reads}` : card.reads || null],
    ]),
    path ? null : html("dl", { class: "facts", id: "state-facts" }, stateFacts(card)),
    html(
      "div",
      { class: "actions" },
      button("← What it reads", "Show what it is made of, one step upstream ([)", () => act.expand(card, "upstream", 1)),
      button("← Everything before", "Show everything upstream (Shift+[)", () => act.expand(card, "upstream", 100)),
      button("What reads it →", "Show what is made of it, one step downstream (])", () => act.expand(card, "downstream", 1)),
      button("Everything after →", "Show everything downstream (Shift+])", () => act.expand(card, "downstream", 100)),
      button("Path to …", "Choose another table or column: how does one get there from here?", () => act.details.pathFrom(key)),
      button("Start here", "Show only this table's neighbours", () => act.start(card.fqn, path)),
      button("Remove", "Take the card out of the picture (Delete)", () => act.remove(card)),
      act.live ? button("Why is it wrong?", "Rank what upstream may have made it wrong", () => act.details.causes(card, path)) : null,
      act.live ? button("Add a source …", "Say by hand what this is made of", () => act.correct("added", null, key)) : null,
    ),
    path
      ? html("section", { class: "origin", id: "chain", "aria-live": "polite" }, html("p", { class: "note" }, "Looking upstream …"))
      : null,
    path ? null : columnList(card, (one) => act.details.showColumn(card, one)),
    html("div", { id: "corrections-place" }),
    html(
      "section",
      { class: "impact", id: "impact", "aria-live": "polite" },
      html("p", { class: "note" }, "Looking downstream …"),
    ),
  ];
}

const STATUSES = { Success: "passed", Failed: "failed", Aborted: "could not run", Queued: "waits" };

/** The tests of a table, or of one of its columns, each with its last result. */
function testRows(tests, path) {
  const shown = path ? tests.filter((test) => (test.column ?? "").toLowerCase() === path.toLowerCase()) : tests;
  if (!shown.length) return null;
  return shown.map((test) => {
    const name = test.column && !path ? `${test.name} of ${readable(test.column)}` : test.name;
    const rows = test.failedRows ? `, ${test.failedRows} rows` : "";
    const said = test.status ? `${STATUSES[test.status] ?? test.status}${rows} (${when(test.at)})` : "no result yet";
    return html("span", { class: `test ${(test.status ?? "none").toLowerCase()}` }, `${visible(name)}: ${said}`);
  });
}
