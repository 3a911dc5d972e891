// The view in the address: what is shown, pinned and filtered, so that a link shows the same picture.
import { CHOICES } from "../graph/choosing.mjs";
import { FACETS, wordsOfChoice } from "../graph/impact_facets.mjs";
import { EVERYTHING } from "../graph/model.mjs";

const NEAR = { upstream: 1, downstream: 1 };
const NUMBER = /^\d+(\.\d+)?$/;

export function emptyView() {
  return {
    steps: [],
    removed: [],
    pins: [],
    chosen: null,
    explained: null, // {entity, path}: what the panel tells of
    impact: {}, // of what is downstream of that the chosen values, by facet
    asOf: null,
    base: null, // the moment that asOf is compared with
    days: null,
    columns: "fit", // involved ones of as many tables as can be read at once
    modes: {},
    opened: [], // groups of tables that are shown one by one
    list: false,
    hiddenSchemas: [],
    only: {}, // of owner, tag, tier and type the one that tables are to have
    area: null, // {level, service}: schemas or services in place of tables
    query: "", // a search whose results are shown in place of a picture
    filter: { ...EVERYTHING, producers: [] },
  };
}

/** The view of one table with its neighbours, a column of it pinned; filters stay as they are. */
export function startingAt({ asOf, base, days, filter, columns }, { entity, path, reach }) {
  const pins = path ? [{ entity, path }] : [];
  return { ...emptyView(), asOf, base, days, filter, columns, pins, steps: [{ entity, ...(reach ?? NEAR) }] };
}

/** Takes in so many hops more on one side of a card. */
export function extend(view, card, side, hops) {
  const step = view.steps.find((one) => one.entity === card.fqn);
  if (step) step[side] = Math.max(step[side] + (hops === 1 && !card.hidden[side] ? 1 : 0), hops);
  else view.steps.push({ entity: card.fqn, upstream: 0, downstream: 0, [side]: hops });
  view.removed = [];
}

/** The view as the part of an address after #; what is as usual is left out. */
export function written(view) {
  const out = new URLSearchParams();
  for (const step of view.steps) out.append("t", `${step.upstream}.${step.downstream}.${step.entity}`);
  for (const fqn of view.removed) out.append("x", fqn);
  for (const pin of view.pins) out.append("p", `${pin.entity}\n${pin.path}`);
  if (view.chosen)
    out.set("e", [view.chosen.from, view.chosen.to].map((end) => `${end.entity}\n${end.path}`).join("\t"));
  if (view.explained) {
    out.set("o", `${view.explained.entity}\n${view.explained.path}`);
    for (const word of wordsOfChoice(view.impact)) out.append("i", word);
  }
  if (view.asOf !== null) out.set("asof", view.asOf);
  if (view.base !== null) out.set("base", view.base);
  if (view.days !== null) out.set("days", view.days);
  if (view.columns !== "fit") out.set("columns", view.columns);
  for (const group of view.opened) out.append("g", group);
  for (const [fqn, mode] of Object.entries(view.modes)) out.append("m", `${mode}.${fqn}`);
  if (view.list) out.set("list", "1");
  if (view.area) out.set("a", `${view.area.level ?? ""}.${view.area.service}`);
  if (view.query) out.set("q", view.query);
  for (const schema of view.hiddenSchemas) out.append("s", schema);
  for (const [choice, value] of Object.entries(view.only)) if (value) out.append("f", `${choice}.${value}`);
  const off = ["direct", "indirect", "tables"].filter((kind) => !view.filter[kind]);
  if (off.length) out.set("off", off.join("."));
  if (view.filter.producers.length) out.set("by", view.filter.producers.join("."));
  if (view.filter.witness) out.set("w", view.filter.witness);
  if (view.filter.confidence) out.set("sure", view.filter.confidence);
  if (view.filter.since !== null) out.set("since", view.filter.since);
  return out.toString();
}

