// What a column comes from and what it reaches: a tie is as strong as the weakest hop that it takes.
import { keyOf, originOf, splitKey } from "./model.mjs";

export const STRENGTHS = ["DIRECT", "INDIRECT", "TABLE"];

/** Links by the column they leave and by the column they enter. */
export function adjacency(links) {
  const out = new Map();
  const into = new Map();
  const made = new Map(); // column -> the origins of the statements that give it
  const add = (map, key, link) => (map.has(key) ? map.get(key).push(link) : map.set(key, [link]));
  for (const link of links) {
    add(out, link.from, link);
    add(into, link.to, link);
    if (link.toPath) for (const { contribution } of link.said) add(made, link.to, originOf(contribution));
    // a filter on a table's rows has its say in every column that is read from it
    const [card] = splitKey(link.from);
    if (link.from !== keyOf(card, "")) add(out, `${card}\n*`, link);
  }
  return { out, into, made };
}

function strengthOf(link) {
  if (!link.certain) return 2;
  if (link.direct) return 0;
  return link.indirect ? 1 : 2;
}

/** What filters a statement's rows has a say in the columns that the statement gives, and in no others. */
function givesColumn(ties, link, key) {
  const origins = ties.made.get(key);
  return !origins || link.said.some((said) => !said.column || origins.includes(originOf(said.contribution)));
}

function following(ties, key, upstream) {
  const [card, path] = splitKey(key);
  if (upstream) {
    const ofRows = path ? (ties.into.get(keyOf(card, "")) ?? []) : [];
    return [...(ties.into.get(key) ?? []), ...ofRows.filter((link) => givesColumn(ties, link, key))];
  }
  if (path) return ties.out.get(key) ?? [];
  return [...(ties.out.get(key) ?? []), ...(ties.out.get(`${card}\n*`) ?? [])];
}

/** Everything on one side of `start`: key -> {strength, hops, link (the last one), before}; nearest path, strongest tie. */
export function walk(ties, start, upstream) {
  const found = new Map();
  for (let strength = 0; strength < STRENGTHS.length; strength++) {
    const paths = new Map([[start, { strength, hops: 0, link: null, before: null }]]);
    let frontier = [start];
    while (frontier.length) {
      const next = [];
      for (const key of frontier) {
        for (const link of following(ties, key, upstream)) {
          const other = upstream ? link.from : link.to;
          if (strengthOf(link) > strength || paths.has(other)) continue;
          paths.set(other, { strength, hops: paths.get(key).hops + 1, link, before: key });
          next.push(other);
        }
      }
      frontier = next;
    }
    for (const [key, step] of paths) {
      if (key === start || found.has(key)) continue;
      found.set(key, { ...step, path: pathTo(paths, key, upstream) });
    }
  }
  return found;
}

function pathTo(paths, key, upstream) {
  const path = [];
  for (let at = key; at !== null; at = paths.get(at).before) path.push(at);
  return upstream ? path : path.reverse();
}

/** Columns and links to light for the given columns: key -> strength, link key -> strength. */
export function lit(ties, starts) {
  const columns = new Map();
  const links = new Map();
  const note = (map, key, strength) => map.set(key, Math.min(strength, map.get(key) ?? Infinity));
  for (const start of starts) {
    note(columns, start, 0);
    for (const upstream of [true, false]) {
      const found = walk(ties, start, upstream);
      const reached = new Map([...found].map(([key, step]) => [key, step.strength]));
      reached.set(start, 0);
      for (const [key, strength] of reached) {
        note(columns, key, strength);
        for (const link of following(ties, key, upstream)) {
          const other = upstream ? link.from : link.to;
          if (reached.has(other)) note(links, link.key, Math.max(strength, strengthOf(link)));
        }
      }
    }
  }
  return { columns, links };
}

/** What changes when a column changes, as rows: nearest first. */
export function impact(ties, start) {
  return [...walk(ties, start, false)]
    .map(([key, step]) => ({ key, type: STRENGTHS[step.strength], depth: step.hops, path: step.path }))
    .sort((a, b) => a.depth - b.depth || a.key.localeCompare(b.key));
}

/** The light of some links alone. */
export function litOnly(links) {
  const columns = new Map(
    links.flatMap((link) => [
      [link.from, link.direct ? 0 : 1],
      [link.to, 0],
    ]),
  );
  return { columns, links: new Map(links.map((link) => [link.key, 0])) };
}

/** The light of one way, link by link: {from, to, direct, keys (of the links that may show it)}. */
export function litAlong(way) {
  const columns = new Map(way.flatMap((one) => [one.from, one.to].map((key) => [key, one.direct ? 0 : 1])));
  if (way.length) columns.set(way[way.length - 1].to, 0);
  return { columns, links: new Map(way.flatMap((one) => one.keys.map((key) => [key, 0]))) };
}

/** The graph and the links that a light falls on. */
export function onPaths(graph, all, { columns, links }) {
  const cards = new Set([...columns.keys()].map((key) => splitKey(key)[0]));
  const kept = new Map([...graph.cards].filter(([id]) => cards.has(id)));
  return [{ ...graph, cards: kept }, all.filter((link) => links.has(link.key))];
}

/** The keys on the shortest of the strongest ways from one end to another, or from that to the first, and whether values flow. */
export function wayBetween(ties, start, end) {
  for (const [one, other] of [
    [start, end],
    [end, start],
  ]) {
    const [card, path] = splitKey(other);
    const ends = [...walk(ties, one, false)].filter(([key]) => (path ? key === other : splitKey(key)[0] === card)).map(([, step]) => step);
    ends.sort((a, b) => a.strength - b.strength || a.hops - b.hops);
    if (ends.length) return { keys: ends[0].path, direct: ends[0].strength === 0 };
  }
  return null;
}
