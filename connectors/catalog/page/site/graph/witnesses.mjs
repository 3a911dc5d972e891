// Who says a link, and who has other columns in its place: as the document has it, or else who says it at all.

const known = new WeakMap(); // the verdicts of an edge between tables, by the ends and the type of a link

function keyOf(from, to, type) {
  return JSON.stringify([from, to, type]);
}

function verdictsOf(edge) {
  if (!known.has(edge)) {
    known.set(edge, new Map((edge.verdicts ?? []).map((one) => [keyOf(one.from, one.to, one.type), one])));
  }
  return known.get(edge);
}

/** The verdict of a document on one edge of columns, by full names; undefined where it has none. */
export function verdictIn(edge, from, to, type) {
  return verdictsOf(edge).get(keyOf(from, to, type));
}

/** The verdict as `ingest explain` tells it. */
export function verdictText({ seenBy, notBy }) {
  return `seen by: ${seenBy.join(", ")}${notBy.length ? `; not by: ${notBy.join(", ")}` : ""}`;
}

/** The verdict on a link from one column to another: `seenBy` and `notBy`, names of witnesses. */
export function verdictOf(link, [source, target]) {
  const full = (card, path) => (path ? `${card.fqn}.${path}` : null);
  const type = link.direct ? "DIRECT" : link.indirect ? "INDIRECT" : "TABLE";
  const found = verdictIn(link.said[0].edge, full(source, link.fromPath), full(target, link.toPath), type);
  const saying = link.said.map(({ contribution }) => contribution.witness).filter(Boolean);
  return found ?? { seenBy: [...new Set(saying)], notBy: [] };
}

/** Whether a filter (`engine`, `!log`, `disputed`; "": any) lets a verdict through. */
export function admits(wanted, { seenBy, notBy }) {
  if (!wanted) return true;
  if (wanted === "disputed") return notBy.length > 0;
  return wanted.startsWith("!") ? !seenBy.includes(wanted.slice(1)) : seenBy.includes(wanted);
}

/** The witnesses that speak in a graph. */
export function witnessesOf(graph) {
  const said = graph.edges.flatMap((edge) => edge.contributions.map((one) => one.witness));
  return [...new Set(said.filter(Boolean))].sort();
}
