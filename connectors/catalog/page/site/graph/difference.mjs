// Two moments of a graph as one: what appeared, went or changed, each in its place.
import { kindOf, linksOf } from "./model.mjs";

export const ADDED = "added";
export const REMOVED = "removed";
export const CHANGED = "changed";

/** What stands beside a colour, so that no one needs to see that. */
export const GLYPHS = { added: "+", removed: "−", changed: "~" };

/** One graph of the same cards before and after; its edges are those after, `before.edges` the others. */
export function difference(before, after) {
  const ids = new Set([...after.cards.keys(), ...before.cards.keys()]);
  const [then, now] = [presence(before), presence(after)];
  const cards = new Map();
  for (const id of ids) {
    const [old, young] = [before.cards.get(id), after.cards.get(id)];
    const [was, is] = [then(old), now(young)];
    if (!was && !is && !after.roots.includes(id)) continue;
    cards.set(id, mergedCard(old, young, { was, is }));
  }
  return { ...after, cards, edges: within(after.edges, cards), before: { edges: within(before.edges, cards) } };
}

/** The edges between cards that are there. */
export function within(edges, cards) {
  return edges.filter((edge) => cards.has(edge.from) && cards.has(edge.to));
}

/** Whether a card was there: what nobody had told of yet was, where lineage speaks of it. */
function presence({ edges }) {
  const touched = new Set(edges.flatMap((edge) => [edge.from, edge.to]));
  return (card) => Boolean(card) && !card.gone && (!card.assumed || touched.has(card.id));
}

function mergedCard(old, young, { was, is }) {
  const base = is || !old ? young : old;
  const hidden = (young ?? old).hidden;
  if (was !== is) return { ...base, hidden, gone: !is, change: is ? ADDED : REMOVED };
  if (!old || !young || old.assumed || young.assumed) return { ...base, hidden };
  const columns = mergedColumns(old.columns, young.columns);
  return { ...base, hidden, columns, change: columns.some((column) => column.change) ? CHANGED : null };
}

/** The columns after, each that went behind the one that it stood behind. */
function mergedColumns(old, young) {
  const known = new Map(old.map((column) => [column.path, column]));
  const columns = young.map((column) => markedColumn(known.get(column.path), column));
  old.forEach((column, at) => {
    if (young.some((one) => one.path === column.path)) return;
    const ahead = at ? columns.findIndex((one) => one.path === old[at - 1].path) : -1;
    columns.splice(ahead + 1, 0, { ...column, change: REMOVED });
  });
  return columns;
}

function markedColumn(old, column) {
  if (!old) return { ...column, change: ADDED };
  if (old.type === column.type) return column;
  return { ...column, type: `${old.type} → ${column.type}`, change: CHANGED };
}

/** The links of a graph; of two moments those of both, each with its `change` and what was said `then`. */
export function linksIn(graph, filter) {
  const links = linksOf(graph, filter);
  if (!graph.before) return links;
  const edges = within(graph.before.edges, graph.cards);
  const then = new Map(linksOf({ cards: graph.cards, edges }, filter).map((link) => [link.key, link]));
  for (const link of links) {
    const old = then.get(link.key);
    then.delete(link.key);
    link.change = !old ? ADDED : wording(old) === wording(link) ? null : CHANGED;
    link.then = old?.said ?? [];
  }
  return [...links, ...[...then.values()].map((link) => ({ ...link, change: REMOVED, then: link.said }))];
}

function wording(link) {
  const ways = link.said.map(({ column }) => `${column?.type} ${column?.subtype} ${column?.expression ?? ""}`);
  return JSON.stringify([kindOf(link), link.certain, Boolean(link.unseen), [...new Set(ways)].sort()]);
}

/** The change of several things together: theirs, where it is the same, else a change. */
export function changeOf(changes) {
  const [first] = changes;
  if (changes.every((one) => (one ?? null) === (first ?? null))) return first ?? null;
  return CHANGED;
}

/** Of each pair of tables (`from` and `to`, a line each) that differs, how: their links, or else one of them. */
export function changedPairs(graph, links) {
  const changes = new Map();
  for (const link of links) {
    const key = `${link.fromCard}\n${link.toCard}`;
    if (changes.has(key)) changes.get(key).push(link.change);
    else changes.set(key, [link.change]);
  }
  const found = new Map();
  for (const [key, some] of changes) if (changeOf(some)) found.set(key, changeOf(some));
  return found;
}

/** The expressions of what was said, for people. */
export function expressionsOf(said) {
  return [...new Set(said.map(({ column }) => column?.expression).filter(Boolean))];
}

/** How much differs between the two moments of a picture, in words. */
export function differenceText(graph, links) {
  const cards = [...graph.cards.values()];
  const columns = cards.flatMap((card) => (card.change === CHANGED ? card.columns : []));
  const parts = [
    ["table", cards.filter((card) => card.change !== CHANGED)],
    ["column", columns],
    ["link", links],
  ].flatMap(([what, things]) =>
    [ADDED, REMOVED, CHANGED].map((change) => counted(things.filter((one) => one.change === change).length, what, change)),
  );
  const said = parts.filter(Boolean).join(", ") || "nothing changed here";
  const beyond = cards.reduce((sum, { hidden }) => sum + (hidden.changed?.upstream ?? 0) + (hidden.changed?.downstream ?? 0), 0);
  return beyond ? `${said}; ${beyond} more changed beside these tables, behind their ±` : said;
}

function counted(count, what, change) {
  return count ? `${count} ${what}${count === 1 ? "" : "s"} ${change}` : "";
}
