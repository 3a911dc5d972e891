// How well a name fits what is searched for: the whole of it, its words, a part, or words with one slip of the finger.

const WHOLE = 0;
const WORDS = 1;
export const INSIDE = 2;
export const ALIKE = 3;
const SHORTEST_MISSPELLED = 4;

function folded(text) {
  return text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase();
}

function runs(text) {
  return folded(text).match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** The words of a name, without accents and case: what `_`, signs and capitals set apart. */
export function wordsOf(name) {
  return runs(name.replace(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, " "));
}

/** A name as it is searched: its words, and the whole of it without what joins them. */
export function searched(name) {
  const apart = runs(name);
  return { words: [...new Set([...wordsOf(name), ...apart])], plain: apart.join("") };
}

/** Whether two words differ by one letter: another one, one more, one less, or two that changed places. */
export function oneSlipApart(one, other) {
  if (one.length > other.length) return oneSlipApart(other, one);
  if (other.length - one.length > 1) return false;
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  if (one.length < other.length) return one.slice(at) === other.slice(at + 1);
  const swapped = one[at] === other[at + 1] && one[at + 1] === other[at] && one.slice(at + 2) === other.slice(at + 2);
  return one.slice(at + 1) === other.slice(at + 1) || swapped;
}

const begins = (word) => (known) => known.startsWith(word);
const alike = (word) => (known) =>
  known.startsWith(word) || (word.length >= SHORTEST_MISSPELLED && oneSlipApart(word, known));

/** The rank of a name, lower is better, null where it does not fit; `around` is what qualifies it, its last part alone in `last`. */
export function rankOf(asked, name, around) {
  if (asked.plain && [name.plain, around.last + name.plain].includes(asked.plain)) return WHOLE;
  const fits = (same) =>
    asked.words.length > 0 &&
    asked.words.some((word) => name.words.some(same(word))) &&
    asked.words.every((word) => name.words.some(same(word)) || around.words.some(same(word)));
  if (fits(begins)) return WORDS;
  if (asked.plain && name.plain.includes(asked.plain)) return INSIDE;
  return fits(alike) ? ALIKE : null;
}

/** Where in a name the searched words stand, as [start, end], in order. */
export function placesOf(name, text) {
  const letters = [...name].map((letter) => folded(letter)[0] ?? letter);
  const line = letters.join("");
  if (line.length !== name.length) return [];
  const found = [];
  for (const word of runs(text)) {
    const begin = new RegExp(`(?<![\\p{L}\\p{N}])${word}`, "u").exec(line)?.index ?? line.indexOf(word);
    if (begin >= 0 && !found.some(([start, end]) => begin < end && begin + word.length > start))
      found.push([begin, begin + word.length]);
  }
  return found.sort((a, b) => a[0] - b[0]);
}
