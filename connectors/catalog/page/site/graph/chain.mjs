// Where a column comes from: the chain of expressions back to base columns, as `ingest explain` tells it.
import { when } from "../base/dom.mjs";
import { cardNamed, keyOf, originOf, stillUnseen, unseenText } from "./model.mjs";
import { verdictIn, verdictText } from "./witnesses.mjs";

const WITHOUT_TEXT = {
  manual: "(no statement: entered by hand)",
  engine: "(no statement: recorded by the engine itself)",
  openlineage: "(no statement: an OpenLineage event tells of it)",
  dbt: "(no statement: dbt's manifest tells of it)",
  external_table: "(no statement: the place of the table's files)",
  edge_list: "(no statement: a list of edges has it)",
  plan: "(no statement: a plan)",
};
const NO_TEXT = "(its statement was not kept)";

/**
 * The explanation of a column by its full name: `hops` has each column on the way, nearest first, with its sources,
 * `statements` those behind the hops, `places` the card and path of each column; `tables` are joined without known columns.
 */
export function explanation(graph, card, path) {
  const column = `${card.fqn}.${path}`;
  const reader = new HopReader(graph);
  const hops = new Map();
  const waiting = [column];
  for (const name of waiting) {
    if (hops.has(name)) continue;
    hops.set(name, reader.hopsInto(name));
    waiting.push(...hops.get(name).map((hop) => hop.source));
  }
  const joined = graph.edges.filter(
    (edge) => edge.to === card.id && edge.contributions.some((one) => !one.columns.length),
  );
  const tables = joined.map((edge) => graph.cards.get(edge.from).fqn);
  return { column, hops, statements: reader.statements, places: reader.places, tables, truncated: graph.truncated };
}

class HopReader {
  #into = new Map();
  #made = new Map();
  #numbers = new Map();

  constructor(graph) {
    this.statements = [];
    this.places = new Map();
    for (const { id, fqn, columns } of graph.cards.values()) {
      for (const { path } of columns) this.places.set(`${fqn}.${path}`, { card: id, entity: fqn, path });
    }
    for (const edge of graph.edges) {
      const { to, contributions } = edge;
      if (!this.#into.has(to)) {
        this.#into.set(to, []);
        this.#made.set(to, new Map());
      }
      this.#into.get(to).push(...contributions.map((contribution) => ({ contribution, edge })));
      for (const one of contributions) this.#note(this.#made.get(to), one);
    }
  }

  #note(made, contribution) {
    const origin = originOf(contribution);
    if (!made.has(origin)) made.set(origin, new Set());
    for (const one of contribution.columns) if (one.to) made.get(origin).add(one.to);
  }

  /** Direct ones first, each once with the numbers of all the statements that make it. */
  hopsInto(column) {
    const found = new Map();
    for (const [contribution, one, edge] of this.#uses(column)) {
      const number = this.#number(contribution);
      for (const source of one.from) {
        const hop = {
          source,
          type: one.type ?? "DIRECT",
          subtype: one.subtype ?? "",
          masking: Boolean(one.masking),
          expression: one.expression ?? "",
          certain: one.certain !== false,
        };
        const key = JSON.stringify(hop);
        if (!found.has(key)) {
          const verdict = verdictIn(edge, source, one.to ?? null, hop.type);
          found.set(key, { ...hop, direct: hop.type === "DIRECT", statements: [], unseen: one.notSeen ?? null, verdict });
        }
        const known = found.get(key);
        known.unseen = stillUnseen(known.unseen, one.notSeen);
        if (!known.statements.includes(number)) known.statements.push(number);
      }
    }
    return [...found.values()].sort((a, b) => Boolean(a.unseen) - Boolean(b.unseen) || b.direct - a.direct);
  }

  /** What filters a statement's rows has a say in the columns that the statement gives, and in no others. */
  #uses(column) {
    const table = this.places.get(column)?.card;
    const made = this.#made.get(table) ?? new Map();
    const constant = ![...made.values()].some((columns) => columns.has(column));
    const uses = [];
    for (const { contribution, edge } of this.#into.get(table) ?? []) {
      const given = constant || made.get(originOf(contribution)).has(column);
      for (const one of contribution.columns) {
        if (one.to === column || (!one.to && given)) uses.push([contribution, one, edge]);
      }
    }
    return uses;
  }

  #number(contribution) {
    const statement = {
      text: contribution.sqlQuery ?? "",
      producer: contribution.producer.kind.toLowerCase(),
      parser: contribution.parser ?? "",
    };
    const key = JSON.stringify(statement);
    if (!this.#numbers.has(key)) this.#numbers.set(key, this.statements.push({ ...statement, lastSeen: null }));
    const number = this.#numbers.get(key);
    const known = this.statements[number - 1];
    known.lastSeen = Math.max(known.lastSeen, contribution.lastSeen ?? 0) || null;
    return number;
  }
}

