// What is said of a table, a column or a metric as such: its tags with where they come from, what a metric measures.
import { breakable, html, many, when } from "../base/dom.mjs";
import { cardNamed, keyOf, visible } from "../graph/model.mjs";
import { sqlElement } from "./sql.mjs";

/** Tags; of those that came along lineage the reason, with its path, opens by a click. */
export function tagRows(tagged) {
  if (!tagged?.tags.length) return null;
  return tagged.tags.map((tag) => {
    const reason = tagged.derived.get(tag);
    if (reason === undefined) return html("span", { class: "way" }, visible(tag));
    return html(
      "details",
      { class: "statement derived" },
      html("summary", {}, `${visible(tag)}, derived`),
      html("p", { class: "way" }, breakable(visible(reason || "It does not say from where."))),
    );
  });
}

const LIST = 12; // that are shown of many

/** Texts one under the other; of many the rest opens by a click. */
function lines(texts, line) {
  if (!texts?.length) return null;
  const rest = texts.slice(LIST);
  return [
    ...texts.slice(0, LIST).map(line),
    rest.length ? html("details", { class: "statement" }, html("summary", {}, `and ${rest.length} more`), rest.map(line)) : null,
  ];
}

const way = (text) => html("span", { class: "way" }, breakable(visible(text)));
const code = (text) => html("code", { class: "expression", tabindex: 0 }, breakable(visible(text, { lines: true })));

/** The rows of what a metric measures, and of who does so; `act` goes to the metrics that measure the same of other rows. */
export function metricRows(metric, act) {
  if (!metric) return [];
  const expression = metric.metricExpression?.code;
  const names = (list) => lines((list ?? []).map((one) => String(one.name ?? one)), way);
  return [
    ["Expression", expression ? code(expression) : null],
    ["Kind", metric.metricType],
    ["Measures", names(metric.measures)],
    ["Dimensions", names(metric.dimensions)],
    ...useRows(metric.use ?? {}, act),
  ];
}

function useRows(use, act) {
  const last = Date.parse(use.lastRun ?? "");
  const filters = lines(use.filters, code);
  return [
    ["Queries", use.runs === undefined ? null : many(use.runs, "run")],
    ["Used by", lines(use.users, way)],
    ["Last used", Number.isNaN(last) ? null : when(last)],
    ["Filters", filters && use.anyLiteral ? [...filters, html("span", { class: "how" }, "of any literal")] : filters],
    ["Variants", lines(use.variants, (variant) => variantElement(variant, act))],
    ["Differs by", use.variants ? lines(use.variant, code) : null],
    ["View", use.view ? [way(use.view.name), sqlElement(use.view.sql, "", {})] : null],
  ];
}

/** A metric that measures the same of other rows: where it is known, a click goes to it and explains it. */
function variantElement({ name, fullyQualifiedName: entity }, act) {
  if (!act.live && !act.source.byName.has(entity)) return way(name);
  const onclick = async () => {
    await act.go(entity, "");
    const card = cardNamed(act.graph, entity);
    if (card) await act.openColumn(keyOf(card.id, ""));
  };
  return html("button", { type: "button", class: "go variant", onclick }, breakable(visible(name)));
}

/** Who uses a metric, in a few words. */
export function useText(metric) {
  const { runs, users = [], lastRun } = metric?.use ?? {};
  if (runs === undefined) return "";
  const by = users.length ? ` by ${users.length > 3 ? many(users.length, "user") : users.map((user) => visible(user)).join(", ")}` : "";
  const last = Date.parse(lastRun ?? "");
  return `; ${many(runs, "run")}${by}${Number.isNaN(last) ? "" : `, last ${when(last)}`}`;
}
