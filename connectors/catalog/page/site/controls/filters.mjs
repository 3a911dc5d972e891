// Switches over what is shown: kinds of links, schemas, producers, confidence, age, and the moment that is looked at.
import { byId, html } from "../base/dom.mjs";
import { knownFrom } from "../base/words.mjs";
import { EVERYTHING } from "../graph/model.mjs";
import { witnessesOf } from "../graph/witnesses.mjs";
import { showTableFilters, tableFilters } from "./table_filters.mjs";

const DAY = 86_400_000;

/** Puts the view's filters into the form and tells `changed(what)` of every change ("graph": it must be asked again). */
export function filters(view, live, changed) {
  for (const [id, kind] of [
    ["show-direct", "direct"],
    ["show-indirect", "indirect"],
    ["show-tables", "tables"],
  ]) {
    byId(id).addEventListener("click", () => {
      view().filter[kind] = !view().filter[kind];
      changed("links");
    });
  }
  byId("columns").addEventListener("change", (event) => {
    view().columns = event.target.value;
    view().modes = {};
    changed("links");
  });
  byId("confidence").addEventListener("input", (event) => {
    view().filter.confidence = Number(event.target.value) / 100;
    byId("confidence-value").textContent = `${event.target.value} %`;
    changed("links");
  });
  byId("witness").addEventListener("change", (event) => {
    view().filter.witness = event.target.value;
    changed("links");
  });
  byId("since").addEventListener("change", (event) => {
    view().filter.since = event.target.value ? Date.parse(`${event.target.value}T00:00:00Z`) : null;
    changed("links");
  });
  byId("as-of").addEventListener("change", (event) => {
    view().asOf = event.target.value ? Date.parse(`${event.target.value}:00Z`) : null;
    changed("graph");
  });
  byId("days").addEventListener("change", (event) => {
    view().days = event.target.value === "" ? null : Number(event.target.value);
    changed("graph");
  });
  byId("days-field").hidden = !live;
  tableFilters(view, changed);
  byId("reset").addEventListener("click", () => {
    const usual = { ...EVERYTHING, producers: [] };
    const again = view().asOf !== null || view().days !== null;
    Object.assign(view(), { filter: usual, hiddenSchemas: [], only: {}, asOf: null, days: null });
    changed(again ? "graph" : "links");
  });
}

/** Shows the state of the filters, with a switch for each schema and producer that the graph has. */
export function showFilters(view, graph, changed) {
  const { filter } = view;
  for (const [id, kind] of [
    ["show-direct", "direct"],
    ["show-indirect", "indirect"],
    ["show-tables", "tables"],
  ]) {
    byId(id).setAttribute("aria-pressed", String(filter[kind]));
  }
  byId("columns").value = view.columns;
  byId("confidence").value = Math.round(filter.confidence * 100);
  byId("confidence-value").textContent = `${Math.round(filter.confidence * 100)} %`;
  showWitnesses(filter.witness, witnessesOf(graph));
  showTableFilters(view, graph);
  byId("since").value = filter.since === null ? "" : new Date(filter.since).toISOString().slice(0, 10);
  byId("as-of").value = view.asOf === null ? "" : new Date(view.asOf).toISOString().slice(0, 16);
  byId("days").value = view.days === null ? "" : String(view.days);
  const schemas = counted([...graph.cards.values()].map((card) => card.schema));
  const producers = counted(graph.edges.flatMap((edge) => edge.contributions.map((one) => one.producer.kind)));
  byId("schemas").replaceChildren(
    ...schemas.map(([name, count]) =>
      choice("schema", name, count, !view.hiddenSchemas.includes(name), (on) => {
        view.hiddenSchemas = on ? view.hiddenSchemas.filter((one) => one !== name) : [...view.hiddenSchemas, name];
        changed("links");
      }),
    ),
  );
  const all = producers.map(([name]) => name);
  byId("producers").replaceChildren(
    ...producers.map(([name, count]) =>
      choice("producer", name, count, !filter.producers.length || filter.producers.includes(name), (on) => {
        const now = new Set(filter.producers.length ? filter.producers : all);
        if (on) now.add(name);
        else now.delete(name);
        filter.producers = now.size === all.length ? [] : now.size ? [...now] : ["none"];
        changed("links");
      }),
    ),
  );
  const active = activeCount(view);
  byId("filter-count").textContent = active ? String(active) : "";
  byId("filter-count").hidden = !active;
}

/** What the links can be narrowed to by witnesses, where there are several. */
function showWitnesses(chosen, witnesses) {
  const options = [["", "(does not matter)"], ["disputed", "disputed: not all say the same"]];
  for (const name of witnesses) options.push([name, `seen by ${name}`], [`!${name}`, `not seen by ${name}`]);
  if (!options.some(([value]) => value === chosen)) options.push([chosen, chosen]);
  byId("witness").replaceChildren(...options.map(([value, text]) => html("option", { value }, text)));
  byId("witness").value = chosen;
  byId("witness-field").hidden = witnesses.length < 2 && !chosen;
  byId("filters-disagreements").hidden = byId("witness-field").hidden;
}

function activeCount({ filter, hiddenSchemas, only, asOf, days }) {
  const kinds = ["direct", "indirect", "tables"].filter((kind) => !filter[kind]).length;
  return (
    kinds +
    hiddenSchemas.length +
    Object.values(only).filter(Boolean).length +
    [filter.producers.length, filter.witness, filter.confidence, filter.since !== null, asOf !== null, days !== null].filter(Boolean)
      .length
  );
}

function counted(names) {
  const counts = new Map();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
}

function choice(kind, name, count, on, changed) {
  const box = html("input", {
    type: "checkbox",
    "data-choice": kind,
    value: name,
    onchange: (event) => changed(event.target.checked),
  });
  box.checked = on;
  return html(
    "label",
    { class: "choice" },
    box,
    html("span", { class: "choice-name" }, (kind === "producer" ? knownFrom(name) : name) || "(none)"),
    html("span", { class: "count" }, count),
  );
}

/** The window that the lineage was read through, for people. */
export function windowText(window) {
  if (!window?.until) return "";
  const day = (millis) => new Date(millis).toISOString().slice(0, 10);
  if (!window.since) return `observed until ${day(window.until)}`;
  return `observed ${day(window.since)} to ${day(window.until)} (${Math.round((window.until - window.since) / DAY)} days)`;
}

/** Says what a picture shows, and what its window hides once that is counted, if nothing else was said by then. */
export function sayWithLeftOut(explorer, text) {
  explorer.say(text);
  const add = (note) => note && byId("status").textContent === text && explorer.say(`${text}; ${note}`);
  explorer.source.leftOut(explorer.view).then(add, (error) => explorer.failed(error));
}
