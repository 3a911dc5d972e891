// A picture that grows: what was there stays where it was, what comes finds a free place beside what it is joined to.
import { SPACE } from "./layout.mjs";

const APART = 14;

/**
 * Places boxes of which some had places: `before` gives those by a box's number ({x, y, height} or undefined).
 *
 * `links` as `layout` takes them. Gives the same as it, and `shift`: by how much everything moved.
 */
export function keptLayout(boxes, links, before) {
  const areas = boxes.map((box, at) => {
    const old = before(at);
    return old ? { x: old.x, y: old.y, width: box.width, height: box.height } : null;
  });
  pushApart(areas, boxes, before);
  let waiting = areas.map((_, at) => at).filter((at) => !areas[at]);
  while (waiting.length) {
    const wishes = waiting.map((at) => wishOf(at, boxes, areas, links)).filter(Boolean);
    wishes.sort((a, b) => a.y - b.y);
    for (const { at, x, y } of wishes) areas[at] = freeArea({ x, y, ...sizeOf(boxes[at]) }, areas);
    if (!wishes.length) {
      const [x, bottom] = [Math.min(...all(areas, (one) => one.x), 0), Math.max(...all(areas, (one) => one.y + one.height), 0)];
      areas[waiting[0]] = freeArea({ x, y: bottom + SPACE.part, ...sizeOf(boxes[waiting[0]]) }, areas);
    }
    waiting = waiting.filter((at) => !areas[at]);
  }
  const [left, top] = [Math.min(...areas.map((one) => one.x)), Math.min(...areas.map((one) => one.y))];
  const placed = areas.map((one) => ({ ...one, x: one.x - left, y: one.y - top }));
  return {
    x: placed.map((one) => one.x),
    y: placed.map((one) => one.y),
    routes: links.map((link) => straight(link, placed)),
    width: Math.max(...placed.map((one) => one.x + one.width)),
    height: Math.max(...placed.map((one) => one.y + one.height)),
    shift: { x: -left, y: -top },
  };
}

function all(areas, value) {
  return areas.filter(Boolean).map(value);
}

function sizeOf({ width, height }) {
  return { width, height };
}

function straight({ from, to, fromY, toY }, placed) {
  const [a, b] = [placed[from], placed[to]];
  return [a.x + a.width, a.y + fromY, b.x, b.y + toY];
}

/** What grew pushes down what stands below it, and that what stands below that. */
function pushApart(areas, boxes, before) {
  const order = areas.map((_, at) => at).filter((at) => areas[at]);
  order.sort((a, b) => areas[a].y - areas[b].y);
  const grown = order.some((at) => boxes[at].height > before(at).height);
  if (!grown) return;
  const fixed = [];
  for (const at of order) {
    const one = areas[at];
    for (const other of fixed) if (overlap(one, other)) one.y = Math.max(one.y, other.y + other.height + APART);
    fixed.push(one);
  }
}

/** Where a box that has no place would like to be: beside those that it is joined to and that have one; null: none has. */
function wishOf(at, boxes, areas, links) {
  const [right, left, heights] = [[], [], []];
  for (const { from, to, fromY, toY } of links) {
    if (from === at && areas[to]) {
      right.push(areas[to].x);
      heights.push(areas[to].y + toY - fromY);
    }
    if (to === at && areas[from]) {
      left.push(areas[from].x + areas[from].width);
      heights.push(areas[from].y + fromY - toY);
    }
  }
  if (!heights.length) return null;
  const x = right.length ? Math.min(...right) - SPACE.layer - boxes[at].width : Math.max(...left) + SPACE.layer;
  const column = all(areas, (one) => one.x).find((other) => Math.abs(other - x) < SPACE.layer / 2);
  return { at, x: column ?? x, y: heights.reduce((sum, y) => sum + y, 0) / heights.length };
}

/** The place nearest above or below the wished one where nothing stands. */
function freeArea(wished, areas) {
  const near = areas.filter((one) => one && one.x < wished.x + wished.width + APART && one.x + one.width + APART > wished.x);
  const free = (y) => near.every((one) => !overlap({ ...wished, y }, one));
  const edges = near.flatMap((one) => [one.y - wished.height - APART, one.y + one.height + APART]);
  const places = [wished.y, ...edges].filter(free);
  places.sort((a, b) => Math.abs(a - wished.y) - Math.abs(b - wished.y));
  return { ...wished, y: places[0] };
}

function overlap(a, b) {
  const across = a.x < b.x + b.width + APART && b.x < a.x + a.width + APART;
  return across && a.y < b.y + b.height + APART - 1 && b.y < a.y + a.height + APART - 1;
}
