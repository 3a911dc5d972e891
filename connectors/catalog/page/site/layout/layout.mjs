// The layered layout: cards in layers from left to right, columns as ports, long links led around cards.
import { order } from "./crossings.mjs";
import { ranks, withoutCycles } from "./layers.mjs";
import { tops } from "./place.mjs";

export const SPACE = { layer: 96, card: 26, lane: 12, line: 4, laneLimit: 44, part: 64, aspect: 1.6, stretch: 170, gap: 7, gapLimit: 130 };
/** The same where cards are names, of which many are to be seen at once. */
export const CLOSE = { ...SPACE, layer: 52, card: 7, lane: 5, line: 2, laneLimit: 12, part: 24, stretch: 24, gap: 4, gapLimit: 60 };

/**
 * Places cards and leads links.
 *
 * `cards`: [{width, height}]; `links`: [{from, to, fromY, toY}] with card numbers and the ports' heights in the cards.
 * `space` says how far apart all is. Gives {x, y} of each card, `routes` (for each link the points it passes, flat), and the size of the whole.
 */
export function layout(cards, links, space = SPACE) {
  const x = new Float64Array(cards.length);
  const y = new Float64Array(cards.length);
  const routes = links.map(() => null);
  const shelf = { x: 0, y: 0, height: 0, width: 0 };
  const parts = connected(cards.length, links);
  const widest = Math.sqrt(cards.reduce((area, card) => area + (card.width + 90) * (card.height + 40), 0)) * 1.8;
  for (const part of parts) {
    const placed = layoutPart(part, cards, links, space);
    if (shelf.x > 0 && shelf.x + placed.width > Math.max(widest, shelf.width)) {
      shelf.y += shelf.height + space.part;
      shelf.x = shelf.height = 0;
    }
    part.cards.forEach((card, at) => {
      x[card] = placed.x[at] + shelf.x;
      y[card] = placed.y[at] + shelf.y;
    });
    part.links.forEach((link, at) => {
      routes[link] = placed.routes[at].map((value, i) => value + (i % 2 ? shelf.y : shelf.x));
    });
    shelf.x += placed.width + space.part;
    shelf.width = Math.max(shelf.width, shelf.x - space.part);
    shelf.height = Math.max(shelf.height, placed.height);
  }
  return { x, y, routes, width: shelf.width, height: shelf.y + shelf.height };
}

/** Cards that links join, largest part first, with the links of each. */
function connected(count, links) {
  const parent = Int32Array.from({ length: count }, (_, at) => at);
  const root = (node) => {
    while (parent[node] !== node) node = parent[node] = parent[parent[node]];
    return node;
  };
  for (const link of links) parent[root(link.from)] = root(link.to);
  const parts = new Map();
  for (let card = 0; card < count; card++) {
    const at = root(card);
    if (!parts.has(at)) parts.set(at, { cards: [], links: [] });
    parts.get(at).cards.push(card);
  }
  links.forEach((link, at) => parts.get(root(link.from)).links.push(at));
  return [...parts.values()].sort((a, b) => b.cards.length - a.cards.length);
}

function layoutPart(part, cards, links, space) {
  const graph = layered(part, cards, links, space);
  order(graph.layers, graph.between, graph.nodes.length);
  const top = tops(graph.layers, graph.between, graph.nodes);
  const least = top.reduce((low, value) => Math.min(low, value), Infinity);
  const bottom = graph.nodes.reduce((low, node, at) => Math.max(low, top[at] - least + node.height), 0);
  const left = columns(graph, bottom, space);
  const routes = routed(graph, part, links, { left, top, least, space });
  const real = part.cards.length;
  return {
    x: graph.nodes.slice(0, real).map((node) => left[node.layer]),
    y: graph.nodes.slice(0, real).map((_, at) => top[at] - least),
    routes,
    width: left[left.length - 1] + graph.widths[graph.widths.length - 1],
    height: bottom,
  };
}

/** Nodes in layers, a lane (dummy node) in every layer that a pair of cards passes, and the segments between layers. */
function layered(part, cards, links, space) {
  const local = new Map(part.cards.map((card, at) => [card, at]));
  const pairs = new Map();
  part.links.forEach((link, at) => {
    const [from, to] = [local.get(links[link].from), local.get(links[link].to)];
    if (from === to) return;
    const key = from * cards.length + to;
    if (!pairs.has(key)) pairs.set(key, { from, to, weight: 0, links: [] });
    pairs.get(key).weight++;
    pairs.get(key).links.push(at);
  });
  const turned = withoutCycles(part.cards.length, [...pairs.values()]);
  const rank = ranks(part.cards.length, turned);
  const nodes = part.cards.map((card, at) => ({
    layer: rank[at],
    height: cards[card].height,
    width: cards[card].width,
    margin: space.card,
    dummy: false,
  }));
  const layers = Array.from({ length: Math.max(...rank) + 1 }, () => []);
  seeded(nodes, turned).forEach((node) => layers[rank[node]].push(node));
  const between = Array.from({ length: Math.max(0, layers.length - 1) }, () => []);
  const lanes = new Map();
  for (const pair of turned) addPair({ pair, nodes, layers, between, lanes, part, links, space });
  const widths = layers.map((layer) => Math.max(...layer.map((node) => nodes[node].width)));
  return { nodes, layers, between, lanes, widths };
}

