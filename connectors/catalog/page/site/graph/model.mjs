// The graph as the page knows it: cards, and links between columns with all that is said of them.
import { when } from "../base/dom.mjs";
import { admits, verdictOf } from "./witnesses.mjs";

/** A column's key; the empty path stands for the table as a whole (every row, every column). */
export function keyOf(card, path) {
  return `${card}\n${path}`;
}

export function splitKey(key) {
  const at = key.indexOf("\n");
  return [key.slice(0, at), key.slice(at + 1)];
}

/** The graph of a page that shows none. */
export const NOTHING = { cards: new Map(), edges: [], roots: [], window: {} };

/** The graph of a document as the catalog's graph call answers it; in a page of its own its texts stand aside. */
export function readGraph(document) {
  if (document.texts) restoreTexts(document, document.texts);
  const cards = new Map(document.nodes.map((node) => [node.id, readCard(node)]));
  const edges = document.edges.filter((edge) => cards.has(edge.from) && cards.has(edge.to));
  return {
    cards,
    edges,
    roots: document.roots ?? [],
    window: document.window ?? {},
    truncated: Boolean(document.truncated),
  };
}

export function restoreTexts({ edges }, texts) {
  for (const contribution of edges.flatMap((edge) => edge.contributions)) {
    if (typeof contribution.sqlQuery === "number") contribution.sqlQuery = texts[contribution.sqlQuery];
    for (const column of contribution.columns) {
      if (typeof column.expression === "number") column.expression = texts[column.expression];
    }
  }
}

// what names may not hold on the platform travels under these words
const RESERVED = { colon: "::", arrow: ">", quote: '"', newline: "\n", carriage_return: "\r", tab: "\t" };

// what nobody sees, or what turns the text around it about: a name could pass for another by it
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** The text with each character that cannot be seen as its number; line breaks and tabs stay where `lines` is set. */
export function visible(text, { lines = false } = {}) {
  return text.replace(UNSEEN, (character) =>
    lines && /[\t\n\r]/.test(character)
      ? character
      : `‹U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}›`,
  );
}

/** A stored name as its database has it, fit to be shown. */
export function readable(name) {
  return visible(name.replace(/__reserved__([a-z_]+?)__/g, (word, kind) => RESERVED[kind] ?? word));
}

