// From a graph and what the reader wants to see of it to boxes and wires with places.
import { fitted, textWidth } from "../base/dom.mjs";
import { chosenCards } from "../graph/choosing.mjs";
import { changeOf } from "../graph/difference.mjs";
import { involved, keyOf, kindOf, readable } from "../graph/model.mjs";
import { groupCard } from "../graph/grouping.mjs";
import { keptLayout } from "../layout/keep.mjs";
import { CLOSE, SPACE, layout } from "../layout/layout.mjs";

const HEAD = 48;
const NAME = 26; // of a card that is only a name
export const ROW = 22;
const ROWS = 14;
const END = 5; // between the ends of wires at one head
const TAG = 16;
const FONT = {
  name: "600 13px system-ui, sans-serif",
  text: "12px system-ui, sans-serif",
  type: "12px system-ui, sans-serif",
};
/** As it is asked for: columns of all cards, no groups, all placed anew. */
const ASKED = { level: 0, open: null, compact: false, groups: new Map(), before: null };

/**
 * Boxes (cards with the columns that show) and wires (links between what shows), placed.
 *
 * `how`: `open` are the cards that show columns (null: all), `compact` draws the others as names, `groups` has the group
 * of cards that are not shown themselves, `before` is a scene whose boxes stay where they are.
 */
export function sceneOf(graph, links, view, how = ASKED) {
  const touched = involved(links);
  const shown = chosenCards(graph, view);
  const groups = groupsAmong(shown, how.groups);
  const cards = [...shown.filter((card) => !how.groups.has(card.id)), ...[...groups.values()].map(groupCard)];
  const boxes = cards.map((card) => boxOf(card, touched.get(card.id) ?? new Set(), view, how));
  const number = new Map(boxes.map((box, at) => [box.id, at]));
  for (const group of groups.values()) for (const id of group.members) number.set(id, number.get(group.id));
  const wires = wiresOf(links, boxes, number);
  const led = wires.filter((wire) => wire.from !== wire.to);
  const before = how.before && ((at) => areaBefore(how.before, boxes[at].id));
  const placed = before ? keptLayout(boxes, led, before) : layout(boxes, led, how.compact ? CLOSE : SPACE);
  boxes.forEach((box, at) => {
    box.x = placed.x[at];
    box.y = placed.y[at];
  });
  led.forEach((wire, at) => (wire.points = placed.routes[at]));
  if (before) keepRoutes(led, boxes, how.before, placed.shift);
  spreadEnds(led, boxes);
  for (const wire of wires) wire.points ??= loop(boxes[wire.from], wire);
  const scene = { boxes, wires, number, groups, how: { ...how, before: null } };
  return { ...scene, width: placed.width, height: placed.height, compared: Boolean(graph.before) };
}

/** The groups of cards that are shown, by their ids, each with those of its members. */
function groupsAmong(cards, groups) {
  const found = new Map();
  for (const { id } of cards) {
    const group = groups.get(id);
    if (!group) continue;
    if (!found.has(group.id)) found.set(group.id, { ...group, members: [] });
    found.get(group.id).members.push(id);
  }
  return found;
}

/** Where a box stood in another scene; a table of a group that is opened begins where that stood. */
function areaBefore(scene, id) {
  const box = scene.boxes[scene.number.get(id)];
  return box?.id === id ? box : undefined;
}

/** Wires between boxes that stayed keep their ways around what stands between. */
function keepRoutes(wires, boxes, before, shift) {
  const known = new Map(before.wires.map((wire) => [wire.ends.join("\t"), wire.points]));
  for (const wire of wires) {
    const points = known.get(wire.ends.join("\t"));
    if (!points) continue;
    const moved = points.map((value, at) => value + (at % 2 ? shift.y : shift.x));
    const last = wire.points.length - 2;
    const same = (a, b) => Math.abs(a - b) < HEAD / 2;
    const ends = same(moved[1], wire.points[1]) && same(moved[moved.length - 1], wire.points[last + 1]);
    if (ends && same(moved[0], wire.points[0]) && same(moved[moved.length - 2], wire.points[last])) wire.points = moved;
  }
}

