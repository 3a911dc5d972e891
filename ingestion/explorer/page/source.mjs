// Where the page's lineage comes from: a catalog that is asked, or the document that the page carries.
import { rowsOfAnswer, rowsOfList } from "./changes.mjs";
import { difference, linksIn, within } from "./difference.mjs";
import { areasOf, factsOf, pageOf } from "./document_lists.mjs";
import { keepText, keptText } from "./keeping.mjs";
import { ALIKE, INSIDE, rankOf, searched, wordsOf } from "./matching.mjs";
import { EVERYTHING, keyOf, linksOf, partsOf, readGraph, readable, restoreTexts, unquoted } from "./model.mjs";
import { admission, inOrder, parsed, tagged } from "./narrowing.mjs";
import { adjacency, impact } from "./trace.mjs";

export const LIMIT = 500;
/** So many neighbours of a card are shown on one side, the most used ones; of more there is a list. */
export const BESIDE = 20;
const TOKEN = "headwater-token";

export class Unauthorised extends Error {}

/** The table that was asked for is not there. */
export class NotThere extends Error {}

/** The catalog that serves this page. */
export class CatalogSource {
  #token = null;

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
    const answer = await fetch(`api/v1/headwater/${path}`, options);
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
      const asked = { steps, from: Math.min(time.base, time.asOf ?? Infinity), to: time.asOf, limit: LIMIT };
      const { before, after } = await this.#ask("picture/difference", asked);
      return difference(readGraph(before), readGraph(after));
    }
    const size = { limit: LIMIT, beside: BESIDE };
    return readGraph(await this.#ask("picture", { steps, asOf: time.asOf, days: time.days, ...size }));
  }

  /** A page of the tables that a card reads or is read by: {total, found, entities: [{entity, use}]}. */
  async neighbours(card, side, asked, time) {
    return this.#page("neighbours", { entity: card.fqn, side, ...asked, asOf: time.asOf, days: time.days });
  }

  /** A page of the tables in a schema or service. */
  async areaTables(entity, asked) {
    return this.#page("areas/tables", { entity, ...asked });
  }

  async #page(path, asked) {
    const answer = await this.#ask(`${path}?${given(asked)}`);
    const entities = answer.entities.map((one) => ({ entity: one.entity.fullyQualifiedName, use: one.use }));
    return { ...answer, entities };
  }

  /** Schemas or services as a graph, with the level that it is of. */
  async areas({ level, service }, time) {
    const asked = { level, service: service || null, asOf: time.asOf, days: time.days };
    const answer = await this.#ask(`areas?${given(asked)}`);
    return { ...readGraph(answer), level: answer.level, links: answer.links };
  }

  async impact(graph, card, path, time) {
    const column = path ? `&column=${encodeURIComponent(path)}` : "";
    const days = time.days === null ? "" : `&days=${time.days}`;
    const asOf = time.asOf === null ? "" : `&asOf=${time.asOf}`;
    const answer = await this.#ask(`impact?entity=${encodeURIComponent(card.fqn)}${column}${days}${asOf}`);
    return answer.impacted.map((one) => ({
      table: one.entity.fullyQualifiedName,
      path: one.column ? one.column.slice(one.entity.fullyQualifiedName.length + 1) : "",
      type: one.type,
      depth: one.depth,
      way: one.path,
    }));
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
    const answer = await this.#ask("beginnings");
    return { tables: answer.tables, columnEdges: answer.columnEdges, beginnings: answer.beginnings };
  }
}

function given(asked) {
  return new URLSearchParams(Object.entries(asked).filter(([, value]) => value !== null && value !== undefined));
}

/** The document that the page carries: everything is here, nothing is asked for. */
export class DocumentSource {
  constructor(document) {
    this.live = false;
    this.compared = document.compared ?? null; // what a page of two states says of them
    this.given = document.changes ?? [];
    if (document.before) restoreTexts(document.before, document.texts ?? []);
    const graph = readGraph(document);
    this.graph = document.before ? difference(readGraph(document.before), graph) : graph;
    this.failures = document.failures ?? [];
    this.byName = new Map([...this.graph.cards.values()].map((card) => [card.fqn, card]));
    this.near = { upstream: new Map(), downstream: new Map() };
    for (const edge of [...this.graph.edges, ...(this.graph.before?.edges ?? [])]) {
      this.#join("upstream", edge.to, edge.from);
      this.#join("downstream", edge.from, edge.to);
    }
  }

