// The filter of what lies downstream: a list of values for each facet, each with how many there are, and what is chosen.
import { breakable, html } from "../base/dom.mjs";
import { KIND_NAMES } from "../base/words.mjs";
import { FACETS } from "../graph/impact_facets.mjs";
import { readable, visible } from "../graph/model.mjs";

const TITLES = { degree: "Steps away", how: "How", owner: "Owner", tag: "Tag", tier: "Tier", type: "Type", service: "Service", schema: "Schema" };
const SHOWN = 8;

/** A value in words. */
function valueText(facet, value) {
  if (facet === "degree") return value === "1" ? "1 step" : value.endsWith("+") ? `${value.slice(0, -1)} steps or more` : `${value} steps`;
  if (facet === "how") return KIND_NAMES[value] ?? value;
  if (facet === "type") return value.replace(/[A-Z]/g, (one) => ` ${one.toLowerCase()}`);
  return facet === "schema" ? readable(value) : visible(value);
}

/** What can be chosen; `act.choose(facet, value, on)` chooses, `act.wide` holds the facets of which all is shown. */
export function facetElements(facets, only, act) {
  return FACETS.map((facet) => {
    const values = [...(facets[facet] ?? [])];
    for (const value of only[facet] ?? []) if (!values.some((one) => one.value === value)) values.push({ value, count: 0 });
    if (!values.length) return null;
    const all = act.wide.has(facet) || values.length <= SHOWN + 1;
    const shown = all ? values : values.filter(({ value }, at) => at < SHOWN || only[facet]?.includes(value));
    return html(
      "fieldset",
      {},
      html("legend", {}, TITLES[facet]),
      shown.map((one) => choiceElement(facet, one, only[facet]?.includes(one.value) ?? false, act)),
      all ? null : html("button", { type: "button", class: "go", onclick: () => act.widen(facet) }, `${values.length - shown.length} more`),
    );
  }).filter(Boolean);
}

function choiceElement(facet, { value, count }, chosen, act) {
  const box = html("input", { type: "checkbox", "data-choice": `${facet}:${value}`, onchange: (event) => act.choose(facet, value, event.target.checked) });
  box.checked = chosen;
  return html("label", { class: "choice" }, box, html("span", { class: "choice-name" }, breakable(valueText(facet, value))), html("span", { class: "count" }, count.toLocaleString("en")));
}

/** What is chosen, each to be taken back. */
export function chosenElements(only, act) {
  return Object.entries(only).flatMap(([facet, values]) =>
    values.map((value) => {
      const text = `${TITLES[facet]}: ${valueText(facet, value)}`;
      return html("button", { type: "button", class: "chosen", "aria-label": `${text}: show others too`, onclick: () => act.choose(facet, value, false) }, breakable(text), html("span", { "aria-hidden": "true" }, " ×"));
    }),
  );
}