/** Wires into or out of one head end one below the other, in the order of where they come from or go to. */
function spreadEnds(wires, boxes) {
  for (const [side, other] of [
    ["from", "to"],
    ["to", "from"],
  ]) {
    const into = new Map();
    for (const wire of wires) {
      const box = boxes[wire[side]];
      if (box.rows.length || box.port.size) continue;
      into.set(box, [...(into.get(box) ?? []), wire]);
    }
    for (const [box, some] of into) {
      some.sort((a, b) => boxes[a[other]].y + a[`${other}Y`] - boxes[b[other]].y - b[`${other}Y`]);
      const step = Math.min(END, (box.head - 10) / Math.max(1, some.length - 1));
      some.forEach((wire, at) => {
        const y = box.y + box.head / 2 + (at - (some.length - 1) / 2) * step;
        wire.points[side === "from" ? 1 : wire.points.length - 1] = y;
      });
    }
  }
}

/** Which columns of a card show: those that links touch, all, or none; long lists end in a button. */
function boxOf(card, touched, view, how) {
  const mode = modeOf(card, view, how);
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
  const named = how.compact && mode === "none";
  const width = named ? nameWidth(card) : widthOf(card, rows);
  const more = named || card.group ? 0 : (card.tables ?? card.columns.length) + lost.length - rows.length;
  const head = named ? NAME : HEAD;
  return {
    id: card.id,
    card,
    mode,
    width,
    more,
    rows: rows.map((column) => rowOf(column, width, touched)),
    head,
    named,
    port: new Map(rows.map((column, at) => [column.path, head + (at + 0.5) * ROW])),
    height: head + rows.length * ROW + (more > 0 ? ROW : 0) + (rows.length || more > 0 ? 6 : 0),
    name: fitted(card.name, width - (named ? NAMED + (card.group ? 20 : 0) : 70), FONT.name),
    schema: fitted(card.schema, width - (card.change || card.gone ? 130 : 70), FONT.type),
    x: 0,
    y: 0,
  };
}

/** Which columns of a card are to show: involved, all, none, path; full: all of however many. */
function modeOf(card, view, { open }) {
  const fits = ["fit", "involved"].includes(view.columns);
  const usual = open && !open.has(card.id) ? "none" : "involved";
  if (card.tables !== null) return card.group ? "none" : (view.modes[card.fqn] ?? (fits ? "all" : view.columns)); // no link touches its rows
  return view.modes[card.fqn] ?? (view.columns === "fit" ? usual : view.columns);
}

/** The first columns of many; those that changed before the others, all in their order. */
function firstRows(columns) {
  const changed = columns.filter((column) => column.change);
  const kept = new Set(changed);
  for (const column of columns) if (kept.size < ROWS) kept.add(column);
  return columns.filter((column) => kept.has(column));
}

const NAMED = 44; // beside a name: its icon, and a sign or a button

function nameWidth(card) {
  const count = card.group ? 20 : 0;
  return Math.ceil(Math.min(230, Math.max(84, textWidth(card.name, FONT.name) + NAMED + count + 1)));
}

function widthOf(card, rows) {
  let width = Math.max(textWidth(card.name, FONT.name), textWidth(card.schema, FONT.type)) + 72;
  for (const column of rows) {
    width = Math.max(width, textWidth(column.name, FONT.text) + Math.min(100, textWidth(column.type, FONT.type)) + 44);
  }
  return Math.round(Math.min(300, Math.max(190, width)));
}

function rowOf(column, width, touched) {
  const type = fitted(column.type.toLowerCase(), 100, FONT.type);
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
    if (from === undefined || to === undefined || (from === to && boxes[from].card.group)) continue;
    const [fromPath, toPath] = [shownPath(boxes[from], link.fromPath), shownPath(boxes[to], link.toPath)];
    const key = `${from} ${to} ${fromPath}\t${toPath}`;
    let wire = wires.get(key);
    if (!wire) {
      wire = {
        from,
        to,
        fromY: boxes[from].port.get(fromPath) ?? boxes[from].head / 2,
        toY: boxes[to].port.get(toPath) ?? boxes[to].head / 2,
        links: [],
      };
      wire.ends = [keyOf(boxes[from].id, fromPath), keyOf(boxes[to].id, toPath)];
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
