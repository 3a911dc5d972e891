// Words for what the catalog calls by short names of its own.

const KNOWN_FROM = {
  query: "query",
  view: "view definition",
  dbt: "dbt model",
  procedure: "procedure",
  external_table: "files of an external table",
  plan: "Spark plan",
  engine: "record of the engine",
  edge_list: "list of links",
  manual: "entered by hand",
  openlineage: "OpenLineage event",
};

/** Kinds of links. */
export const KIND_NAMES = { direct: "direct", indirect: "indirect", both: "direct and indirect", table: "tables only" };

/** What a link is known from, by the kind of its producer. */
export function knownFrom(kind) {
  return KNOWN_FROM[kind] ?? kind.replaceAll("_", " ");
}
