// The way from one column or table to another, through the links of a picture.
import { breakable, html } from "../base/dom.mjs";
import { keyOf, label, splitKey } from "../graph/model.mjs";
import { walk } from "../graph/trace.mjs";

/** The links from one end to the other, or from the other to the one: [{from, to, direct, keys}]; null where there is no way. */
export function wayBetween(ties, start, end) {
  for (const [one, other] of [
    [start, end],
    [end, start],
  ]) {
    const found = shortest(ties, one, other);
    if (found) return found;
  }
  return null;
}

function shortest(ties, start, end) {
  const [card, path] = splitKey(end);
  const ends = [];
  for (const [key, step] of walk(ties, start, false)) if (path ? key === end : splitKey(key)[0] === card) ends.push(step);
  ends.sort((a, b) => a.strength - b.strength || a.hops - b.hops);
  if (!ends.length) return null;
  return ends[0].path.slice(1).map((to, at) => ({ from: ends[0].path[at], to, direct: ends[0].strength === 0, keys: keysOf(ends[0].path[at], to) }));
}

function keysOf(from, to) {
  const rows = (key) => [key, keyOf(splitKey(key)[0], "")];
  return rows(from).flatMap((one) => rows(to).map((other) => `${one}\t${other}`));
}

/** The way in the panel, station by station. */
export function wayPanel(graph, way, act) {
  const stations = [way[0].from, ...way.map((one) => one.to)];
  return [
    html("h2", {}, `From ${label(graph, stations[0])} to ${label(graph, stations[stations.length - 1])}`),
    html("p", {}, way.every((one) => one.direct) ? "Its values flow there." : "It has a say there; its values do not all flow."),
    html(
      "ol",
      { class: "plain", id: "way" },
      stations.map((key) => html("li", {}, html("button", { type: "button", class: "chooses", onclick: () => act.openColumn(key) }, breakable(label(graph, key))))),
    ),
  ];
}
