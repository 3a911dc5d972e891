// Lineage from the catalog that serves this page: it is asked.
import { keepText, keptText } from "../base/keeping.mjs";
import { difference } from "../graph/difference.mjs";
import { wordsOfChoice } from "../graph/impact_facets.mjs";
import { readGraph } from "../graph/model.mjs";
import { rowsOfAnswer } from "./change_rows.mjs";
import { BESIDE, LIMIT, NoAnswer, NotThere, Unauthorised } from "./contract.mjs";

const TOKEN = "headwater-token";

/** The catalog that serves this page. */
export class CatalogSource {
  #token = null;
  #leftOut = new Map(); // by moment and days: it is counted over the whole catalog

  constructor() {
    this.live = true;
    this.compared = null;
    this.#token = keptText("sessionStorage", TOKEN);
  }

  useToken(token) {
    this.#token = token;
    keepText("sessionStorage", TOKEN, token);
  }

  async #ask(path, body) {
    const headers = this.#token ? { Authorization: `Bearer ${this.#token}` } : {};
    if (body) headers["Content-Type"] = "application/json";
    const options = body ? { method: "POST", body: JSON.stringify(body), headers } : { headers };
    const answer = await fetch(`api/v1/headwater/${path}`, options).catch((error) => {
      throw new NoAnswer(error.message);
    });
    if (answer.status === 401) throw new Unauthorised();
    const json = await answer.json();
    if (answer.status === 404) throw new NotThere(json.message);
    if (!answer.ok) throw new Error(json.message ?? `the catalog answered ${answer.status}`);
    return json;
  }

  async search(text, limit = 40) {
    const answer = await this.#ask(`search?q=${encodeURIComponent(text)}&limit=${limit}`);
    return answer.results.map((one) => ({
      kind: one.kind,
      name: one.name,
      entity: one.entity.fullyQualifiedName,
      type: one.entity.type,
      path: one.column ? one.column.slice(one.entity.fullyQualifiedName.length + 1) : "",
      use: one.use,
    }));
  }

  /** The tags, owners and producers that there are, each with how many tables it concerns. */
  async searchValues() {
    return this.#ask("search/values");
  }

  async picture(steps, time) {
    if (time.base !== null) {
      const asked = { steps, from: earlier(time), to: time.asOf, limit: LIMIT, beside: BESIDE };
      const { before, after } = await this.#ask("picture/difference", asked);
      return difference(readGraph(before), readGraph(after));
    }
    const size = { limit: LIMIT, beside: BESIDE };
    return readGraph(await this.#ask("picture", { steps, asOf: time.asOf, days: time.days, ...size }));
  }

  /** A page of the tables that a card reads or is read by, of two moments at either: {total, found, entities: [{entity, use, change}]}. */
  async neighbours(card, side, asked, time) {
    return this.#page("neighbours", { entity: card.fqn, side, ...asked, asOf: time.asOf, days: time.days, from: earlier(time) });
  }

  /** A page of the tables in a schema or service. */
  async areaTables(entity, asked) {
    return this.#page("areas/tables", { entity, ...asked });
  }

  async #page(path, asked) {
    const answer = await this.#ask(`${path}?${given(asked)}`);
    const entities = answer.entities.map((one) => ({ ...one, entity: one.entity.fullyQualifiedName }));
    return { ...answer, entities };
  }

  /** Schemas or services as a graph, with the level that it is of. */
  async areas({ level, service }, time) {
    const asked = { level, service: service || null, asOf: time.asOf, days: time.days };
    const answer = await this.#ask(`areas?${given(asked)}`);
    return { ...readGraph(answer), level: answer.level, links: answer.links };
  }

  /** A part of what is downstream, of what is chosen by `only`: {rows, total, entities, facets}. */
  async impact(graph, card, path, { view, only, start, limit }) {
    const asked = given({ entity: card.fqn, column: path || null, asOf: view.asOf, days: view.days, start, limit });
    for (const word of wordsOfChoice(only)) asked.append("only", word);
    const { impacted, total, counts, facets } = await this.#ask(`impact?${asked}`);
    const rows = impacted.map((one) => ({
      table: one.entity.fullyQualifiedName,
      path: one.column ? one.column.slice(one.entity.fullyQualifiedName.length + 1) : "",
      type: one.type,
      depth: one.depth,
      way: one.path,
      owners: one.owners ?? [],
      tags: [...new Set([...(one.tags ?? []), ...(one.entityTags ?? [])])],
    }));
    return { rows, total, entities: counts.entities, facets };
  }

  /** The way from one end ({entity, path}) to another, or from that to the first: [{entity, path, direct}]. */
  async way(start, end, { asOf, days }) {
    const asked = { from: start.entity, fromColumn: start.path || null, to: end.entity, toColumn: end.path || null };
    const { stations } = await this.#ask(`way?${given({ ...asked, asOf, days })}`);
    return stations.map(({ entity, column, type }) => ({ entity, path: column ?? "", direct: type === "DIRECT" }));
  }

  /** What may have made a table or a column wrong at a view's moment. */
  async causes(card, path, { asOf, days }) {
    return this.#ask(`causes?${given({ entity: card.fqn, column: path || null, asOf, days })}`);
  }

  /** What of the catalog the window of a view hides, in words; a comparison takes observations of any age. */
  async leftOut({ base, asOf, days }) {
    if (base !== null) return "";
    const asked = given({ asOf, days }).toString();
    if (!this.#leftOut.has(asked)) this.#leftOut.set(asked, (await this.#ask(`window?${asked}`)).leftOut);
    return this.#leftOut.get(asked);
  }

  /** The moments at which anything changed. */
  async moments() {
    return (await this.#ask("moments")).moments;
  }

  /** What changed between the two moments of a view, as rows. */
  async changes({ base, asOf }) {
    return rowsOfAnswer(await this.#ask(`diff?from=${base}&to=${asOf ?? Date.now()}`));
  }

  /** What people corrected of the links of a table. */
  async corrections(entity) {
    return (await this.#ask(`corrections?entity=${encodeURIComponent(entity)}`)).corrections;
  }

  async correct(correction) {
    return this.#ask("corrections", correction);
  }

  async undo(id, why) {
    return this.#ask(`corrections/${id}/undo`, why);
  }

  /** The latest runs of workflows into this catalog. */
  async runs(limit = 30) {
    return this.#ask(`workflow-runs?limit=${limit}`);
  }

  async run(id) {
    return this.#ask(`workflow-runs/${encodeURIComponent(id)}`);
  }

  /** Begins to read a dead statement again. */
  async replay(workflow, location) {
    return this.#ask("workflow-runs/replays", { workflow, location });
  }

  /** Of how many tables the source is known, and so many of the others. */
  async coverage(limit = 200) {
    return this.#ask(`coverage?limit=${limit}`);
  }

  async freshness(limit = 200) {
    return this.#ask(`freshness?limit=${limit}`);
  }

  /** Links that one kind of evidence has and another has not. */
  async disagreements() {
    return this.#ask("witnesses?witness=disputed");
  }

  /** When tables (by id) were written last, whether that is late, and whether their last load failed. */
  async states(entities) {
    return this.#ask("states", { entities });
  }

  /** Where a table went that is not there, and what is called nearly so. */
  async whereabouts(entity) {
    return this.#ask(`whereabouts?name=${encodeURIComponent(entity)}`);
  }

  /** The graph of what a column comes from. */
  async upstream(card, path, time) {
    const asked = { entity: card.fqn, column: path, asOf: time.asOf, days: time.days };
    const given = Object.entries(asked).filter(([, value]) => value !== null);
    return readGraph(await this.#ask(`upstream?${new URLSearchParams(given)}`));
  }

  async overview() {
    const [answer, runs, coverage] = await Promise.all([this.#ask("beginnings"), this.runs(1), this.#ask("coverage/counts")]);
    return { ...answer, coverage, run: runs.runs[0] ?? null };
  }

  /** Tables to begin with: {changed, used, failed, uncovered}, each a list of {entity, what, at}. */
  async startLists() {
    const lists = Object.entries(await this.#ask("beginnings/lists"));
    const named = (rows) => rows.map((row) => ({ ...row, entity: row.entity.fullyQualifiedName }));
    return Object.fromEntries(lists.map(([name, rows]) => [name, named(rows)]));
  }
}

/** The earlier moment of a view that compares two, null of any other. */
function earlier({ base, asOf }) {
  return base === null ? null : Math.min(base, asOf ?? Infinity);
}

function given(asked) {
  return new URLSearchParams(Object.entries(asked).filter(([, value]) => value !== null && value !== undefined));
}
