// Filters within a search, such as `tag:PII owner:ann used:>100 stale:30d`: read from its text, written into it, tried on tables.
import { wordsOf } from "./matching.mjs";

const FIELDS = "tag|owner|producer|service|used|readers|new|stale|unread|sort";
const FILTER = new RegExp(`(?<!\\S)(-?)(${FIELDS}):(?:"([^"]*)"?|(\\S*))`, "gi");
const UNFINISHED = new Set(["", ">", "<", ">=", "<="]);
const ORDERS = ["used", "readers", "new", "stale", "name"];
const DAY = 86_400_000;
const UNITS = { h: DAY / 24, d: DAY, w: 7 * DAY, m: 30 * DAY, y: 365 * DAY };

/** The words of a search, its filters ({field, value, negated}) and its order (null: best first). */
export function parsed(text) {
  const filters = [];
  let order = null;
  for (const [, no, name, quoted, bare] of text.matchAll(FILTER)) {
    const [field, value] = [name.toLowerCase(), quoted ?? bare];
    if (UNFINISHED.has(value)) continue;
    if (field !== "sort") filters.push({ field, value, negated: Boolean(no) });
    else if (ORDERS.includes(value.toLowerCase())) order = value.toLowerCase();
    else throw new Error(`sort:${value}: there is ${ORDERS.join(", ")}`);
  }
  return { words: text.replace(FILTER, " ").split(/\s+/).filter(Boolean).join(" "), filters, order };
}

/** The search with a filter set to a value, or (empty value) without it. */
export function withFilter(text, field, value) {
  const kept = text.replace(FILTER, (whole, no, name) => (name.toLowerCase() === field && !no ? "" : whole));
  const written = /[\s"]/.test(value) ? `"${value.replaceAll('"', "")}"` : value;
  return [...kept.split(/\s+/).filter(Boolean), value && `${field}:${written}`].filter(Boolean).join(" ");
}

/** The value of a filter in a search, "" where it is not there. */
export function filterValue(text, field) {
  const found = [...text.matchAll(FILTER)].find(([, no, name]) => name.toLowerCase() === field && !no);
  return found ? (found[3] ?? found[4]) : "";
}

/** Whether a name has all words of what is asked for, or their beginnings. */
function named(asked, names) {
  const wanted = wordsOf(asked);
  return names.some((name) => {
    const words = wordsOf(name);
    return wanted.length > 0 && wanted.every((word) => words.some((one) => one.startsWith(word)));
  });
}

function exactly(asked, known) {
  const same = known.filter((name) => name.toLowerCase() === asked.toLowerCase());
  return same.length ? (names) => names.some((name) => same.includes(name)) : (names) => named(asked, names);
}

/** The least and the most that `>100`, `<=5`, `10..20` or `100` (at least that) allow. */
function range({ field, value }) {
  const [, low, high] = /^(\d+)\.\.(\d+)$/.exec(value) ?? [];
  if (low) return [Number(low), Number(high)];
  const [, sign, digits] = /^(>=|<=|>|<|)(\d+)$/.exec(value) ?? [];
  if (digits === undefined) throw new Error(`${field}:${value}: give a number as in >100, <5 or 10..20`);
  const number = Number(digits);
  if (sign.startsWith("<")) return [0, sign === "<" ? number - 1 : number];
  return [sign === ">" ? number + 1 : number, Infinity];
}

/** The moment that `30d`, `4w` or `2026-10-01` mean, seen from `now`. */
function moment({ field, value }, now) {
  const [, number, unit] = /^[<>=]*(\d+)([hdwmy])$/i.exec(value) ?? [];
  if (number) return now - Number(number) * UNITS[unit.toLowerCase()];
  const date = /^\d{4}-\d{2}-\d{2}$/.test(value) ? Date.parse(`${value}T00:00:00Z`) : NaN;
  if (Number.isNaN(date)) throw new Error(`${field}:${value}: give an age as in 30d, 4w, 6m, or a date as in 2026-10-01`);
  return date;
}

/**
 * What lets a table through: a function of its facts {tags, columnTags, owners, producers, service, runs, readers, lastWritten}.
 *
 * `all` are the facts of every table: a name that is a label is that label and no other.
 */
export function admission(filters, all) {
  const known = (key) => [...new Set(all.flatMap((facts) => facts[key]))];
  const newest = Math.min(Date.now(), Math.max(...all.map((facts) => facts.lastWritten ?? 0)));
  const tests = filters.map((filter) => {
    const { field, value, negated } = filter;
    const test = {
      tag: () => exactly(value, [...known("tags"), ...known("columnTags")]),
      owner: () => exactly(value, known("owners")),
      producer: () => exactly(value, known("producers")),
      service: () => (facts) => facts.service.toLowerCase() === value.toLowerCase(),
      used: () => within(range(filter), "runs"),
      readers: () => within(range(filter), "readers"),
      stale: () => (facts) => facts.lastWritten !== null && facts.lastWritten < moment(filter, newest),
      new: () => {
        throw new Error("new: only the catalog itself knows when tables appeared");
      },
      unread: () => {
        throw new Error("unread: only the catalog itself knows who reads tables");
      },
    }[field]();
    const lists = { tag: ({ tags, columnTags }) => [...tags, ...columnTags], owner: (facts) => facts.owners };
    const list = { ...lists, producer: (facts) => facts.producers }[field];
    return (facts) => Boolean(test(list ? list(facts) : facts)) !== negated;
  });
  return (facts) => tests.every((test) => test(facts));
}

/** Whether a column of these tags is one that the tags of a search are about. */
export function tagged(filters, all) {
  const tests = filters
    .filter((one) => one.field === "tag" && !one.negated)
    .map((one) => exactly(one.value, [...new Set(all.flatMap((facts) => [...facts.tags, ...facts.columnTags]))]));
  return { asked: tests.length > 0, fits: (tags) => tests.every((test) => test(tags)) };
}

function within([low, high], key) {
  return (facts) => facts[key] >= low && facts[key] <= high;
}

/** Puts results ({kind, entity, facts}) in an order; tables before columns, what is not known last. */
export function inOrder(results, order) {
  const value = {
    used: (one) => -one.facts.runs,
    readers: (one) => -one.facts.readers,
    stale: (one) => one.facts.lastWritten ?? Infinity,
    name: () => 0,
    new: () => 0,
  }[order];
  return results.sort(
    (a, b) => Boolean(a.path) - Boolean(b.path) || value(a) - value(b) || a.entity.localeCompare(b.entity),
  );
}