/** The view that an address holds; what it does not say, or not well, is as usual. */
export function readView(hash) {
  const view = emptyView();
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const number = (key) => (NUMBER.test(given.get(key) ?? "") ? Number(given.get(key)) : null);
  for (const text of given.getAll("t")) {
    const found = /^(\d{1,3})\.(\d{1,3})\.([\s\S]+)$/.exec(text);
    if (found)
      view.steps.push({
        entity: found[3],
        upstream: Math.min(100, Number(found[1])),
        downstream: Math.min(100, Number(found[2])),
      });
  }
  view.removed = given.getAll("x");
  const end = (text) => ({ entity: text.split("\n")[0], path: text.split("\n")[1] ?? "" });
  view.pins = given.getAll("p").map(end);
  const ends = (given.get("e") ?? "").split("\t");
  if (ends.length === 2) view.chosen = { from: end(ends[0]), to: end(ends[1]) };
  if (given.get("o")) view.explained = end(given.get("o"));
  for (const word of given.getAll("i")) {
    const [, facet, value] = /^([a-z]+):([\s\S]+)$/.exec(word) ?? [];
    if (FACETS.includes(facet)) view.impact[facet] = [...new Set([...(view.impact[facet] ?? []), value])];
  }
  view.asOf = number("asof");
  view.base = number("base");
  view.days = number("days");
  if (["all", "none", "path", "involved"].includes(given.get("columns"))) view.columns = given.get("columns");
  for (const text of given.getAll("m")) {
    const at = text.indexOf(".");
    if (["all", "none", "involved", "full"].includes(text.slice(0, at)))
      view.modes[text.slice(at + 1)] = text.slice(0, at);
  }
  view.opened = given.getAll("g");
  view.list = given.get("list") === "1";
  view.hiddenSchemas = given.getAll("s");
  for (const text of given.getAll("f")) {
    const [, choice, value] = /^([a-z]+)\.([\s\S]+)$/.exec(text) ?? [];
    if (CHOICES.includes(choice)) view.only[choice] = value;
  }
  const area = /^(schemas|services|)\.([\s\S]*)$/.exec(given.get("a") ?? "");
  if (area) view.area = { level: area[1] || null, service: area[2] };
  view.query = given.get("q") ?? "";
  for (const kind of (given.get("off") ?? "").split(".")) if (kind in view.filter) view.filter[kind] = false;
  view.filter.producers = (given.get("by") ?? "").split(".").filter(Boolean);
  if (/^!?[a-z]+$/.test(given.get("w") ?? "")) view.filter.witness = given.get("w");
  view.filter.confidence = Math.min(1, number("sure") ?? 0);
  view.filter.since = number("since");
  return view;
}

/** What of a view is worth a step of the way back: the tables and how far around them, not what is pinned or open. */
function choiceOf({ steps, removed, asOf, base, area, query }) {
  return JSON.stringify([steps, removed, asOf, base, area, query]);
}

/** The page's address: says which view it holds, keeps up with the view, and tells `opened` of the way back and forth. */
export class Address {
  #kept = null;
  #choice = null;

  constructor(opened) {
    addEventListener("hashchange", () => {
      if (location.hash.slice(1) === this.#kept) return;
      const view = this.view;
      [this.#kept, this.#choice] = [location.hash.slice(1), choiceOf(view)];
      opened(view);
    });
  }

  get view() {
    return readView(location.hash);
  }

  /** Writes the view; another choice of tables is a new entry in the browser's history. */
  keep(view) {
    const address = written(view);
    if (address === this.#kept) return;
    const choice = choiceOf(view);
    const way = this.#kept !== null && choice !== this.#choice ? "pushState" : "replaceState";
    [this.#kept, this.#choice] = [address, choice];
    try {
      history[way](null, "", `#${address}`);
    } catch (error) {
      if (!(error instanceof DOMException)) throw error; // a frame without an origin has no address of its own
    }
  }
}
