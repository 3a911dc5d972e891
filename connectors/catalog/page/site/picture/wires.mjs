// Wires as curves: as SVG paths while there are few, on one canvas when there are many, and which one is under a point.
import { svg } from "../base/dom.mjs";
import { GLYPHS } from "../graph/difference.mjs";

export const CANVAS_FROM = 400; // dotted paths are drawn anew with each frame of a zoom: 1,000 of them took 60 ms a frame, on a canvas 2
const REACH = 6;
const CELL = 64;

/** The curve through a wire's points: cubic pieces as [x1, y1, cx1, cy1, cx2, cy2, x2, y2]. */
export function pieces(points) {
  const curve = [];
  for (let at = 0; at + 3 < points.length; at += 2) {
    const [x1, y1, x2, y2] = [points[at], points[at + 1], points[at + 2], points[at + 3]];
    const backwards = x2 <= x1;
    const pull = backwards
      ? Math.min(160, 50 + Math.abs(y2 - y1) * 0.3 + (x1 - x2) * 0.1)
      : Math.max(24, (x2 - x1) * 0.45);
    const level = y1 === y2 && !backwards;
    const out = backwards && points.length === 4 && x1 === x2 ? -1 : 1; // a loop returns on the side it left
    curve.push([x1, y1, level ? x1 : x1 + pull, y1, level ? x2 : x2 - pull * out, y2, x2, y2]);
  }
  return curve;
}

/** The same for an SVG path. */
export function pathOf(points) {
  const round = (value) => Math.round(value * 10) / 10;
  const curve = pieces(points);
  const [x, y] = curve[0];
  return `M${round(x)} ${round(y)}${curve.map((one) => `C${one.slice(2).map(round).join(" ")}`).join("")}`;
}

function pointOn([x1, y1, ax, ay, bx, by, x2, y2], t) {
  const s = 1 - t;
  const [a, b, c, d] = [s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t];
  return [a * x1 + b * ax + c * bx + d * x2, a * y1 + b * ay + c * by + d * y2];
}

/** The middle of a wire, or the place at another share of its way, where a mark goes. */
export function middle(points, share = 0.5) {
  const curve = pieces(points);
  const way = share * curve.length;
  return pointOn(curve[Math.floor(way)], way % 1);
}

/** Finds the wire under a point without asking the browser about thousands of shapes. */
export class WireIndex {
  constructor(wires) {
    this.samples = wires.map((wire) =>
      pieces(wire.points).flatMap((piece) => {
        const steps = Math.max(
          4,
          Math.min(40, Math.ceil((Math.abs(piece[6] - piece[0]) + Math.abs(piece[7] - piece[1])) / 24)),
        );
        return Array.from({ length: steps + 1 }, (_, at) => pointOn(piece, at / steps));
      }),
    );
    this.cells = new Map();
    this.samples.forEach((line, wire) => {
      for (let at = 0; at + 1 < line.length; at++) this.#enter(wire, at, line[at], line[at + 1]);
    });
  }

  #enter(wire, at, [x1, y1], [x2, y2]) {
    const [left, right] = [
      Math.floor((Math.min(x1, x2) - REACH) / CELL),
      Math.floor((Math.max(x1, x2) + REACH) / CELL),
    ];
    const [top, bottom] = [
      Math.floor((Math.min(y1, y2) - REACH) / CELL),
      Math.floor((Math.max(y1, y2) + REACH) / CELL),
    ];
    for (let x = left; x <= right; x++) {
      for (let y = top; y <= bottom; y++) {
        const key = `${x} ${y}`;
        const cell = this.cells.get(key);
        if (cell) cell.push(wire, at);
        else this.cells.set(key, [wire, at]);
      }
    }
  }

  /** The number of the nearest wire within reach, or null; the reach is in the picture's own units. */
  at(x, y, reach = REACH) {
    const cell = this.cells.get(`${Math.floor(x / CELL)} ${Math.floor(y / CELL)}`) ?? [];
    let best = null;
    let least = reach * reach;
    for (let i = 0; i < cell.length; i += 2) {
      const line = this.samples[cell[i]];
      const distance = toSegment(x, y, line[cell[i + 1]], line[cell[i + 1] + 1]);
      if (distance < least) [best, least] = [cell[i], distance];
    }
    return best;
  }
}

function toSegment(x, y, [x1, y1], [x2, y2]) {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const length = dx * dx + dy * dy;
  const t = length ? Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / length)) : 0;
  return (x1 + t * dx - x) ** 2 + (y1 + t * dy - y) ** 2;
}

