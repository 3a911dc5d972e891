// Which tables a picture shows: those whose owner, tag, tier and type are the chosen ones.
const TIER = "Tier.";

/** What of a card each choice looks at. */
const VALUES = {
  owner: (card) => card.owners,
  tag: (card) => [...new Set([...card.tags, ...card.columns.flatMap((column) => column.tags)])].filter((tag) => !tag.startsWith(TIER)),
  tier: (card) => card.tags.filter((tag) => tag.startsWith(TIER)).map((tag) => tag.slice(TIER.length)),
  type: (card) => [card.kind],
};

export const CHOICES = Object.keys(VALUES);

/** The values that there are of a choice, each with how many cards have it, the most frequent first. */
export function valuesOf(graph, choice) {
  const counts = new Map();
  for (const card of graph.cards.values()) for (const value of VALUES[choice](card)) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
}

/** The cards that a view shows; what the picture is about always is one. */
export function chosenCards({ cards, roots }, { hiddenSchemas, only }) {
  const asked = Object.entries(only).filter(([, value]) => value);
  const fits = (card) => roots.includes(card.id) || asked.every(([choice, value]) => VALUES[choice](card).includes(value));
  return [...cards.values()].filter((card) => !hiddenSchemas.includes(card.schema) && fits(card));
}
