// Which layer a card stands in: cycles condensed, every link pointing right, no link longer than it must be.

/** Strongly connected components (Tarjan, without recursion): the component of each node. */
export function components(count, next) {
  const index = new Int32Array(count).fill(-1);
  const low = new Int32Array(count);
  const component = new Int32Array(count).fill(-1);
  const open = [];
  let clock = 0;
  let found = 0;
  for (let start = 0; start < count; start++) {
    if (index[start] !== -1) continue;
    const calls = [[start, 0]];
    while (calls.length) {
      const call = calls[calls.length - 1];
      const [node, at] = call;
      if (at === 0) {
        index[node] = low[node] = clock++;
        open.push(node);
      }
      if (at < next[node].length) {
        call[1]++;
        const target = next[node][at];
        if (index[target] === -1) calls.push([target, 0]);
        else if (component[target] === -1) low[node] = Math.min(low[node], index[target]);
        continue;
      }
      calls.pop();
      if (calls.length) {
        const parent = calls[calls.length - 1][0];
        low[parent] = Math.min(low[parent], low[node]);
      }
      if (low[node] !== index[node]) continue;
      for (let member = -1; member !== node;) {
        member = open.pop();
        component[member] = found;
      }
      found++;
    }
  }
  return component;
}

/** The order of a cycle's members that leaves least weight pointing back (Eades, Lin and Smyth). */
function sequence(members, pairs) {
  const left = new Set(members);
  const head = [];
  const tail = [];
  while (left.size) {
    let best = null;
    let bestScore = -Infinity;
    let sink = null;
    for (const node of left) {
      let out = 0;
      let into = 0;
      for (const pair of pairs) {
        if (!left.has(pair.from) || !left.has(pair.to)) continue;
        if (pair.from === node) out += pair.weight;
        if (pair.to === node) into += pair.weight;
      }
      if (out === 0) sink = node;
      if (out - into > bestScore) [best, bestScore] = [node, out - into];
    }
    const taken = sink ?? best;
    left.delete(taken);
    if (sink !== null) tail.unshift(taken);
    else head.push(taken);
  }
  return [...head, ...tail];
}

/** Pairs turned so that there is no cycle; `turned` marks those that now point against the flow. */
export function withoutCycles(count, pairs) {
  const next = Array.from({ length: count }, () => []);
  for (const pair of pairs) next[pair.from].push(pair.to);
  const component = components(count, next);
  const members = new Map();
  component.forEach((at, node) => members.set(at, [...(members.get(at) ?? []), node]));
  const position = new Int32Array(count);
  for (const [at, nodes] of members) {
    if (nodes.length === 1) continue;
    const inside = pairs.filter((pair) => component[pair.from] === at && component[pair.to] === at);
    sequence(nodes, inside).forEach((node, place) => (position[node] = place));
  }
  return pairs.map((pair) => {
    const back = component[pair.from] === component[pair.to] && position[pair.from] > position[pair.to];
    return { ...pair, tail: back ? pair.to : pair.from, head: back ? pair.from : pair.to, turned: back };
  });
}

/** The layer of each node: as far left as its sources allow, then moved to where its links are shortest. */
export function ranks(count, pairs) {
  const out = Array.from({ length: count }, () => []);
  const into = Array.from({ length: count }, () => []);
  for (const pair of pairs) {
    out[pair.tail].push(pair);
    into[pair.head].push(pair);
  }
  const waiting = Int32Array.from(into, (list) => list.length);
  const order = [];
  for (let node = 0; node < count; node++) if (!waiting[node]) order.push(node);
  const rank = new Int32Array(count);
  for (let at = 0; at < order.length; at++) {
    for (const pair of out[order[at]]) {
      rank[pair.head] = Math.max(rank[pair.head], rank[pair.tail] + 1);
      if (--waiting[pair.head] === 0) order.push(pair.head);
    }
  }
  for (let round = 0; round < 4; round++) {
    const sweep = round % 2 ? order : [...order].reverse();
    let moved = false;
    for (const node of sweep) moved = tighten(node, rank, into[node], out[node]) || moved;
    if (!moved) break;
  }
  const lowest = rank.reduce((least, value) => Math.min(least, value), 0);
  return lowest ? rank.map((value) => value - lowest) : rank;
}

function tighten(node, rank, into, out) {
  const pull = sum(out) - sum(into);
  if (pull === 0) return false;
  let place = rank[node];
  if (pull > 0 && out.length) place = Math.min(...out.map((pair) => rank[pair.head])) - 1;
  if (pull < 0 && into.length) place = Math.max(...into.map((pair) => rank[pair.tail])) + 1;
  const moved = place !== rank[node];
  rank[node] = place;
  return moved;
}

function sum(pairs) {
  return pairs.reduce((total, pair) => total + pair.weight, 0);
}
