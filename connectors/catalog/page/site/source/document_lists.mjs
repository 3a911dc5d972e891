// What the catalog answers about many tables, worked out from the document that a page carries: facts, lists, areas.
import { many } from "../base/dom.mjs";
import { wordsOf } from "../graph/matching.mjs";
import { partsOf, readable, unquoted } from "../graph/model.mjs";

const OBSERVED = ["query", "plan", "engine", "openlineage"];
const MOST_SCHEMAS = 60;
const SHOWN_TABLES = 5;
const MOST_LINKS = 200;

/** Of each table by its id what searches narrow by. */
export function factsOf(graph, near) {
  const facts = new Map(
    [...graph.cards.values()].map((card) => [
      card.id,
      {
        tags: card.tags,
        columnTags: card.columns.flatMap((column) => column.tags),
        owners: card.owners,
        service: card.service || unquoted(partsOf(card.fqn)[0]),
        producers: [],
        runs: card.reads,
        readers: near.downstream.get(card.id)?.size ?? 0,
        lastWritten: null,
      },
    ]),
  );
  for (const edge of graph.edges) {
    const target = facts.get(edge.to);
    for (const one of edge.contributions) {
      target.producers.push(one.producer.kind, one.source, ...(one.jobs ?? []));
      if (OBSERVED.includes(one.producer.kind)) target.lastWritten = Math.max(target.lastWritten ?? 0, one.lastSeen ?? 0);
    }
  }
  return facts;
}

/** A page of cards as the catalog lists entities, each with what `changeOf` says of it. */
export function pageOf(cards, facts, { q, sort, start, limit }, changeOf = () => null) {
  const asked = wordsOf(q);
  const fits = (card) => {
    const words = wordsOf(card.fqn);
    return asked.every((word) => words.some((one) => one.startsWith(word)));
  };
  const found = cards.filter((card) => !q || fits(card) || card.fqn.toLowerCase().includes(q.toLowerCase()));
  const use = (card) => facts.get(card.id);
  const by = (a, b) => use(b).runs - use(a).runs || use(b).readers - use(a).readers;
  const changes = new Map(cards.map((card) => [card.id, changeOf(card)]));
  const changed = (card) => Boolean(changes.get(card.id));
  const first = (a, b) => (sort === "changed" ? changed(b) - changed(a) : 0);
  found.sort((a, b) => first(a, b) || (sort === "name" ? 0 : by(a, b)) || a.fqn.localeCompare(b.fqn));
  const entities = found.slice(start, start + limit).map((card) => ({ entity: card.fqn, use: use(card), change: changes.get(card.id) }));
  return { total: cards.length, found: found.length, changed: cards.filter(changed).length, entities };
}

/** Schemas or services as a graph, as the catalog answers it. */
export function areasOf(graph, facts, { level, service }) {
  const schemaOf = (card) => partsOf(card.fqn).slice(0, card.kind === "container" ? 1 : -1).join(".");
  const serviceOf = (card) => partsOf(card.fqn)[0];
  const cards = [...graph.cards.values()];
  const wanted = level ?? (new Set(cards.map(schemaOf)).size <= MOST_SCHEMAS ? "schemas" : "services");
  const nameOf = wanted === "schemas" ? schemaOf : serviceOf;
  const inside = grouped(cards, nameOf);
  const edges = new Map();
  for (const edge of graph.edges) {
    const [from, to] = [edge.from, edge.to].map((id) => nameOf(graph.cards.get(id)));
    if (from === to) continue;
    const key = `${from}\n${to}`;
    if (!edges.has(key)) edges.set(key, { from, to, kinds: new Map() });
    const { kinds } = edges.get(key);
    for (const one of edge.contributions) kinds.set(one.producer.kind, (kinds.get(one.producer.kind) ?? 0) + 1);
  }
  const own = (name) => !service || unquoted(partsOf(name)[0]) === service;
  const around = new Set([...edges.values()].filter((one) => own(one.from) || own(one.to)).flatMap((one) => [one.from, one.to]));
  const kept = [...inside].filter(([name]) => own(name) || around.has(name)).sort((a, b) => b[1].length - a[1].length);
  const names = new Set(kept.map(([name]) => name));
  const weight = ({ kinds }) => [...kinds.values()].reduce((sum, count) => sum + count, 0);
  const shown = [...edges.values()].filter((one) => names.has(one.from) && names.has(one.to));
  shown.sort((a, b) => weight(b) - weight(a));
  return {
    level: wanted,
    areas: inside.size,
    truncated: false,
    roots: [],
    window: {},
    nodes: kept.map(([name, some]) => areaNode(name, some, facts)),
    links: shown.length,
    edges: shown
      .slice(0, MOST_LINKS)
      .map(({ from, to, kinds }) => ({
        from,
        to,
        contributions: [...kinds].map(([kind, count]) => ({ producer: { kind, key: "" }, source: "", count, columns: [] })),
      })),
  };
}

function grouped(items, keyOf) {
  const found = new Map();
  for (const item of items) {
    const key = keyOf(item);
    if (found.has(key)) found.get(key).push(item);
    else found.set(key, [item]);
  }
  return found;
}

function areaNode(name, cards, facts) {
  const parts = partsOf(name).map(unquoted);
  const used = cards.filter((card) => facts.get(card.id).runs > 0);
  used.sort((a, b) => facts.get(b.id).runs - facts.get(a.id).runs || a.fqn.localeCompare(b.fqn));
  return {
    id: name,
    type: parts.length > 1 ? "databaseSchema" : "databaseService",
    name: parts[parts.length - 1],
    fullyQualifiedName: name,
    service: parts[0],
    database: parts.slice(1, -1).join("."),
    tables: cards.length,
    columns: used.slice(0, SHOWN_TABLES).map((card) => ({
      path: card.fqn.slice(name.length + 1),
      name: readable(unquoted(partsOf(card.fqn).pop())),
      dataType: many(facts.get(card.id).runs, "run"),
    })),
  };
}
