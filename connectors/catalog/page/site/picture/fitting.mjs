// How much of each table a picture shows so that all of it can be read at once: columns, names, or schemas of many.
import { groupsOf } from "../graph/grouping.mjs";
import { splitKey } from "../graph/model.mjs";
import { lit, onPaths } from "../graph/trace.mjs";
import { LEGIBLE } from "./camera.mjs";
import { sceneOf } from "./scene.mjs";

const EDGE = 80; // pixels, of both sides
const NARROW = 700; // pixels: on a phone no picture fits, one goes along it
/** From columns of all cards to the names of all but some, then of those near, then of those that it is about. */
const LEVELS = [{}, { names: true }, { names: true, compact: true }, { names: true, compact: true, groups: "near" }, { names: true, compact: true, groups: "root" }];
const WORDS = ["", "columns of some, to fit", "names only, to fit", "grouped by schema, to fit", "grouped by schema, to fit"];
/** From so many cards on a level is not tried. */
const MOST = [40, 150, 400, 2_000, Infinity];
const MOST_NARROW = [30, 60, 150, 500, Infinity];

/** What the picture shows of its cards, in words; "" where it shows what was asked for. */
export function levelText(scene) {
  return WORDS[scene?.how.level ?? 0];
}

/** The scene of what an explorer shows; what was in the scene `before` it stays where it was. */
export function fittedScene(explorer, before = null) {
  const { graph, links, ties, view, pins, details, camera } = explorer;
  if (explorer.onPaths) return sceneOf(...onPaths(graph, links, lit(ties, pins)), view);
  if (before) return sceneOf(graph, links, view, { ...before.how, groups: stillGrouped(before, graph, view), before });
  if (view.columns !== "fit" || view.area) return sceneOf(graph, links, view);
  const { width, height } = camera.size;
  const narrow = width < NARROW;
  const most = narrow ? MOST_NARROW : MOST;
  const asked = [...graph.roots, ...pins, details.key].filter(Boolean).map((key) => splitKey(`${key}\n`)[0]);
  const kept = new Set([...asked, ...changedCards(graph, links)]);
  let scene = null;
  for (let level = 0; level < LEVELS.length; level++) {
    if (graph.cards.size > most[level]) continue;
    scene = sceneOf(graph, links, view, howOf(level, graph, view, kept));
    if (narrow || scene.width * LEGIBLE <= width - EDGE) {
      if (narrow || scene.height * LEGIBLE <= height - EDGE) return scene;
    }
  }
  return scene;
}

/** Of two moments the cards that differ, and those that other links lead to and from. */
function changedCards({ before, cards }, links) {
  if (!before) return [];
  const joined = links.filter((link) => link.change).flatMap((link) => [link.fromCard, link.toCard]);
  return [...joined, ...[...cards.values()].filter((card) => card.change).map((card) => card.id)];
}

function howOf(level, graph, view, kept) {
  const { names = false, compact = false, groups } = LEVELS[level];
  const grouped = groups ? groupsOf(graph, { kept, near: groups === "near", opened: view.opened }) : new Map();
  return { level, open: names ? kept : null, compact, groups: grouped };
}

/** The groups of a scene without those that were opened; what came since is in none. */
function stillGrouped({ how }, graph, { opened }) {
  return new Map([...how.groups].filter(([id, group]) => graph.cards.has(id) && !opened.includes(group.id)));
}
