// Times the explorer's layout and counts crossings, beside a plain layered layout (longest path, card barycentres).
// Run: node tests/benchmarks/explorer_layout.mjs
import { layout } from "../../connectors/catalog/page/site/layout/layout.mjs";
import { ranks, withoutCycles } from "../../connectors/catalog/page/site/layout/layers.mjs";
import { tops } from "../../connectors/catalog/page/site/layout/place.mjs";

const ROW = 22;
const HEAD = 44;

/** A random warehouse: `count` cards in stages, each reading a few earlier ones column by column; some cycles. */
export function warehouse(count, seed, cycles = 3) {
  let state = seed >>> 0 || 1;
  const random = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  const cards = Array.from({ length: count }, () => {
    const rows = 3 + Math.floor(random() * 10);
    return { width: 240, height: HEAD + rows * ROW, rows };
  });
  const links = [];
  const join = (from, to) => {
    const lines = 1 + Math.floor(random() * 4);
    for (let i = 0; i < lines; i++) {
      links.push({ from, to, fromY: port(cards[from]), toY: port(cards[to]) });
    }
  };
  const port = (card) => HEAD + (Math.floor(random() * card.rows) + 0.5) * ROW;
  let edges = 0;
  for (let to = 1; to < count; to++) {
    const sources = 1 + (random() < 0.6) + (random() < 0.33);
    const chosen = new Set();
    for (let i = 0; i < sources; i++) {
      const reach = Math.min(to, 5 + Math.floor(random() * 60));
      chosen.add(to - 1 - Math.floor(random() * reach));
    }
    for (const from of chosen) join(from, to);
    edges += chosen.size;
  }
  for (let i = 0; i < cycles; i++) {
    const a = Math.floor(random() * (count - 10));
    join(a + 1 + Math.floor(random() * 9), a);
    edges++;
  }
  return { cards, links, edges };
}

/** Crossings of the drawn polylines: ports on cards, lanes in between, counted pair by pair. */
export function drawnCrossings(routes) {
  const segments = [];
  routes.forEach((points, route) => {
    for (let at = 0; at + 3 < points.length; at += 2) {
      const [x1, y1, x2, y2] = points.slice(at, at + 4);
      if (x2 > x1) segments.push({ route, x1, y1, x2, y2 });
    }
  });
  segments.sort((a, b) => a.x1 - b.x1);
  let total = 0;
  for (let a = 0; a < segments.length; a++) {
    for (let b = a + 1; b < segments.length && segments[b].x1 < segments[a].x2; b++) {
      if (segments[a].route !== segments[b].route && cross(segments[a], segments[b])) total++;
    }
  }
  return total;
}

function cross(a, b) {
  const left = Math.max(a.x1, b.x1);
  const right = Math.min(a.x2, b.x2);
  const at = (line, x) => line.y1 + ((line.y2 - line.y1) * (x - line.x1)) / (line.x2 - line.x1);
  return (at(a, left) - at(b, left)) * (at(a, right) - at(b, right)) < -1e-9;
}

/** The textbook's way: longest path from the sources, one dummy a layer, 8 barycentre sweeps of whole cards. */
export function plain(cards, links) {
  const pairs = new Map();
  links.forEach((link, at) => {
    const key = link.from * cards.length + link.to;
    if (!pairs.has(key)) pairs.set(key, { from: link.from, to: link.to, weight: 1, links: [] });
    pairs.get(key).links.push(at);
  });
  const acyclic = withoutCycles(cards.length, [...pairs.values()]);
  const rank = longestPath(cards.length, acyclic);
  const nodes = cards.map((card, at) => ({ layer: rank[at], height: card.height, margin: 26, dummy: false }));
  const layers = Array.from({ length: Math.max(...rank) + 1 }, () => []);
  nodes.forEach((node, at) => layers[node.layer].push(at));
  const between = layers.slice(1).map(() => []);
  for (const pair of acyclic) {
    const stops = [pair.tail];
    for (let layer = rank[pair.tail] + 1; layer < rank[pair.head]; layer++) {
      stops.push(nodes.length);
      layers[layer].push(nodes.length);
      nodes.push({ layer, height: 4, margin: 12, dummy: true });
    }
    stops.push(pair.head);
    pair.stops = stops;
    for (let i = 0; i + 1 < stops.length; i++) {
      between[rank[pair.tail] + i].push({ u: stops[i], v: stops[i + 1], uy: 0, vy: 0, weight: 1 });
    }
  }
  barycentres(layers, between, nodes.length);
  const top = tops(layers, between, nodes);
  const x = (layer) => layer * 340;
  const routes = links.map(() => []);
  for (const pair of acyclic) {
    for (const at of pair.links) {
      const link = links[at];
      const points = [x(rank[link.from]) + 240, top[link.from] + link.fromY];
      for (const stop of pair.stops.slice(1, -1)) {
        points.push(x(nodes[stop].layer), top[stop] + 2, x(nodes[stop].layer) + 240, top[stop] + 2);
      }
      routes[at] = [...points, x(rank[link.to]), top[link.to] + link.toY];
    }
  }
  return routes;
}

function longestPath(count, pairs) {
  const rank = new Int32Array(count);
  for (let changed = true; changed;) {
    changed = false;
    for (const { tail, head } of pairs) {
      if (rank[head] <= rank[tail]) {
        rank[head] = rank[tail] + 1;
        changed = true;
      }
    }
  }
  return rank;
}

function barycentres(layers, between, count) {
  const position = new Float64Array(count);
  layers.forEach((layer) => layer.forEach((node, at) => (position[node] = at)));
  for (let round = 0; round < 8; round++) {
    const rightwards = round % 2 === 0;
    for (let i = 1; i < layers.length; i++) {
      const at = rightwards ? i : layers.length - 1 - i;
      const layer = layers[at];
      const segments = between[rightwards ? at - 1 : at];
      const wish = new Map(layer.map((node) => [node, []]));
      for (const { u, v } of segments) (rightwards ? wish.get(v) : wish.get(u)).push(position[rightwards ? u : v]);
      const mean = (node) => {
        const known = wish.get(node);
        return known.length ? known.reduce((a, b) => a + b) / known.length : position[node];
      };
      const means = new Map(layer.map((node) => [node, mean(node)]));
      layer.sort((a, b) => means.get(a) - means.get(b));
      layer.forEach((node, place) => (position[node] = place));
    }
  }
}

/** What the benchmark prints, one row for each size and seed. */
export function measure(sizes = [40, 150, 400], seeds = [1, 2, 3, 4, 5]) {
  const rows = [];
  for (const size of sizes) {
    for (const seed of seeds) {
      const { cards, links, edges } = warehouse(size, seed);
      layout(cards, links);
      const started = performance.now();
      const { routes } = layout(cards, links);
      const milliseconds = performance.now() - started;
      const own = drawnCrossings(routes);
      rows.push({
        size,
        seed,
        edges,
        links: links.length,
        milliseconds,
        own,
        plain: drawnCrossings(plain(cards, links)),
      });
    }
  }
  return rows;
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  for (const row of measure()) {
    const share = ((row.own / Math.max(1, row.plain)) * 100).toFixed(0);
    console.log(
      `${row.size} cards, ${row.edges} edges, ${row.links} links: ${row.milliseconds.toFixed(1)} ms, ` +
        `${row.own} crossings (plain ${row.plain}; ${share} %)`,
    );
  }
}
