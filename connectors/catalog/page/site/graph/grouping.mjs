// Many tables as few: what is not near to what a picture is about, by schema, on either side of it.

const BESIDE = "beside";

/**
 * The groups of a graph: of each card that is in one, its group ({id, side, schema, members}).
 *
 * `kept` are cards that stand alone; `near`: those beside the roots do too; `opened` are ids of groups that were opened.
 */
export function groupsOf(graph, { kept, near, opened }) {
  const sides = sidesOf(graph);
  const alone = new Set([...graph.roots, ...kept]);
  if (near) for (const edge of graph.edges) for (const id of besideRoots(graph, edge)) alone.add(id);
  const groups = new Map();
  for (const { id, schema } of graph.cards.values()) {
    if (alone.has(id)) continue;
    const side = sides.get(id) ?? BESIDE;
    const key = `${side} ${schema}`;
    if (!groups.has(key)) groups.set(key, { id: `group ${key}`, side, schema, members: [] });
    groups.get(key).members.push(id);
  }
  const found = [...groups.values()].filter((group) => group.members.length > 1 && !opened.includes(group.id));
  return new Map(found.flatMap((group) => group.members.map((id) => [id, group])));
}

function besideRoots({ roots }, { from, to }) {
  return roots.includes(from) ? [to] : roots.includes(to) ? [from] : [];
}

/** On which side of the roots each card is: what they come from before what comes of them. */
function sidesOf({ roots, edges }) {
  const sides = new Map();
  for (const [side, here, there] of [
    ["upstream", "to", "from"],
    ["downstream", "from", "to"],
  ]) {
    const next = new Map();
    for (const edge of edges) next.set(edge[here], [...(next.get(edge[here]) ?? []), edge[there]]);
    const waiting = [...roots];
    for (const id of waiting) {
      for (const other of next.get(id) ?? []) {
        if (sides.has(other) || roots.includes(other)) continue;
        sides.set(other, side);
        waiting.push(other);
      }
    }
  }
  return sides;
}

/** A group as a card that stands for its tables. */
export function groupCard({ id, side, schema, members }) {
  const words = { upstream: "before", downstream: "after", beside: "beside" };
  return {
    id,
    fqn: id,
    name: schema || "(no schema)",
    title: schema,
    schema: `${members.length} tables ${words[side]}`,
    kind: "databaseSchema",
    tables: members.length,
    columns: [],
    tags: [],
    derived: new Map(),
    hidden: { upstream: 0, downstream: 0 },
    coverage: null,
    group: true,
  };
}