/** Cards in the order of a walk along the links, so that what belongs together starts out together. */
function seeded(nodes, pairs) {
  const near = nodes.map(() => []);
  for (const { tail, head, weight } of pairs) {
    near[tail].push([head, weight]);
    near[head].push([tail, weight]);
  }
  const seen = new Uint8Array(nodes.length);
  const walk = [];
  const starts = nodes.map((_, at) => at).sort((a, b) => nodes[a].layer - nodes[b].layer);
  for (const start of starts) {
    const open = [start];
    while (open.length) {
      const node = open.pop();
      if (seen[node]) continue;
      seen[node] = 1;
      walk.push(node);
      near[node].sort((a, b) => a[1] - b[1]).forEach(([other]) => open.push(other));
    }
  }
  return walk;
}

function addPair({ pair, nodes, layers, between, lanes, part, links, space }) {
  const { tail, head } = pair;
  const lane = [];
  const height = Math.min(space.laneLimit, pair.links.length * space.line);
  for (let layer = nodes[tail].layer + 1; layer < nodes[head].layer; layer++) {
    lane.push(nodes.length);
    layers[layer].push(nodes.length);
    nodes.push({ layer, height, width: 0, margin: space.lane, dummy: true });
  }
  const stops = [tail, ...lane, head];
  const ports = new Map();
  for (const at of pair.links) {
    const link = links[part.links[at]];
    const [out, into] = pair.turned ? [link.toY, link.fromY] : [link.fromY, link.toY];
    const key = `${out} ${into}`;
    if (!ports.has(key)) ports.set(key, { out, into, weight: 0 });
    ports.get(key).weight++;
  }
  for (let at = 0; at + 1 < stops.length; at++) {
    const [u, v] = [stops[at], stops[at + 1]];
    const ends = nodes[u].dummy && nodes[v].dummy ? [{ out: 0, into: 0, weight: pair.weight }] : ports.values();
    for (const { out, into, weight } of ends) {
      const uy = nodes[u].dummy ? height / 2 : out;
      const vy = nodes[v].dummy ? height / 2 : into;
      const [uf, vf] = [uy / Math.max(1, nodes[u].height), vy / Math.max(1, nodes[v].height)];
      between[nodes[u].layer].push({ u, v, uf, vf, uy, vy, weight });
    }
  }
  pair.lane = lane;
  for (const at of pair.links) lanes.set(at, pair); // a link's number within the part -> its pair
}

/** The left edge of each layer: the more links pass between two layers, the wider the gap; a tall picture has wider ones. */
function columns({ widths, between }, height, space) {
  const gaps = between.map((segments) => space.layer + Math.min(space.gapLimit, Math.sqrt(segments.length) * space.gap));
  const width = sum(widths) + sum(gaps);
  const spare = Math.max(0, Math.min(space.stretch, (height * space.aspect - width) / Math.max(1, gaps.length)));
  const left = [0];
  gaps.forEach((gap, at) => left.push(left[at] + widths[at] + gap + spare));
  return left;
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

function routed(graph, part, links, { left, top, least, space }) {
  const right = (layer) => left[layer] + graph.widths[layer];
  const offsets = lineOffsets(graph, part, links, space);
  return part.links.map((number, at) => {
    const link = links[number];
    const [from, to] = [local(part, link.from), local(part, link.to)];
    const [a, b] = [graph.nodes[from], graph.nodes[to]];
    const start = [left[a.layer] + a.width, top[from] - least + link.fromY];
    const end = [left[b.layer], top[to] - least + link.toY];
    const pair = graph.lanes.get(at);
    const points = [...start];
    const lane = pair ? (pair.turned ? [...pair.lane].reverse() : pair.lane) : [];
    for (const node of lane) {
      const layer = graph.nodes[node].layer;
      const y = top[node] - least + offsets.get(at);
      points.push(...(pair.turned ? [right(layer), y, left[layer], y] : [left[layer], y, right(layer), y]));
    }
    return [...points, ...end];
  });
}

function local(part, card) {
  part.numbers ??= new Map(part.cards.map((one, at) => [one, at]));
  return part.numbers.get(card);
}

/** Links that share a lane run side by side in the order of their ports. */
function lineOffsets(graph, part, links, space) {
  const offsets = new Map();
  for (const pair of new Set(graph.lanes.values())) {
    const sorted = [...pair.links].sort((a, b) => {
      const [one, other] = [links[part.links[a]], links[part.links[b]]];
      return one.fromY + one.toY - other.fromY - other.toY;
    });
    const height = Math.min(space.laneLimit, sorted.length * space.line);
    sorted.forEach((at, i) => offsets.set(at, (height * (i + 0.5)) / sorted.length));
  }
  return offsets;
}
