// What changed between two moments as rows: from a catalog's answer, or from the list that a page carries.

const KINDS = {
  entityAdded: ["added", "table"],
  entityDropped: ["removed", "table"],
  entityRenamed: ["changed", "table renamed"],
  columnAdded: ["added", "column"],
  columnDropped: ["removed", "column"],
  columnRetyped: ["changed", "type of column"],
  columnRenamed: ["changed", "column renamed"],
  edgeAdded: ["added", "table link"],
  edgeRemoved: ["removed", "table link"],
  columnEdgeAdded: ["added", "column link"],
  columnEdgeRemoved: ["removed", "column link"],
  columnEdgeChanged: ["changed", "expression"],
  columnEdgeUnseen: ["changed", "column link not seen any more"],
  "model added": ["added", "model"],
  "model dropped": ["removed", "model"],
  "source added": ["added", "source"],
  "source dropped": ["removed", "source"],
  "column added": ["added", "column"],
  "column dropped": ["removed", "column"],
  "column redefined": ["changed", "expression"],
};

/** The rows of a list from a catalog's answer about two moments: {change, what, name, entity, path, …}. */
export function rowsOfAnswer({ schemaChanges, lineageChanges }) {
  const path = (column, entity) => (column ? column.slice(entity.length + 1) : "");
  const type = (value) => (value === null || value === undefined ? "" : typeof value === "string" ? value : (value.dataType ?? ""));
  const schema = schemaChanges.map((one) => {
    const entity = one.entity.fullyQualifiedName;
    const texts = { before: type(one.before), after: type(one.after) };
    return { ...rowOf(one), name: one.column ?? entity, entity, path: path(one.column, entity), ...texts };
  });
  const lineage = lineageChanges.map((one) => ({
    ...rowOf(one),
    name: `${one.fromColumn ?? one.from} → ${one.toColumn ?? one.to}`,
    entity: one.to,
    path: path(one.toColumn, one.to),
    before: (one.before ?? []).join("; "),
    after: (one.after ?? []).join("; "),
  }));
  return [...schema, ...lineage].sort((a, b) => b.breaks.length - a.breaks.length);
}

function rowOf({ kind, reaches, breaking }) {
  const names = reaches.named.map((one) => one.name);
  const [change, what] = KINDS[kind];
  return { change, what, reaches: names, count: reaches.count, breaks: breaking ? names : [] };
}

/** The same from the list that a page of two manifests carries. */
export function rowsOfList(changes) {
  return changes.map(({ kind, name, entity, path, reaches, broken }) => {
    const [change, what] = KINDS[kind];
    return { change, what, name, entity, path, before: "", after: "", reaches, count: reaches.length, breaks: broken };
  });
}
