// The order within layers that keeps crossings low: barycentres of ports, then exchanges of neighbours.
//
// Ports count, not only cards: two links between the same cards cross when their columns are in another order. Each
// node's segments are sorted by port once, so that walking a layer visits all ends in order without sorting again.

/** The segments of a layered graph, ready to be counted; `between[i]` holds those from layer i to i + 1. */
function prepare(between, count) {
  const all = between.flat();
  const number = (key) => Float64Array.from(all, (segment) => segment[key]);
  const graph = {
    u: Int32Array.from(all, (segment) => segment.u),
    v: Int32Array.from(all, (segment) => segment.v),
    uf: number("uf"),
    vf: number("vf"),
    weight: number("weight"),
    rightward: Array.from({ length: count }, () => []), // a node's segments to the right, top port first
    leftward: Array.from({ length: count }, () => []),
    ordinal: new Int32Array(all.length), // of a segment's end, while a layer is walked
    tree: new Int32Array(all.length + 2),
  };
  all.forEach((segment, at) => {
    graph.rightward[segment.u].push(at);
    graph.leftward[segment.v].push(at);
  });
  graph.rightward.forEach((list) => list.sort((a, b) => graph.uf[a] - graph.uf[b]));
  graph.leftward.forEach((list) => list.sort((a, b) => graph.vf[a] - graph.vf[b]));
  graph.left = room(graph.leftward);
  graph.right = room(graph.rightward);
  return graph;
}

/** Numbers the right ends of the segments into a layer from the top; ends in the same port have the same number. */
function numberEnds(graph, layer) {
  const { vf, leftward, ordinal } = graph;
  let next = 0;
  for (const node of layer) {
    let port = NaN;
    for (const at of leftward[node]) {
      if (vf[at] !== port) next++;
      port = vf[at];
      ordinal[at] = next;
    }
  }
  return next;
}

/** Weighted crossings between a layer and the one to its right. */
function crossingsOf(graph, layer, following) {
  const { uf, rightward, ordinal, tree, weight } = graph;
  const size = numberEnds(graph, following);
  tree.fill(0, 0, size + 1);
  let total = 0;
  let seen = 0;
  for (const node of layer) {
    const list = rightward[node];
    for (let at = 0; at < list.length;) {
      // those that share a port do not cross each other: they are counted before any of them is entered
      let end = at;
      while (end < list.length && uf[list[end]] === uf[list[at]]) end++;
      for (let one = at; one < end; one++) {
        let notBelow = 0;
        for (let i = ordinal[list[one]]; i > 0; i -= i & -i) notBelow += tree[i];
        total += (seen - notBelow) * weight[list[one]];
      }
      for (; at < end; at++) {
        seen += weight[list[at]];
        for (let i = ordinal[list[at]]; i <= size; i += i & -i) tree[i] += weight[list[at]];
      }
    }
  }
  return total;
}

function total(graph, layers) {
  let sum = 0;
  for (let at = 0; at + 1 < layers.length; at++) sum += crossingsOf(graph, layers[at], layers[at + 1]);
  return sum;
}

/**
 * Orders the nodes of each layer, changing `layers` in place; gives the weighted crossings that are left.
 *
 * Several beginnings lead to several ends, of which the best is kept: small graphs can afford more of them.
 */
export function order(layers, between, count) {
  const graph = prepare(between, count);
  const segments = graph.weight.length;
  const starts = Math.max(1, Math.min(6, Math.round(4000 / (segments + 1))));
  let best = null;
  let least = Infinity;
  for (let start = 0; start < starts && least > 0; start++) {
    const tried = layers.map((layer) => beginning(layer, start));
    const left = improve(tried, graph, count, start % 2 === 0);
    if (left < least) [best, least] = [tried, left];
  }
  best.forEach((layer, at) => (layers[at] = layer));
  return least;
}

/** As given, turned round, or shuffled the same way each time. */
function beginning(layer, start) {
  if (start < 2) return start === 0 ? [...layer] : [...layer].reverse();
  const shuffled = [...layer];
  let state = start * 2654435761;
  for (let at = shuffled.length - 1; at > 0; at--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const other = state % (at + 1);
    [shuffled[at], shuffled[other]] = [shuffled[other], shuffled[at]];
  }
  return shuffled;
}

