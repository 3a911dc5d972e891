// The picture and the lineage as files.
import { download } from "./dom.mjs";
import { csv, linkRows } from "./listing.mjs";
import { svgText } from "./svg_file.mjs";

const HEAD = ["from", "to", "kind", "how", "said by", "confidence"];

export function savePicture({ scene, graph, lit, pins, picture }) {
  download("lineage.svg", "image/svg+xml", svgText(scene, new Set(graph.roots), { light: lit, pins, found: picture.found }));
}

const SHARPNESS = 2;
const MOST_PIXELS = 8192; // on a side: what every browser draws

/** The picture as a PNG, twice as fine as on the screen where that is not too large. */
export function saveImage({ scene, graph, lit, pins, picture }) {
  const image = new Image();
  image.addEventListener("load", () => {
    const scale = Math.min(SHARPNESS, MOST_PIXELS / Math.max(image.width, image.height));
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width * scale, image.height * scale];
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => download("lineage.png", "image/png", blob));
  });
  const text = svgText(scene, new Set(graph.roots), { light: lit, pins, found: picture.found });
  image.src = `data:image/svg+xml,${encodeURIComponent(text)}`;
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
