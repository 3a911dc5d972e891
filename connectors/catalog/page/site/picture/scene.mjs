// From a graph and what the reader wants to see of it to boxes and wires with places.
import { fitted, textWidth } from "../base/dom.mjs";
import { changeOf } from "../graph/difference.mjs";
import { involved, keyOf, kindOf, readable } from "../graph/model.mjs";
import { layout } from "../layout/layout.mjs";

export const HEAD = 48;
export const ROW = 22;
const ROWS = 14;
const TAG = 16;
const FONT = {
  name: "600 13px system-ui, sans-serif",
  text: "12px system-ui, sans-serif",
  type: "10.5px system-ui, sans-serif",
};

/** Boxes (cards with the columns that show) and wires (links between what shows), placed. */
export function sceneOf(graph, links, view) {
  const touched = involved(links);
  const shown = [...graph.cards.values()].filter((card) => !view.hiddenSchemas.includes(card.schema));
  const boxes = shown.map((card) => boxOf(card, touched.get(card.id) ?? new Set(), view));
  const number = new Map(boxes.map((box, at) => [box.id, at]));
  const wires = wiresOf(links, boxes, number);
  const led = wires.filter((wire) => wire.from !== wire.to);
  const placed = layout(boxes, led);
  boxes.forEach((box, at) => {
    box.x = placed.x[at];
    box.y = placed.y[at];
  });
  led.forEach((wire, at) => (wire.points = placed.routes[at]));
  for (const wire of wires) wire.points ??= loop(boxes[wire.from], wire);
  return { boxes, wires, number, width: placed.width, height: placed.height, compared: Boolean(graph.before) };
}

/** Which columns of a card show: those that links touch, all, or none; long lists end in a button. */
function boxOf(card, touched, view) {
  const area = card.tables !== null; // its rows are tables, which no link touches
  const mode = view.modes[card.fqn] ?? (area && view.columns === "involved" ? "all" : view.columns);
  const wanted =
    mode === "none"
      ? []
      : mode === "involved" || mode === "path"
        ? card.columns.filter((one) => touched.has(one.path) || one.change)
        : card.columns;
  const rows = mode === "full" || wanted.length <= ROWS + 1 ? [...wanted] : firstRows(wanted);
  const known = new Set(card.columns.map((column) => column.path));
  // a column that a contribution names and the table does not have (any more)
  const lost = mode === "none" ? [] : [...touched].filter((path) => !known.has(path));
  for (const path of lost) rows.push({ path, name: readable(path), type: "", description: "", lost: true });
  const width = widthOf(card, rows);
  const more = (card.tables ?? card.columns.length) + lost.length - rows.length;
  return {
    id: card.id,
    card,
    mode,
    width,
    more,
    rows: rows.map((column) => rowOf(column, width, touched)),
    port: new Map(rows.map((column, at) => [column.path, HEAD + (at + 0.5) * ROW])),
    height: HEAD + rows.length * ROW + (more > 0 ? ROW : 0) + (rows.length || more > 0 ? 6 : 0),
    name: fitted(card.name, width - 70, FONT.name),
    schema: fitted(card.schema, width - (card.change || card.gone ? 130 : 70), FONT.type),
    x: 0,
    y: 0,
  };
}

/** The first columns of many; those that changed before the others, all in their order. */
function firstRows(columns) {
  const changed = columns.filter((column) => column.change);
  const kept = new Set(changed);
  for (const column of columns) if (kept.size < ROWS) kept.add(column);
  return columns.filter((column) => kept.has(column));
}

function widthOf(card, rows) {
  let width = Math.max(textWidth(card.name, FONT.name), textWidth(card.schema, FONT.type)) + 72;
  for (const column of rows) {
    width = Math.max(width, textWidth(column.name, FONT.text) + Math.min(90, textWidth(column.type, FONT.type)) + 44);
  }
  return Math.round(Math.min(300, Math.max(190, width)));
}

function rowOf(column, width, touched) {
  const type = fitted(column.type.toLowerCase(), 90, FONT.type);
  const room = width - 44 - textWidth(type, FONT.type) - (column.tags?.length ? TAG : 0);
  return {
    ...column,
    shownType: type,
    shownName: fitted(column.name, room, FONT.text),
    touched: touched.has(column.path),
  };
}

/** One wire for all links between the same two visible ports. */
function wiresOf(links, boxes, number) {
  const wires = new Map();
  for (const link of links) {
    const [from, to] = [number.get(link.fromCard), number.get(link.toCard)];
    if (from === undefined || to === undefined) continue;
    const [fromPath, toPath] = [shownPath(boxes[from], link.fromPath), shownPath(boxes[to], link.toPath)];
    const key = `${from} ${to} ${fromPath}\t${toPath}`;
    let wire = wires.get(key);
    if (!wire) {
      wire = {
        from,
        to,
        fromY: boxes[from].port.get(fromPath) ?? HEAD / 2,
        toY: boxes[to].port.get(toPath) ?? HEAD / 2,
        links: [],
      };
      wire.ends = [keyOf(link.fromCard, fromPath), keyOf(link.toCard, toPath)];
      wires.set(key, wire);
    }
    wire.links.push(link);
  }
  for (const wire of wires.values()) {
    wire.kind = kindOf({
      direct: wire.links.some((link) => link.direct),
      indirect: wire.links.some((link) => link.indirect),
    });
    wire.certain = wire.links.some((link) => link.certain);
    wire.unseen = wire.links.every((link) => link.unseen);
    wire.folded = wire.links.some((link) => link.folded);
    wire.change = changeOf(wire.links.map((link) => link.change));
  }
  return [...wires.values()];
}

function shownPath(box, path) {
  return box.port.has(path) ? path : "";
}

function loop(box, wire) {
  const x = box.x + box.width;
  const apart = wire.fromY === wire.toY ? ROW / 4 : 0; // of a column to itself, which would be no loop else
  return [x, box.y + wire.fromY - apart, x, box.y + wire.toY + apart];
}