function improve(layers, graph, count, rightwardsFirst) {
  const position = new Int32Array(count);
  const note = () => layers.forEach((layer) => layer.forEach((node, at) => (position[node] = at)));
  note();
  let best = layers.map((layer) => [...layer]);
  let least = total(graph, layers);
  for (let round = 0, idle = 0; round < 16 && least > 0 && idle < 4; round++) {
    sweep(layers, graph, position, (round % 2 === 0) === rightwardsFirst);
    transpose(layers, graph, position, 2);
    const now = total(graph, layers);
    idle = now < least ? 0 : idle + 1;
    if (now < least) [best, least] = [layers.map((layer) => [...layer]), now];
  }
  best.forEach((layer, at) => (layers[at] = layer));
  note();
  if (least > 0) transpose(layers, graph, position, 10);
  return total(graph, layers);
}

function sweep(layers, graph, position, rightwards) {
  const near = rightwards ? graph.leftward : graph.rightward;
  const [other, far, own] = rightwards ? [graph.u, graph.uf, graph.vf] : [graph.v, graph.vf, graph.uf];
  const wish = new Float64Array(position.length);
  const start = rightwards ? 1 : layers.length - 2;
  for (let at = start; at >= 0 && at < layers.length; at += rightwards ? 1 : -1) {
    const layer = layers[at];
    for (const node of layer) {
      let weight = 0;
      let sum = 0;
      for (const one of near[node]) {
        sum += graph.weight[one] * (position[other[one]] + far[one] - (own[one] - 0.5) * 0.5);
        weight += graph.weight[one];
      }
      wish[node] = weight ? sum / weight : position[node];
    }
    layer.sort((a, b) => wish[a] - wish[b] || position[a] - position[b]);
    layer.forEach((node, place) => (position[node] = place));
  }
}

/** Exchanges neighbours for as long as that removes crossings, `rounds` times at most. */
function transpose(layers, graph, position, rounds) {
  let active = layers.map((_, at) => at);
  for (let round = 0; round < rounds && active.length; round++) {
    const changed = new Set();
    for (const at of active) {
      if (at > 0) noteEnds(graph.left, layers[at - 1], graph.rightward, graph.uf, graph.v, graph.weight);
      if (at + 1 < layers.length)
        noteEnds(graph.right, layers[at + 1], graph.leftward, graph.vf, graph.u, graph.weight);
      const sides = [at > 0 ? graph.left : null, at + 1 < layers.length ? graph.right : null];
      if (exchange(layers[at], sides, position)) [at - 1, at, at + 1].forEach((one) => changed.add(one));
    }
    active = [...changed].filter((at) => at >= 0 && at < layers.length).sort((a, b) => a - b);
  }
}

/** Room for the far ends of every node's segments on one side, from the top: numbers and weights, node after node. */
function room(lists) {
  const start = new Int32Array(lists.length + 1);
  lists.forEach((list, node) => (start[node + 1] = start[node] + list.length));
  const size = start[lists.length];
  return { start, fill: new Int32Array(lists.length), at: new Int32Array(size), weight: new Float64Array(size) };
}

function noteEnds(side, neighbours, lists, ports, owner, weight) {
  for (const node of neighbours) for (const at of lists[node]) side.fill[owner[at]] = side.start[owner[at]];
  let next = 0;
  for (const node of neighbours) {
    let port = NaN;
    for (const at of lists[node]) {
      if (ports[at] !== port) next++;
      port = ports[at];
      const place = side.fill[owner[at]]++;
      side.at[place] = next;
      side.weight[place] = weight[at];
    }
  }
}

function exchange(layer, sides, position) {
  let changed = false;
  for (let at = 0; at + 1 < layer.length; at++) {
    const [a, b] = [layer[at], layer[at + 1]];
    let kept = 0;
    let exchanged = 0;
    for (const side of sides) {
      if (side === null) continue;
      kept += over(side, a, b);
      exchanged += over(side, b, a);
    }
    if (exchanged >= kept) continue;
    layer[at] = b;
    layer[at + 1] = a;
    position[b] = at;
    position[a] = at + 1;
    changed = true;
  }
  return changed;
}

/** Crossings between the segments of two neighbours when `above` stands above `below`. */
function over(side, above, below) {
  const { start, at, weight } = side;
  let sum = 0;
  let before = 0;
  let b = start[below];
  for (let a = start[above]; a < start[above + 1]; a++) {
    for (; b < start[below + 1] && at[b] < at[a]; b++) before += weight[b];
    sum += before * weight[a];
  }
  return sum;
}
