// The picture and the lineage as files.
import { download } from "./dom.mjs";
import { csv, linkRows } from "./listing.mjs";
import { svgText } from "./svg_file.mjs";

const HEAD = ["from", "to", "kind", "how", "said by", "confidence"];

export function savePicture({ scene, graph, lit, pins }) {
  download("lineage.svg", "image/svg+xml", svgText(scene, new Set(graph.roots), { light: lit, pins }));
}

export function saveLinks({ graph, links }) {
  const rows = linkRows(graph, links).map((row) => [row.from, row.to, row.kind, row.how, row.by, row.confidence]);
  download("lineage.csv", "text/csv", csv(HEAD, rows));
}

export function saveGraph({ graph }) {
  const { cards, edges, roots, window } = graph;
  download(
    "lineage.json",
    "application/json",
    JSON.stringify({ roots, window, nodes: [...cards.values()], edges }, null, 1),
  );
}
