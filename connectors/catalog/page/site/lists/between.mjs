// The way from one column or table to another: where it is to end, and its stations in the panel.
import { breakable, html, many } from "../base/dom.mjs";
import { cardNamed, keyOf, label, partsOf, readable } from "../graph/model.mjs";

const FOUND = 12;

/** A column or a table by its names ({entity, path}), for people. */
export function endText({ entity, path }) {
  const table = readable(partsOf(entity).pop());
  return path ? `${table}.${readable(path)}` : table;
}

/** Asks where a way from `start` is to end: it is chosen in the picture, or searched for in the whole catalog. */
export function endPicker(start, { search, chosen, back, failed }) {
  const list = html("ul", { class: "plain", id: "way-found" });
  let asked = 0;
  const look = async (event) => {
    const [text, mine] = [event.target.value.trim(), ++asked];
    try {
      const found = text ? await search(text, FOUND) : [];
      if (mine === asked) list.replaceChildren(...found.map((one) => html("li", {}, foundElement(one, chosen))));
    } catch (error) {
      failed(error);
    }
  };
  return [
    html("button", { type: "button", id: "way-back", onclick: back }, "← Back"),
    html("h2", {}, `From ${endText(start)} to …`),
    html("label", { class: "field" }, "Search for its end, or choose it in the picture", html("input", { id: "way-end", type: "text", autocomplete: "off", spellcheck: "false", oninput: look })),
    list,
  ];
}

function foundElement(one, chosen) {
  return html("button", { type: "button", class: "go", onclick: () => chosen({ entity: one.entity, path: one.path }) }, html("b", {}, breakable(endText(one))), html("span", { class: "of" }, breakable(readable(partsOf(one.entity).slice(0, -1).join(".")))));
}

/** The links of a way ([{entity, path, direct}]) as the picture lights them: [{from, to, direct, keys}]. */
export function wayLinksOf(graph, stations) {
  const keys = stations.map(({ entity, path }) => keyOf(cardNamed(graph, entity)?.id ?? "", path));
  const rows = (at) => [keys[at], keyOf(cardNamed(graph, stations[at].entity)?.id ?? "", "")];
  return stations.slice(1).map(({ direct }, at) => ({
    from: keys[at],
    to: keys[at + 1],
    direct,
    keys: rows(at).flatMap((one) => rows(at + 1).map((other) => `${one}\t${other}`)),
  }));
}

/** The way in the panel, station by station. */
export function wayPanel(graph, way, act) {
  const stations = [way[0].from, ...way.map((one) => one.to)];
  return [
    html("h2", {}, `From ${label(graph, stations[0])} to ${label(graph, stations[stations.length - 1])}`),
    html("p", {}, `${many(way.length, "step")}. ${way.every((one) => one.direct) ? "Its values flow there." : "It has a say there; its values do not all flow."}`),
    html(
      "ol",
      { class: "plain", id: "way" },
      stations.map((key) => html("li", {}, html("button", { type: "button", class: "chooses", onclick: () => act.openColumn(key) }, breakable(label(graph, key))))),
    ),
  ];
}
