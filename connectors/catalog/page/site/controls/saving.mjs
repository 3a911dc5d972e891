// The picture and the lineage as files.
import { download } from "../base/dom.mjs";
import { csv, linkRows } from "../panel/listing.mjs";
import { svgText } from "../picture/svg_file.mjs";

const HEAD = ["from", "to", "kind", "how", "said by", "confidence"];

/** What the picture is of, as it stands in the files: title of the page without its end. */
function fileText({ scene, graph, lit, pins, picture }) {
  return svgText(scene, new Set(graph.roots), { light: lit, pins, found: picture.found, title: document.title });
}

export function savePicture(explorer) {
  download("lineage.svg", "image/svg+xml", fileText(explorer));
}

const SHARPNESS = 2;
const MOST_PIXELS = 8192; // on a side: what every browser draws

/** The picture as a PNG, twice as fine as on the screen where that is not too large. */
export function saveImage(explorer) {
  const image = new Image();
  image.addEventListener("load", () => {
    const scale = Math.min(SHARPNESS, MOST_PIXELS / Math.max(image.width, image.height));
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width * scale, image.height * scale];
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => download("lineage.png", "image/png", blob));
  });
  image.src = `data:image/svg+xml,${encodeURIComponent(fileText(explorer))}`;
}

export function saveLinks({ graph, links }) {
  const more = (row) => (graph.before ? [row.link.change ?? ""] : []);
  const rows = linkRows(graph, links).map((row) => [row.from, row.to, row.kind, row.how, row.by, row.confidence, ...more(row)]);
  download("lineage.csv", "text/csv", csv(graph.before ? [...HEAD, "change"] : HEAD, rows));
}

export function saveGraph({ graph }) {
  const { cards, edges, roots, window, before } = graph;
  download(
    "lineage.json",
    "application/json",
    JSON.stringify({ roots, window, nodes: [...cards.values()], edges, before }, null, 1),
  );
}