  #join(side, card, other) {
    const known = this.near[side].get(card);
    if (known) known.add(other);
    else this.near[side].set(card, new Set([other]));
  }

  async search(text, limit = 40) {
    this.names ??= [...this.graph.cards.values()].map((card) => ({
      card,
      called: searched(card.name),
      around: qualifiers(partsOf(card.fqn).slice(0, -1)),
      full: qualifiers(partsOf(card.fqn)),
      columns: card.columns.map((column) => ({ column, called: searched(column.name) })),
    }));
    const { words, filters, order } = parsed(text);
    const asked = { words: wordsOf(words), plain: searched(words).plain };
    const all = [...this.facts.values()];
    const [admitted, tags] = [admission(filters, all), tagged(filters, all)];
    const rank = words ? rankOf : () => 0;
    const found = [];
    for (const { card, called, around, full, columns } of this.names) {
      const facts = this.facts.get(card.id);
      if (!admitted(facts)) continue;
      const note = (kind, name, path, rank) =>
        rank === null || found.push({ kind, name, path, rank, entity: card.fqn, type: card.kind, facts, use: facts });
      note("entity", unquoted(partsOf(card.fqn).pop()), "", rank(asked, called, around));
      if (!words && !tags.asked) continue;
      for (const { column, called: own } of columns)
        if (!tags.asked || tags.fits(column.tags)) note("column", column.name, column.path, rank(asked, own, full));
    }
    if (order || (!words && filters.length)) return inOrder(found, order ?? "used").slice(0, limit);
    return bestOf(found, limit);
  }

  /** What searches narrow by, of each table. */
  get facts() {
    this.known ??= factsOf(this.graph, this.near);
    return this.known;
  }

  async searchValues() {
    const all = [...this.facts.values()];
    return {
      tags: counted(all.map((one) => [...one.tags, ...one.columnTags])),
      owners: counted(all.map((one) => one.owners)),
      producers: counted(all.map((one) => one.producers)),
    };
  }

  async neighbours(card, side, asked) {
    const cards = [...(this.near[side].get(card.id) ?? [])].map((id) => this.graph.cards.get(id));
    return pageOf(cards, this.facts, asked);
  }

  async areaTables(entity, asked) {
    const inside = [...this.graph.cards.values()].filter((card) => card.fqn.startsWith(`${entity}.`));
    return pageOf(inside, this.facts, asked);
  }

  async areas(area) {
    const answer = areasOf(this.graph, this.facts, area);
    return { ...readGraph(answer), level: answer.level, links: answer.links };
  }

  async picture(steps, time) {
    const inside = new Set();
    for (const step of steps) {
      const card = this.byName.get(step.entity);
      if (!card) continue;
      inside.add(card.id);
      this.#reach(inside, card.id, "upstream", step.upstream);
      this.#reach(inside, card.id, "downstream", step.downstream);
    }
    if (!inside.size) throw new NotThere(steps[0].entity);
    const cards = new Map();
    for (const id of inside) {
      const hidden = {};
      for (const side of ["upstream", "downstream"]) {
        hidden[side] = [...(this.near[side].get(id) ?? [])].filter((other) => !inside.has(other)).length;
      }
      cards.set(id, { ...this.graph.cards.get(id), hidden });
    }
    const edges = this.graph.edges
      .filter((edge) => inside.has(edge.from) && inside.has(edge.to))
      .map((edge) => ({ ...edge, contributions: edge.contributions.filter((one) => standing(one, time)) }));
    const roots = steps.length ? [this.byName.get(steps[0].entity)?.id].filter(Boolean) : [];
    return {
      cards,
      edges: edges.filter((edge) => edge.contributions.length),
      roots,
      window: this.graph.window,
      truncated: false,
      ...(this.graph.before ? { before: { edges: within(this.graph.before.edges, cards) } } : {}),
    };
  }

  async changes() {
    return Array.isArray(this.given) ? rowsOfList(this.given) : rowsOfAnswer(this.given);
  }

  async corrections() {
    return [];
  }

  /** The tables that a page without a chosen one begins with: what changed in it, or all of a small graph. */
  beginning(most) {
    const cards = [...this.graph.cards.values()];
    const changed = this.compared ? cards.filter((card) => card.change || this.#changedLinks.has(card.id)) : [];
    const [chosen, hops] = changed.length && changed.length <= most ? [changed, 1] : [cards.length <= most ? this.hubs : [], 0];
    return chosen.map((card) => ({ entity: card.fqn, upstream: hops, downstream: hops }));
  }

  get #changedLinks() {
    const links = linksIn(this.graph, EVERYTHING).filter((link) => link.change);
    return new Set(links.map((link) => link.toCard));
  }

  #reach(inside, start, side, hops) {
    let frontier = [start];
    const seen = new Set(frontier);
    for (let hop = 0; hop < hops && frontier.length && inside.size < LIMIT; hop++) {
      frontier = frontier
        .flatMap((id) => this.#mostUsed([...(this.near[side].get(id) ?? [])]))
        .filter((id) => !seen.has(id) && seen.add(id));
      for (const id of frontier) if (inside.size < LIMIT) inside.add(id);
    }
  }

  #mostUsed(ids) {
    if (ids.length <= BESIDE) return ids;
    const runs = (id) => this.graph.cards.get(id).reads;
    return ids.sort((a, b) => runs(b) - runs(a) || a.localeCompare(b)).slice(0, BESIDE);
  }

  async impact(graph, card, path) {
    const all = this.graph.cards;
    const name = (key) => {
      const at = key.indexOf("\n");
      return all.get(key.slice(0, at)).fqn + (key.length > at + 1 ? `.${key.slice(at + 1)}` : "");
    };
    return impact(adjacency(linksOf(this.graph, EVERYTHING)), keyOf(card.id, path)).map((row) => {
      const at = row.key.indexOf("\n");
      const table = all.get(row.key.slice(0, at)).fqn;
      return { table, path: row.key.slice(at + 1), type: row.type, depth: row.depth, way: row.path.map(name) };
    });
  }

  async whereabouts(entity) {
    const found = await this.search(readable(partsOf(entity).pop()), 12);
    return { renamed: null, dropped: null, near: [...new Set(found.map((one) => one.entity))] };
  }

  async upstream() {
    return this.graph;
  }

  #degree(card) {
    return (this.near.upstream.get(card.id)?.size ?? 0) + (this.near.downstream.get(card.id)?.size ?? 0);
  }

  /** All cards, those with the most neighbours first; of as many, tables before files. */
  get hubs() {
    return [...this.graph.cards.values()].sort(
      (a, b) => this.#degree(b) - this.#degree(a) || (a.kind === "container") - (b.kind === "container"),
    );
  }

  async overview() {
    const cards = this.hubs;
    const beginnings = cards
      .map((card) => ({
        entity: card.fqn,
        upstream: this.near.upstream.get(card.id)?.size ?? 0,
        downstream: this.near.downstream.get(card.id)?.size ?? 0,
      }))
      .slice(0, 12);
    const columnEdges = this.graph.edges.reduce(
      (sum, edge) => sum + edge.contributions.reduce((n, one) => n + one.columns.length, 0),
      0,
    );
    return { tables: cards.length, columnEdges, beginnings };
  }
}