/** The chain as rows, in the order in which it is read: {hop, depth, way (hops from the source on), again}. */
export function chainRows({ column, hops }) {
  const shown = new Set([column]);
  const rows = [];
  const waiting = hops.get(column).map((hop) => ({ hop, depth: 1, way: [{ hop, to: column }] }));
  while (waiting.length) {
    const row = waiting.shift();
    const sources = hops.get(row.hop.source);
    row.again = sources.length > 0 && shown.has(row.hop.source);
    shown.add(row.hop.source);
    rows.push(row);
    if (row.again) continue;
    const next = { depth: row.depth + 1, to: row.hop.source };
    waiting.unshift(...sources.map((hop) => ({ hop, depth: next.depth, way: [{ hop, to: next.to }, ...row.way] })));
  }
  return rows;
}

/** The keys of the links along a way: each from a column to a column, or to every row of its table. */
export function wayLinks({ places }, way) {
  return way.flatMap(({ hop, to }) => {
    const [from, into] = [places.get(hop.source), places.get(to)];
    if (!from || !into) return [];
    const [start, end] = [keyOf(from.card, from.path), keyOf(into.card, into.path)];
    return [{ from: start, to: end, direct: hop.direct, keys: [`${start}\t${end}`, `${start}\t${keyOf(into.card, "")}`] }];
  });
}

/** The links along the path of a suspect, those of them whose tables are in the graph: as `wayLinks` has them. */
export function suspectLinks(graph, { nodes, ties }) {
  const places = nodes.map(({ entity, column }) => ({ card: entity && cardNamed(graph, entity.fullyQualifiedName)?.id, path: column ?? "" }));
  return ties.flatMap((tie, at) => {
    const [from, to] = [places[at], places[at + 1]];
    if (!from.card || !to.card) return [];
    const [starts, ends] = [from, to].map(({ card, path }) => [...new Set([keyOf(card, path), keyOf(card, "")])]);
    const keys = starts.flatMap((start) => ends.map((end) => `${start}\t${end}`));
    return [{ from: starts[0], to: ends[0], direct: tie === "DIRECT", keys }];
  });
}

/** The columns where it all begins: those whose values arrive, those that only have a say, those not seen any more. */
export function baseColumns({ column, hops }) {
  const reaching = (follows) => {
    const reached = new Set([column]);
    for (const name of reached) for (const hop of hops.get(name)) if (follows(hop)) reached.add(hop.source);
    return reached;
  };
  const arriving = reaching((hop) => hop.direct && !hop.unseen);
  const seen = reaching((hop) => !hop.unseen);
  const bases = [...hops].filter(([name, sources]) => !sources.length && name !== column).map(([name]) => name);
  return [
    bases.filter((name) => arriving.has(name)),
    bases.filter((name) => seen.has(name) && !arriving.has(name)),
    bases.filter((name) => !seen.has(name)),
  ];
}

/** How a source takes part, in words. */
export function howOf(hop) {
  const words = [hop.type.toLowerCase(), hop.subtype.toLowerCase().replaceAll("_", " ")];
  if (hop.masking) words.push("masked");
  if (!hop.certain) words.push("not certain");
  if (hop.unseen) words.push(unseenText(hop.unseen));
  if (hop.verdict) words.push(verdictText(hop.verdict));
  return words.filter(Boolean).join(", ");
}

/** What stands for a statement without a text. */
export function statementText({ text, producer }) {
  return text || (WITHOUT_TEXT[producer] ?? NO_TEXT);
}

/** The whole explanation as text. */
export function chainText(explained) {
  const lines = [explained.column];
  if (!explained.hops.get(explained.column).length) lines.push("  nothing upstream of it is known");
  for (const { hop, depth, again } of chainRows(explained)) {
    const numbers = hop.statements.map((number) => ` [${number}]`).join("");
    const expression = hop.expression ? `  ${hop.expression}` : "";
    const above = again ? "  (see above)" : "";
    lines.push(`${"  ".repeat(depth)}<- ${hop.source}  ${howOf(hop)}${expression}${numbers}${above}`);
  }
  const [direct, indirect, unseen] = baseColumns(explained);
  if (direct.length) lines.push(`made of: ${direct.join(", ")}`);
  if (indirect.length) lines.push(`and depending on: ${indirect.join(", ")}`);
  if (unseen.length) lines.push(`not seen any more: ${unseen.join(", ")}`);
  explained.statements.forEach((one, at) => {
    const seen = one.lastSeen ? `last seen ${when(one.lastSeen)}` : "";
    lines.push(`[${at + 1}] ${[...new Set([one.producer, one.parser, seen].filter(Boolean))].join(", ")}`);
    lines.push(...statementText(one).split("\n").map((line) => `    ${line}`));
  });
  return `${lines.join("\n")}\n`;
}