/** The parts of a fully qualified name, each as it stands in it: a part with a dot in quotes. */
export function partsOf(fqn) {
  return fqn.match(/(?:"(?:\\"|[^"])*"|[^."])+/g) ?? [fqn];
}

/** A part of a fully qualified name without its quotes. */
export function unquoted(part) {
  return /^".*"$/s.test(part) ? part.slice(1, -1).replaceAll('\\"', '"') : part;
}

/** Tags, of which those in `derived` (by name, each with the reason) came along lineage. */
function tagsOf({ tags = [], derivedTags = [] }) {
  return { tags, derived: new Map(derivedTags.map(({ tag, reason }) => [tag, reason])) };
}

/** Tags in words, for a tooltip and for who listens. */
export function tagsText({ tags, derived }) {
  return tags.map((tag) => visible(derived.has(tag) ? `${tag} (derived)` : tag)).join(", ");
}

function readCard(node) {
  const schema = [node.database, node.databaseSchema].filter(Boolean).join(".") || node.service || "";
  return {
    id: node.id,
    fqn: node.fullyQualifiedName,
    name: readable(node.name),
    title: readable(node.fullyQualifiedName),
    schema: readable(schema),
    service: node.service ?? "",
    kind: node.tableType === "View" || node.tableType === "MaterializedView" ? "view" : (node.type ?? "table"),
    description: node.description ?? "",
    owners: (node.owners ?? []).map((owner) => owner.displayName ?? owner.name ?? owner.id),
    ...tagsOf(node),
    metric: node.metric ?? null,
    tests: node.tests ?? [],
    url: node.sourceUrl ?? "",
    gone: Boolean(node.deleted),
    assumed: Boolean(node.assumed), // nobody had told of it by then: it is shown as it is known now
    columns: (node.columns ?? []).map((column) => ({
      path: column.path,
      name: readable(column.name),
      type: column.dataTypeDisplay || column.dataType || "",
      description: column.description ?? "",
      ...tagsOf(column),
    })),
    hidden: node.hidden ?? { upstream: 0, downstream: 0 },
    tables: node.tables ?? null, // of a schema or a service: how many are in it
    reads: node.usage?.reads ?? 0,
    readsMore: Boolean(node.usage?.more), // than are counted
    coverage: node.coverage ?? null, // of a table whose source is not known by columns: table, none
  };
}

/** A name for people: the table's, or the table's and the column's. */
export function label(graph, key) {
  const [card, path] = splitKey(key);
  const name = graph.cards.get(card)?.name ?? card;
  return path ? `${name}.${readable(path)}` : name;
}

/** The card with this fully qualified name, if it is in the graph. */
export function cardNamed(graph, fqn) {
  return [...graph.cards.values()].find((card) => card.fqn === fqn);
}

/** A column by names ({entity, path}), as an address holds it. */
export function endOf(graph, key) {
  const [id, path] = splitKey(key);
  return { entity: graph.cards.get(id).fqn, path };
}

/** The key of a column by names, null where its card is not in the graph. */
export function keyNamed(graph, { entity, path }) {
  const card = cardNamed(graph, entity);
  return card ? keyOf(card.id, path) : null;
}

/** Whether a column is in the graph, by names: its table may have no columns but those of links. */
export function hasColumn(graph, links, { entity, path }) {
  const card = cardNamed(graph, entity);
  const key = card && keyOf(card.id, path);
  return Boolean(card?.columns.some((column) => column.path === path) || links.some(({ from, to }) => [from, to].includes(key)));
}

/** Which of the things that are said count. */
export const EVERYTHING = {
  direct: true,
  indirect: true,
  tables: true,
  producers: [],
  witness: "",
  confidence: 0,
  since: null,
};

function counts(contribution, filter) {
  if (filter.producers.length && !filter.producers.includes(contribution.producer.kind)) return false;
  if ((contribution.confidence ?? 1) < filter.confidence) return false;
  return filter.since === null || (contribution.lastSeen ?? Infinity) >= filter.since;
}

/** Links between columns, one for each pair, from the contributions that `filter` lets through. */
export function linksOf(graph, filter = EVERYTHING) {
  const links = new Map();
  for (const edge of graph.edges) {
    const [source, target] = [graph.cards.get(edge.from), graph.cards.get(edge.to)];
    for (const contribution of edge.contributions) {
      if (!counts(contribution, filter)) continue;
      if (!contribution.columns.length && filter.tables) {
        say(links, keyOf(source.id, ""), keyOf(target.id, ""), { edge, contribution, column: null });
      }
      for (const column of contribution.columns) {
        if (column.type === "INDIRECT" ? !filter.indirect : !filter.direct) continue;
        const to = keyOf(target.id, column.to ? column.to.slice(target.fqn.length + 1) : "");
        for (const from of column.from) {
          say(links, keyOf(source.id, from.slice(source.fqn.length + 1)), to, { edge, contribution, column });
        }
      }
    }
  }
  const found = [...links.values()];
  for (const link of found) link.verdict = verdictOf(link, [link.fromCard, link.toCard].map((id) => graph.cards.get(id)));
  return found.filter((link) => admits(filter.witness, link.verdict));
}

function say(links, from, to, said) {
  const { column, contribution } = said;
  const key = `${from}\t${to}`;
  let link = links.get(key);
  if (!link) {
    const [fromCard, fromPath] = splitKey(from);
    const [toCard, toPath] = splitKey(to);
    link = {
      key,
      from,
      to,
      fromCard,
      fromPath,
      toCard,
      toPath,
      direct: false,
      indirect: false,
      certain: false,
      folded: false,
      unseen: column?.notSeen ?? null,
      said: [],
    };
    links.set(key, link);
  }
  if (column) {
    if (column.type === "INDIRECT") link.indirect = true;
    else link.direct = true;
  }
  link.certain ||= !column || column.certain !== false;
  link.folded ||= Boolean(contribution.tempLineageTables?.length);
  link.unseen = stillUnseen(link.unseen, column?.notSeen);
  link.said.push(said);
}

/** What holds where one more says the same: it is unseen while all of them are, since the last of them was seen. */
export function stillUnseen(known, one) {
  if (!known || !one) return null;
  return one.since > known.since ? one : known;
}

/** Since when something was not seen any more, in words. */
export function unseenText({ since, newer }) {
  return `not seen since ${when(since)}: a newer one came ${when(newer)}`;
}

/** What tells the statement or definition behind a contribution from others. */
export function originOf({ producer, sqlQuery }) {
  return JSON.stringify([producer.kind, producer.key, sqlQuery ?? ""]);
}

/** direct, indirect, both, or table where only the tables are known to be joined. */
export function kindOf(link) {
  if (link.direct && link.indirect) return "both";
  if (link.direct) return "direct";
  return link.indirect ? "indirect" : "table";
}

/** The columns of each card that links touch. */
export function involved(links) {
  const found = new Map();
  const note = (card, path) => {
    if (!found.has(card)) found.set(card, new Set());
    if (path) found.get(card).add(path);
  };
  for (const link of links) {
    note(link.fromCard, link.fromPath);
    note(link.toCard, link.toPath);
  }
  return found;
}
