// Where the evidence disagrees, as the catalog answers it, worked out from the document that a page carries.

/** Links that one kind of evidence has and another has not; what that has instead. */
export function disagreementsOf({ cards, edges }) {
  const verdicts = edges.flatMap((edge) => (edge.verdicts ?? []).map((one) => ({ ...one, table: cards.get(edge.to).fqn })));
  const spoken = verdicts.filter((one) => one.to);
  const disputed = spoken.filter((one) => one.notBy.length);
  const instead = ({ to, notBy }) =>
    notBy.map((who) => [who, spoken.filter((one) => one.to === to && one.seenBy.includes(who)).map((one) => one.from)]);
  return {
    tables: new Set(spoken.map((one) => one.table)).size,
    counts: { disputed: disputed.length },
    disagreements: disputed.map((one) => ({ ...one, instead: Object.fromEntries(instead(one)) })),
    truncated: false,
  };
}
