// Lineage from the document that the page carries: everything is here, nothing is asked for.
import { changedPairs, difference, linksIn, within } from "../graph/difference.mjs";
import { chosenRows } from "../graph/impact_facets.mjs";
import { EVERYTHING, keyOf, linksOf, partsOf, readGraph, readable, restoreTexts, splitKey } from "../graph/model.mjs";
import { adjacency, impact, wayBetween } from "../graph/trace.mjs";
import { rowsOfAnswer, rowsOfList } from "./change_rows.mjs";
import { BESIDE, LIMIT, NotThere } from "./contract.mjs";
import { areasOf, factsOf, pageOf } from "./document_lists.mjs";
import { searchIn, searchable } from "./document_search.mjs";
import { disagreementsOf } from "./document_disagreements.mjs";
import { startListsOf } from "./document_start.mjs";

/** The document that the page carries: everything is here, nothing is asked for. */
export class DocumentSource {
  constructor(document) {
    this.live = false;
    this.compared = document.compared ?? null; // what a page of two states says of them
    this.given = document.changes ?? [];
    this.hidden = document.leftOut ?? "";
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
    this.names ??= searchable(this.graph.cards);
    return searchIn(this.names, this.facts, text, limit);
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
    return pageOf(cards, this.facts, asked, (other) => this.#changeOf(card.id, other.id, side));
  }

  /** How a table's neighbour differs between two states: what leads to it, or else itself. */
  #changeOf(card, other, side) {
    if (!this.graph.before) return null;
    this.pairs ??= changedPairs(this.graph, linksIn(this.graph, EVERYTHING));
    const pair = side === "upstream" ? [other, card] : [card, other];
    return this.pairs.get(pair.join("\n")) ?? this.graph.cards.get(other).change ?? null;
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
      const hidden = { changed: {} };
      for (const side of ["upstream", "downstream"]) {
        const others = [...(this.near[side].get(id) ?? [])].filter((other) => !inside.has(other));
        hidden[side] = others.length;
        hidden.changed[side] = others.filter((other) => this.#changeOf(id, other, side)).length;
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

  /** What of the catalog the window of the export hid, in words. */
  async leftOut() {
    return this.hidden;
  }

  async disagreements() {
    return disagreementsOf(this.graph);
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
    const links = this.compared ? this.#changedLinks : new Set();
    const changed = this.hubs.filter((card) => card.change || links.has(card.id));
    const [chosen, hops] = changed.length ? [changed.slice(0, most), changed.length <= most ? 1 : 0] : [cards.length <= most ? this.hubs : [], 0];
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
        .flatMap((id) => this.#first(id, side))
        .filter((id) => !seen.has(id) && seen.add(id));
      for (const id of frontier) if (inside.size < LIMIT) inside.add(id);
    }
  }

  /** The neighbours of a card that are shown: of many those that changed, then those that are used most. */
  #first(card, side) {
    const ids = [...(this.near[side].get(card) ?? [])];
    if (ids.length <= BESIDE) return ids;
    const cards = ids.map((id) => this.graph.cards.get(id));
    const asked = { q: "", sort: "changed", start: 0, limit: BESIDE };
    const { entities } = pageOf(cards, this.facts, asked, (other) => this.#changeOf(card, other.id, side));
    return entities.map((one) => this.byName.get(one.entity).id);
  }

  /** A part of what is downstream, of what is chosen by `only`. */
  async impact(graph, card, path, { only, start, limit }) {
    const all = this.graph.cards;
    const name = (key) => {
      const [id, column] = splitKey(key);
      return all.get(id).fqn + (column ? `.${column}` : "");
    };
    const every = impact(adjacency(linksOf(this.graph, EVERYTHING)), keyOf(card.id, path)).map((row) => {
      const [id, column] = splitKey(row.key);
      const { fqn, kind, owners, tags, columns } = all.get(id);
      const own = columns.find((one) => one.path === column)?.tags ?? [];
      return { table: fqn, path: column, type: row.type, depth: row.depth, way: row.path.map(name), kind, owners, tags: [...new Set([...own, ...tags])] };
    });
    const { rows, facets } = chosenRows(every, only);
    const shown = limit === null ? rows : rows.slice(start, start + limit);
    return { rows: shown, total: rows.length, entities: new Set(rows.map((row) => row.table)).size, facets };
  }

  /** The way from one end ({entity, path}) to another, or from that to the first: [{entity, path, direct}]. */
  async way(start, end) {
    const keys = [start, end].map(({ entity, path }) => keyOf(this.byName.get(entity).id, path));
    const found = wayBetween(adjacency(linksOf(this.graph, EVERYTHING)), ...keys);
    return (found?.keys ?? []).map((key) => {
      const [id, path] = splitKey(key);
      return { entity: this.graph.cards.get(id).fqn, path, direct: found.direct };
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
    const columnEdges = this.graph.edges.reduce(
      (sum, edge) => sum + edge.contributions.reduce((n, one) => n + one.columns.length, 0),
      0,
    );
    return { tables: this.graph.cards.size, columnEdges };
  }

  async startLists() {
    return startListsOf(this.graph, this.facts);
  }
}

/** The values of many lists, the most frequent first, with in how many of them each is. */
function counted(lists) {
  const counts = new Map();
  for (const list of lists) for (const value of new Set(list)) counts.set(value, (counts.get(value) ?? 0) + 1);
  const found = [...counts].map(([value, count]) => ({ value, count }));
  return found.sort((a, b) => b.count - a.count || a.value.localeCompare(b.value));
}

function standing(contribution, time) {
  return time.asOf === null || (contribution.since ?? contribution.firstSeen ?? 0) <= time.asOf;
}