/** Where on a wire its sign stands: wires that cross in their middles, of which one appeared as the other went, show both. */
const CHANGE_SHARES = { added: 0.34, changed: 0.62, removed: 0.74 };

/** A wire as SVG: its line, and a mark where it goes through folded temporary tables. */
export function wireElement(wire, number) {
  const classes = ["wire", wire.kind, wire.certain && !wire.unseen ? "" : "unsure", wire.change].filter(Boolean).join(" ");
  const line = svg("path", { class: classes, d: pathOf(wire.points), "data-wire": number });
  if (!wire.folded && !wire.change) return line;
  const [x, y] = middle(wire.points);
  const change = wire.change ? changeMark(wire.change, ...middle(wire.points, CHANGE_SHARES[wire.change]).map(Math.round)) : "";
  if (!wire.folded) return svg("g", { "data-wire": number }, line, change);
  const mark = svg("g", { class: `folded ${wire.kind}`, transform: `translate(${Math.round(x)} ${Math.round(y)})` });
  mark.append(
    svg("rect", { x: -5, y: -5, width: 10, height: 10, transform: "rotate(45)" }),
    svg("title", {}, "through temporary tables"),
  );
  return svg("g", { "data-wire": number }, line, mark, change);
}

/** A sign that something appeared, went or changed, to be told without its colour. */
export function changeMark(change, x, y) {
  return svg(
    "g",
    { class: `change ${change}`, transform: `translate(${x} ${y})` },
    svg("circle", { r: 8 }),
    svg("text", { y: 4.5 }, GLYPHS[change]),
    svg("title", {}, change),
  );
}

const DASHES = { direct: [], indirect: [1.5, 4.5], both: [9, 3, 1.5, 3], table: [7, 5] };

/** Gives wires what a canvas needs of them again and again: their curve, and the box around it. */
export function prepareWires(wires) {
  for (const wire of wires) {
    wire.curve = pieces(wire.points);
    wire.around = around(wire.points);
  }
}

const AT_ONCE = 100; // wires
const DASHED_AT_ONCE = 8; // 100 that are dotted took 400 ms, in which no frame came and the next move was held for a rest

/**
 * Draws prepared wires on a canvas of this size, some at each step, and says at the end how many it drew.
 * `paint` says colour, width and opacity of each. In haste (on the move): no dashes.
 */
export function* drawWires(canvas, wires, { camera, width, height, paint, haste }) {
  const ratio = devicePixelRatio || 1;
  [canvas.width, canvas.height] = [width * ratio, height * ratio];
  const context = canvas.getContext("2d");
  context.setTransform(camera.k * ratio, 0, 0, camera.k * ratio, camera.x * ratio, camera.y * ratio);
  context.lineCap = "round";
  const seen = { left: -camera.x / camera.k, top: -camera.y / camera.k };
  seen.right = seen.left + width / camera.k;
  seen.bottom = seen.top + height / camera.k;
  const groups = new Map();
  let count = 0;
  wires.forEach((wire, at) => {
    const { left, right, top, bottom } = wire.around;
    if (right < seen.left || left > seen.right || bottom < seen.top || top > seen.bottom) return;
    const style = paint(wire, at);
    const key = `${style.colour} ${style.width} ${style.opacity} ${wire.kind}`;
    if (!groups.has(key)) groups.set(key, { style, kind: wire.kind, wires: [] });
    groups.get(key).wires.push(wire);
    count++;
  });
  const ordered = [...groups.values()].sort((a, b) => a.style.opacity - b.style.opacity);
  for (const { style, kind, wires: members } of ordered) {
    context.strokeStyle = style.colour;
    context.globalAlpha = style.opacity;
    context.lineWidth = style.width;
    // far away a dash is smaller than a pixel: it would cost much and show nothing
    const dashes = haste || camera.k < 0.3 ? [] : DASHES[kind];
    context.setLineDash(dashes);
    const some = dashes.length ? DASHED_AT_ONCE : AT_ONCE;
    for (let from = 0; from < members.length; from += some) {
      context.beginPath();
      for (const { curve } of members.slice(from, from + some)) {
        context.moveTo(curve[0][0], curve[0][1]);
        for (const piece of curve) context.bezierCurveTo(...piece.slice(2));
      }
      context.stroke();
      yield context;
    }
  }
  return count;
}

function around(points) {
  const box = { left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity };
  for (let at = 0; at < points.length; at += 2) {
    box.left = Math.min(box.left, points[at] - 60);
    box.right = Math.max(box.right, points[at] + 60);
    box.top = Math.min(box.top, points[at + 1] - 60);
    box.bottom = Math.max(box.bottom, points[at + 1] + 60);
  }
  return box;
}
