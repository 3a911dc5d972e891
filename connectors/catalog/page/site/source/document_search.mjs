// The catalog's search, over the tables and columns of the document that a page carries.
import { ALIKE, INSIDE, rankOf, searched, wordsOf } from "../graph/matching.mjs";
import { partsOf, readable, unquoted } from "../graph/model.mjs";
import { admission, inOrder, parsed, tagged } from "../graph/narrowing.mjs";

/** Cards with their names as they are searched. */
export function searchable(cards) {
  return [...cards.values()].map((card) => ({
    card,
    called: searched(card.name),
    around: qualifiers(partsOf(card.fqn).slice(0, -1)),
    full: qualifiers(partsOf(card.fqn)),
    columns: card.columns.map((column) => ({ column, called: searched(column.name) })),
  }));
}

/** What a search text finds among searchable cards, of which `facts` are known: the best, at most `limit`. */
export function searchIn(names, facts, text, limit) {
  const { words, filters, order } = parsed(text);
  const asked = { words: wordsOf(words), plain: searched(words).plain };
  const all = [...facts.values()];
  const [admitted, tags] = [admission(filters, all), tagged(filters, all)];
  const rank = words ? rankOf : () => 0;
  const results = [];
  for (const { card, called, around, full, columns } of names) {
    const own = facts.get(card.id);
    if (!admitted(own)) continue;
    const note = (kind, name, path, rank) =>
      rank === null || results.push({ kind, name, path, rank, entity: card.fqn, type: card.kind, facts: own, use: own });
    note("entity", unquoted(partsOf(card.fqn).pop()), "", rank(asked, called, around));
    if (!words && !tags.asked) continue;
    for (const { column, called: spelled } of columns)
      if (!tags.asked || tags.fits(column.tags)) note("column", column.name, column.path, rank(asked, spelled, full));
  }
  if (order || (!words && filters.length)) return inOrder(results, order ?? "used").slice(0, limit);
  return bestOf(results, limit);
}

function qualifiers(parts) {
  const names = parts.map((part) => readable(unquoted(part)));
  return { words: names.flatMap((name) => searched(name).words), last: searched(names[names.length - 1] ?? "").plain };
}

/** Tables before columns that fit as well; names that are only spelled alike where nothing else was found. */
function bestOf(found, limit) {
  const exact = found.filter((one) => one.rank !== ALIKE);
  const ranked = (exact.length ? exact : found).sort(
    (a, b) => a.rank - b.rank || a.name.length - b.name.length || a.entity.localeCompare(b.entity),
  );
  const columns = ranked.filter((one) => one.path);
  const tables = ranked.filter((one) => !one.path).slice(0, limit - Math.min(columns.length, limit >> 2));
  return [...tables, ...columns.slice(0, limit - tables.length)].sort(
    (a, b) => (a.rank === INSIDE) - (b.rank === INSIDE) || Boolean(a.path) - Boolean(b.path),
  );
}