/** The values of many lists, the most frequent first, with in how many of them each is. */
function counted(lists) {
  const counts = new Map();
  for (const list of lists) for (const value of new Set(list)) counts.set(value, (counts.get(value) ?? 0) + 1);
  const found = [...counts].map(([value, count]) => ({ value, count }));
  return found.sort((a, b) => b.count - a.count || a.value.localeCompare(b.value));
}

function qualifiers(parts) {
  const names = parts.map((part) => readable(unquoted(part)));
  return { words: names.flatMap((name) => searched(name).words), last: searched(names[names.length - 1] ?? "").plain };
}

/** Tables before columns that fit as well; names that are only spelled alike where nothing else was found. */
function bestOf(found, limit) {
  const exact = found.filter((one) => one.rank !== ALIKE);
  const ranked = (exact.length ? exact : found).sort(
    (a, b) => a.rank - b.rank || a.name.length - b.name.length || a.entity.localeCompare(b.entity),
  );
  const columns = ranked.filter((one) => one.path);
  const tables = ranked.filter((one) => !one.path).slice(0, limit - Math.min(columns.length, limit >> 2));
  return [...tables, ...columns.slice(0, limit - tables.length)].sort(
    (a, b) => (a.rank === INSIDE) - (b.rank === INSIDE) || Boolean(a.path) - Boolean(b.path),
  );
}

function standing(contribution, time) {
  return time.asOf === null || (contribution.since ?? contribution.firstSeen ?? 0) <= time.asOf;
}
