// The choice of tables by owner, tag, tier and type: one list of values for each.
import { byId, html } from "../base/dom.mjs";
import { CHOICES, valuesOf } from "../graph/choosing.mjs";
import { visible } from "../graph/model.mjs";

/** Tells `changed(what)` of every choice. */
export function tableFilters(view, changed) {
  for (const choice of CHOICES) {
    byId(`only-${choice}`).addEventListener("change", (event) => {
      view().only[choice] = event.target.value;
      changed("links");
    });
  }
}

/** Shows what can be chosen among the tables of a graph, and what is. */
export function showTableFilters({ only }, graph) {
  for (const choice of CHOICES) {
    const values = valuesOf(graph, choice);
    const chosen = only[choice] ?? "";
    if (chosen && !values.some(([value]) => value === chosen)) values.push([chosen, 0]);
    const options = values.map(([value, count]) => html("option", { value }, `${visible(value)} (${count})`));
    byId(`only-${choice}`).replaceChildren(html("option", { value: "" }, "(any)"), ...options);
    byId(`only-${choice}`).value = chosen;
    byId(`only-${choice}-field`).hidden = !values.length;
  }
}
