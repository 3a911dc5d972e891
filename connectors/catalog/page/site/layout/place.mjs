// Where in its layer a node stands: near the ports that it is joined to, in the order it was given, never overlapping.

/** Heights of the middles that are nearest to what each node wishes (least squares), keeping order and distance. */
export function settle(wishes, weights, gaps) {
  // pooling adjacent violators: blocks of nodes that touch move as one
  const blocks = [];
  let offset = 0;
  for (let at = 0; at < wishes.length; at++) {
    if (at > 0) offset += gaps[at - 1];
    let block = { sum: (wishes[at] - offset) * weights[at], weight: weights[at], size: 1 };
    while (
      blocks.length &&
      blocks[blocks.length - 1].sum / blocks[blocks.length - 1].weight > block.sum / block.weight
    ) {
      const above = blocks.pop();
      block = { sum: above.sum + block.sum, weight: above.weight + block.weight, size: above.size + block.size };
    }
    blocks.push(block);
  }
  const places = new Float64Array(wishes.length);
  let at = 0;
  offset = 0;
  for (const block of blocks) {
    for (let i = 0; i < block.size; i++, at++) {
      if (at > 0) offset += gaps[at - 1];
      places[at] = block.sum / block.weight + offset;
    }
  }
  return places;
}

/** The top of each node. `nodes` have height and margin; segments say which heights want to meet. */
export function tops(layers, between, nodes, rounds = 10) {
  const top = new Float64Array(nodes.length);
  for (const layer of layers) {
    let y = 0;
    for (const node of layer) {
      top[node] = y;
      y += nodes[node].height + nodes[node].margin;
    }
    for (const node of layer) top[node] -= y / 2;
  }
  const { left, right } = joints(between, nodes);
  for (let round = 0; round < rounds; round++) {
    const last = round >= rounds - 2;
    const rightwards = round % 2 === 0;
    for (let i = 0; i < layers.length; i++) {
      const layer = layers[rightwards ? i : layers.length - 1 - i];
      align(layer, nodes, top, last ? [left, right] : [rightwards ? left : right]);
    }
  }
  return top;
}

function joints(between, nodes) {
  const left = nodes.map(() => []);
  const right = nodes.map(() => []);
  for (const segments of between) {
    for (const { u, v, uy, vy, weight } of segments) {
      const straight = nodes[u].dummy && nodes[v].dummy ? 8 : nodes[u].dummy || nodes[v].dummy ? 2 : 1;
      right[u].push({ node: v, shift: vy - uy, weight: weight * straight });
      left[v].push({ node: u, shift: uy - vy, weight: weight * straight });
    }
  }
  return { left, right };
}

function align(layer, nodes, top, sides) {
  const wishes = [];
  const weights = [];
  for (const node of layer) {
    let sum = 0;
    let weight = 0;
    for (const side of sides) {
      for (const joint of side[node]) {
        sum += (top[joint.node] + joint.shift) * joint.weight;
        weight += joint.weight;
      }
    }
    wishes.push(weight ? sum / weight : top[node]);
    weights.push(weight || 0.01);
  }
  const gaps = [];
  for (let at = 0; at + 1 < layer.length; at++) {
    const [a, b] = [nodes[layer[at]], nodes[layer[at + 1]]];
    gaps.push(a.height + Math.min(a.margin, b.margin));
  }
  settle(wishes, weights, gaps).forEach((y, at) => (top[layer[at]] = y));
}
