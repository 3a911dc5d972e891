// Masked SQL as elements: words of the language set apart, and the expression behind an edge marked.
import { html } from "../base/dom.mjs";
import { visible } from "../graph/model.mjs";

const TOKEN =
  /(\/\*[\s\S]*?\*\/|--[^\n]*)|("[^"]*"|`[^`]*`|\[[A-Za-z_][^\]\n]*\])|('(?:[^']|'')*')|([A-Za-z_$#@][\w$#@]*|[^\x00-\x7f]+)|(\d+(?:\.\d+)?)|(\s+)|([\s\S])/g;
const KINDS = ["comment", "name", "literal", "word", "number", "space", "sign"];
const KEYWORDS = new Set(
  (
    "all alter and any as asc between by case cast copy create cross delete desc distinct drop else end except exists external " +
    "false filter first from full group grouping having if in inner insert intersect into interval is join last lateral left like " +
    "limit materialized merge minus natural not null nulls offset on or order outer over overwrite partition pivot preceding " +
    "procedure qualify range recursive replace returning right rollup row rows select set sets table temp temporary then true " +
    "truncate unbounded union unique unnest unpivot update using values view when where window with within"
  ).split(" "),
);

/** Tokens as {kind, text, at}. */
export function tokens(text) {
  return [...text.matchAll(TOKEN)].map((match) => ({
    kind: KINDS[match.slice(1).findIndex((part) => part !== undefined)],
    text: match[0],
    at: match.index,
  }));
}

function bare(token) {
  return token.text.replace(/^["`[]|["`\]]$/g, "").toLowerCase();
}

/** Tokens that mean something, without what qualifies a name: `a.b.c` counts as `c`. */
function essential(list) {
  const solid = list.filter((token) => token.kind !== "space" && token.kind !== "comment");
  const kept = [];
  for (let at = 0; at < solid.length; at++) {
    const named = solid[at].kind === "word" || solid[at].kind === "name";
    if (named && solid[at + 1]?.text === "." && solid[at + 2] && solid[at + 2].text !== "*") {
      at++;
      continue;
    }
    kept.push({ ...solid[at], word: bare(solid[at]) });
  }
  return kept;
}

/**
 * Where the expression behind an edge stands in `text`, as [[start, end]].
 *
 * As it is written; else the item of a SELECT that is called like the target `to` (best one that names `from`); else
 * wherever `from` is named.
 */
export function marks(text, expression, { from, to }) {
  const words = essential(tokens(text));
  const wanted = expression ? essential(tokens(expression)).map((token) => token.word) : [];
  const found = [];
  if (wanted.length > 1) {
    for (let at = 0; at + wanted.length <= words.length; at++) {
      if (!wanted.every((word, i) => words[at + i].word === word)) continue;
      const last = words[at + wanted.length - 1];
      found.push([startOf(text, words[at].at), last.at + last.text.length]);
    }
  }
  if (found.length) return found;
  const items = to ? itemsCalled(text, to.toLowerCase()) : [];
  const telling = items.filter((item) => item.words.has(from?.toLowerCase()));
  if (telling.length || items.length) return (telling.length ? telling : items.slice(0, 1)).map((item) => item.range);
  const names = words.filter((word) => word.word === from?.toLowerCase());
  return names.map((word) => [startOf(text, word.at), word.at + word.text.length]);
}

/** The expressions that a query calls `name`: from the comma or SELECT before them to their AS. */
function itemsCalled(text, name) {
  const list = tokens(text).filter((token) => token.kind !== "space" && token.kind !== "comment");
  const found = [];
  for (let at = 1; at < list.length; at++) {
    if (bare(list[at]) !== name || bare(list[at - 1]) !== "as") continue;
    let start = at - 1;
    for (let depth = 0; start > 0; start--) {
      const before = list[start - 1];
      depth += before.text === ")" ? 1 : before.text === "(" ? -1 : 0;
      const ends = before.text === "," || ["select", "distinct", "all"].includes(bare(before));
      if (depth < 0 || (depth === 0 && ends)) break;
    }
    if (start >= at - 1) continue;
    const last = list[at - 2];
    const words = new Set(list.slice(start, at - 1).map(bare));
    found.push({ range: [list[start].at, last.at + last.text.length], words });
  }
  return found;
}

/** The beginning of the qualified name that ends in the word at `at`. */
function startOf(text, at) {
  const before = /(?:[\w$#@"`]+\.)+$/.exec(text.slice(Math.max(0, at - 200), at));
  return before ? at - before[0].length : at;
}

/** The text as a block of code with marks; the first mark can be scrolled to. */
export function sqlElement(sql, expression, names) {
  const ranges = marks(sql, expression, names);
  const block = html("pre", { class: "sql", tabindex: 0, "aria-label": "masked SQL" });
  let range = 0;
  let mark = null;
  for (const token of tokens(sql)) {
    while (range < ranges.length && token.at >= ranges[range][1]) range++;
    const inside = range < ranges.length && token.at >= ranges[range][0];
    if (inside && mark?.range !== range) {
      mark = { range, element: html("mark") };
      block.append(mark.element);
    }
    if (!inside) mark = null;
    const kind = token.kind === "word" && KEYWORDS.has(token.text.toLowerCase()) ? "keyword" : token.kind;
    const plain = kind === "space" || kind === "word" || kind === "sign";
    const text = visible(token.text, { lines: true });
    (mark?.element ?? block).append(plain ? text : html("span", { class: `sql-${kind}` }, text));
  }
  return block;
}
