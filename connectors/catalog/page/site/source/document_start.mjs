// Tables to begin with, as the catalog lists them, worked out from the document that a page carries.
const SHOWN = 8;
const FAILED = ["Failed", "Aborted"];
const REASONS = { table: "columns unknown", none: "not written" };

/** Tables that changed lately, are used most, failed lately, are not covered; `facts` is what searches narrow by. */
export function startListsOf(graph, facts) {
  const cards = [...graph.cards.values()].filter((card) => !card.gone);
  const use = (card) => facts.get(card.id);
  const byUse = (a, b) => use(b).runs - use(a).runs || use(b).readers - use(a).readers || a.fqn.localeCompare(b.fqn);
  const read = cards.filter((card) => use(card).runs || use(card).readers).sort(byUse);
  const open = cards.filter((card) => card.coverage).sort((a, b) => use(b).readers - use(a).readers || a.fqn.localeCompare(b.fqn));
  return {
    changed: changesOf(graph),
    used: read.slice(0, SHOWN).map((card) => row(card, null, "", use(card))),
    failed: failuresOf(cards),
    uncovered: open.slice(0, SHOWN).map((card) => row(card, null, REASONS[card.coverage], { readers: use(card).readers })),
  };
}

function row(card, at, what, { runs = 0, readers = 0 } = {}) {
  return { entity: card.fqn, at, what, runs, readers };
}

/** Tables that something else is known to make since. */
function changesOf(graph) {
  const since = new Map();
  for (const { from, to, contributions } of graph.edges) {
    if (from === to) continue;
    since.set(to, [...(since.get(to) ?? []), ...contributions.map((one) => one.since ?? one.firstSeen ?? 0)]);
  }
  return [...since]
    .map(([id, times]) => ({ id, first: Math.min(...times), at: Math.max(...times) }))
    .filter(({ first, at }) => at > first)
    .sort((a, b) => b.at - a.at)
    .slice(0, SHOWN)
    .map(({ id, at }) => row(graph.cards.get(id), at, "made in another way"));
}

/** Tables of which a test failed last. */
function failuresOf(cards) {
  const failing = cards.flatMap((card) => card.tests.filter((test) => FAILED.includes(test.status)).map((test) => ({ card, test })));
  failing.sort((a, b) => b.test.at - a.test.at);
  return failing.slice(0, SHOWN).map(({ card, test }) => {
    const failed = test.failedRows ? ` (${test.failedRows} rows)` : "";
    return row(card, test.at, `test ${test.name} failed${failed}`);
  });
}
