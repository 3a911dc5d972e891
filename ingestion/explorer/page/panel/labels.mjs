// What is said of a table, a column or a metric as such: its tags with where they come from, what a metric measures.
import { breakable, html } from "../base/dom.mjs";
import { visible } from "../graph/model.mjs";

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

/** The rows of what a metric measures. */
export function metricRows(metric) {
  if (!metric) return [];
  const code = metric.metricExpression?.code;
  const names = (list) => (list ?? []).map((one) => html("span", { class: "way" }, breakable(visible(one.name ?? String(one)))));
  return [
    ["Expression", code ? html("code", { class: "expression", tabindex: 0 }, visible(code, { lines: true })) : null],
    ["Kind", metric.metricType],
    ["Measures", metric.measures ? names(metric.measures) : null],
    ["Dimensions", metric.dimensions ? names(metric.dimensions) : null],
  ];
}
