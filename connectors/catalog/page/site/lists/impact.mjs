// What changes with a column or a table, as a list that can be filtered.
import { breakable, html, many } from "../base/dom.mjs";
import { KIND_NAMES } from "../base/words.mjs";
import { partsOf, readable, visible } from "../graph/model.mjs";
import { chosenElements, facetElements } from "./impact_filter.mjs";

const SHOWN = 200;
const TYPE_KINDS = { DIRECT: "direct", INDIRECT: "indirect", TABLE: "table" };

/** The list in the panel. */
export class ImpactList {
  #turn = 0;
  #rows = [];
  #wide = new Set();

  /**
   * `ask(only, start, limit)` gives {rows, total, entities, facets}; `only` ({facet: [value]}) is kept in the view that
   * holds it. `act`: changed() when another choice is made, csv(rows), go(table, path), failed(error).
   */
  constructor(place, name, { ask, only, act }) {
    Object.assign(this, { place, name, ask, only, act });
  }

  /** Asks for the beginning of the list, and shows it. */
  async show() {
    const turn = ++this.#turn;
    const answer = await this.ask(this.only, 0, SHOWN);
    if (turn !== this.#turn) return;
    this.#rows = answer.rows;
    this.#render(answer);
  }

  async #more() {
    const turn = ++this.#turn;
    const answer = await this.ask(this.only, this.#rows.length, SHOWN);
    if (turn !== this.#turn) return;
    const first = this.#rows.length;
    this.#rows = [...this.#rows, ...answer.rows];
    this.#render(answer);
    this.place.querySelectorAll("tbody tr")[first]?.querySelector("button").focus();
  }

  /** Does what may fail. */
  #tried(work) {
    return work.catch((error) => this.act.failed(error));
  }

  #choose(facet, value, on) {
    const kept = (this.only[facet] ?? []).filter((one) => one !== value);
    this.only[facet] = on ? [...kept, value] : kept;
    if (!this.only[facet].length) delete this.only[facet];
    this.act.changed();
    return this.#tried(this.show());
  }

  #render(answer) {
    const filter = this.place.querySelector("#impact-filter");
    const focused = this.place.contains(document.activeElement) ? document.activeElement.dataset.choice ?? "" : null;
    this.place.replaceChildren(...this.#elements(answer, filter?.open ?? false).filter(Boolean));
    if (focused === null) return;
    const same = [...this.place.querySelectorAll("[data-choice]")].find((one) => one.dataset.choice === focused);
    (same ?? this.place.querySelector("#impact-filter summary"))?.focus({ preventScroll: true });
  }

  #elements(answer, open) {
    const { total, entities, facets } = answer;
    const heading = html("h3", {}, `If ${this.name} changes`);
    const chosen = Object.values(this.only).flat().length;
    if (!total && !chosen) return [heading, html("p", { class: "note" }, "Nothing downstream is known.")];
    const act = {
      wide: this.#wide,
      choose: (facet, value, on) => this.#choose(facet, value, on),
      widen: (facet) => {
        this.#wide.add(facet);
        this.#render(answer);
      },
    };
    const left = total - this.#rows.length;
    return [
      heading,
      html("p", { id: "impact-count" }, `${many(total, "thing")} in ${many(entities, "table")}. `, html("button", { type: "button", id: "impact-csv", onclick: () => this.#tried(this.#save()) }, "Save as CSV")),
      html(
        "details",
        { id: "impact-filter", open },
        html("summary", {}, "Filter ", chosen ? html("span", { class: "badge" }, String(chosen)) : null),
        html("div", { class: "facets" }, facetElements(facets, this.only, act)),
      ),
      chosen ? html("p", { class: "pills", role: "group", "aria-label": "Only these are listed" }, chosenElements(this.only, act)) : null,
      total ? tableElement(this.#rows, this.act) : html("p", { class: "note" }, "Nothing downstream is so."),
      left > 0 ? html("p", {}, html("button", { type: "button", id: "impact-more", onclick: () => this.#tried(this.#more()) }, `Show ${Math.min(left, SHOWN)} more of ${left.toLocaleString("en")}`)) : null,
    ];
  }

  async #save() {
    this.act.csv((await this.ask(this.only, 0, null)).rows);
  }
}

function tableElement(rows, act) {
  const head = (text, kind) => html("th", { scope: "col", class: kind ?? null }, text);
  return html(
    "table",
    { class: "rows" },
    html("thead", {}, html("tr", {}, head("How"), head("What"), head("Steps", "number"))),
    html("tbody", {}, rows.map((row) => rowElement(row, act))),
  );
}

function rowElement(row, act) {
  const kind = TYPE_KINDS[row.type];
  const labels = [row.owners.length ? `owned by ${row.owners.join(", ")}` : "", ...row.tags].filter(Boolean).join(" · ");
  return html(
    "tr",
    {},
    html("td", {}, html("span", { class: `sample ${kind}`, role: "img", "aria-label": KIND_NAMES[kind] })),
    html(
      "td",
      {},
      html(
        "button",
        { type: "button", class: "go", onclick: () => act.go(row.table, row.path) },
        html("b", {}, breakable(row.path ? readable(row.path) : "every row")),
        html("span", { class: "of" }, breakable(readable(partsOf(row.table).slice(-2).join(".")))),
      ),
      row.way.length > 2 ? html("div", { class: "way" }, "by way of ", breakable(between(row.way))) : null,
      labels ? html("div", { class: "way" }, breakable(visible(labels))) : null,
    ),
    html("td", { class: "number" }, row.depth),
  );
}

/** The stations of a way, without its ends, by the last two parts of their names. */
function between(way) {
  return readable(
    way
      .slice(1, -1)
      .map((name) => partsOf(name).slice(-2).join("."))
      .join(" → "),
  );
}
