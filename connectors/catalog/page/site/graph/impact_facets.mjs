// What is chosen of everything downstream, as the catalog chooses it: by degree, how it is tied, owner, tag, tier, type, service, schema.
import { partsOf, unquoted } from "./model.mjs";

const TIER = "Tier.";
const FAR = 3;
const HOW = { DIRECT: "direct", INDIRECT: "indirect", TABLE: "table" };
const WITH_SCHEMA = ["table", "view"];

/** What of a row each facet looks at. */
const VALUES = {
  degree: (row) => [row.depth >= FAR ? `${FAR}+` : String(row.depth)],
  how: (row) => [HOW[row.type]],
  owner: (row) => row.owners,
  tag: (row) => [...new Set(row.tags)].filter((tag) => !tag.startsWith(TIER)),
  tier: (row) => [...new Set(row.tags)].filter((tag) => tag.startsWith(TIER)).map((tag) => tag.slice(TIER.length)),
  type: (row) => [row.kind],
  service: (row) => [unquoted(partsOf(row.table)[0])],
  schema: (row) => (WITH_SCHEMA.includes(row.kind) ? [partsOf(row.table).slice(0, -1).join(".")] : []),
};

export const FACETS = Object.keys(VALUES);

/** The words of what is chosen ({facet: [value]}), as the catalog is asked: `owner:ann`. */
export function wordsOfChoice(only) {
  return Object.entries(only).flatMap(([facet, values]) => values.map((value) => `${facet}:${value}`));
}

/** The rows that are chosen, and how many have each value of each facet, whatever is chosen of that one. */
export function chosenRows(rows, only) {
  const missed = (row) => FACETS.filter((facet) => only[facet]?.length && !VALUES[facet](row).some((value) => only[facet].includes(value)));
  const known = rows.map((row) => [row, missed(row)]);
  const facets = Object.fromEntries(
    FACETS.map((facet) => [facet, counted(known.filter(([, misses]) => misses.every((one) => one === facet)).flatMap(([row]) => VALUES[facet](row)), facet)]),
  );
  return { rows: known.filter(([, misses]) => !misses.length).map(([row]) => row), facets };
}

function counted(values, facet) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const found = [...counts].map(([value, count]) => ({ value, count }));
  return found.sort((a, b) => (facet === "degree" ? 0 : b.count - a.count) || a.value.localeCompare(b.value));
}
