// What the page begins with: a view's picture, a search's results, places to start, or what became of a table.
import { byId } from "./base/dom.mjs";
import { sayWithLeftOut, windowText } from "./controls/filters.mjs";
import { showHeading } from "./controls/heading.mjs";
import { loadAreas } from "./controls/overview.mjs";
import { emptyView, startingAt } from "./controls/state.mjs";
import { differenceText } from "./graph/difference.mjs";
import { NOTHING, cardNamed, hasColumn, keyNamed, keyOf, readable, splitKey } from "./graph/model.mjs";
import { stateFacts } from "./lists/states.mjs";
import { levelText } from "./picture/fitting.mjs";
import { showBeginnings } from "./search/beginnings.mjs";
import { absentText, showMissing } from "./search/missing.mjs";
import { showResults } from "./search/results.mjs";
import { showStartLists } from "./search/start_lists.mjs";
import { NotThere } from "./source/contract.mjs";

const SMALL = 40;
const MOST_RESULTS = 200;
const MOST_STARTS = 100; // tables in the middle of a picture

/** Shows a view from the beginning. */
export async function open(explorer, view = explorer.address.view) {
  const { pins, chosen: ends, explained } = view;
  explorer.view = view;
  explorer.opening = true;
  explorer.focused = null;
  explorer.pins = new Set();
  explorer.graph = NOTHING;
  explorer.closePanel();
  if (view.area || !view.steps.length) explorer.opening = false; // nothing is pinned there
  if (view.area) return loadAreas(explorer);
  if (view.query && !view.steps.length) return results(explorer);
  if (explorer.source.compared) view.base ??= 0;
  if (!view.steps.length && !explorer.source.live) view.steps = explorer.source.beginning(SMALL);
  if (!view.steps.length) return begin(explorer);
  if (!(await explorer.load({ fit: true }))) return undefined;
  explorer.opening = false;
  const there = pins.filter((pin) => hasColumn(explorer.graph, explorer.links, pin));
  explorer.pins = new Set(there.map((pin) => keyNamed(explorer.graph, pin)));
  if (explorer.onPaths) {
    explorer.draw();
    explorer.camera.begin(explorer.scene, explorer.picture.boxOf(explorer.graph.roots[0]));
  }
  const chosen = ends && [keyNamed(explorer.graph, ends.from), keyNamed(explorer.graph, ends.to)];
  const link = chosen && explorer.links.find((one) => one.from === chosen[0] && one.to === chosen[1]);
  if (link) {
    explorer.openEdge([link]);
    explorer.camera.begin(explorer.scene, explorer.picture.boxOf(link.toCard));
  }
  const column = explained && keyNamed(explorer.graph, explained);
  view.explained = explained; // what was chosen of its impact belongs to it
  if (column && (!explained.path || hasColumn(explorer.graph, explorer.links, explained))) explorer.openColumn(column);
  explorer.relight();
  const strange = pins.filter((pin) => cardNamed(explorer.graph, pin.entity) && !there.includes(pin));
  const names = strange.map((pin) => `${readable(pin.entity)}.${readable(pin.path)}`);
  if (names.length) explorer.say(`no such column: ${names.join(", ")}`);
  return undefined;
}

async function begin(explorer) {
  const turn = ++explorer.turn;
  explorer.graph = NOTHING;
  explorer.draw();
  try {
    const overview = await explorer.source.overview();
    if (turn !== explorer.turn) return;
    const act = { coverage: () => explorer.details.openCoverage(), runs: () => explorer.details.openRuns() };
    showBeginnings(overview, act);
    showHeading("");
    sayWithLeftOut(explorer, "Search for a table or a column");
    if (hasMouse()) byId("search").focus();
    const lists = await explorer.source.startLists();
    if (turn !== explorer.turn) return;
    const found = (query) => () => explorer.open({ ...emptyView(), query });
    const more = { used: found("sort:used"), failed: act.runs, uncovered: act.coverage };
    showStartLists(lists, (entity) => explorer.start(entity, ""), explorer.source.live ? more : { used: more.used });
  } catch (error) {
    explorer.failed(error);
  }
}

/** Whether one points with a mouse: on a phone the keyboard would cover what the page offers. */
function hasMouse() {
  return !matchMedia("(pointer: coarse)").matches;
}

/** The results of the view's search in place of a picture. */
async function results(explorer) {
  const turn = ++explorer.turn;
  const { query } = explorer.view;
  explorer.draw();
  byId("search").value = query;
  try {
    const found = await explorer.source.search(query, MOST_RESULTS);
    if (turn !== explorer.turn) return;
    showResults(query, found, (one) => explorer.start(one.entity, one.path));
    showHeading(query);
    explorer.say(`${found.length} found`);
  } catch (error) {
    explorer.failed(error);
  }
}

/** One table with its neighbours, and what the panel tells of it; a column of it is pinned. */
export async function start(explorer, entity, path, reach = null) {
  await explorer.open(startingAt(explorer.view, { entity, path, reach }));
  const card = cardNamed(explorer.graph, entity);
  if (!card) return;
  explorer.openColumn(keyOf(card.id, path));
  explorer.draw(); // the panel took room: as much as fits beside it
  sayShown(explorer);
  explorer.camera.begin(explorer.scene, explorer.picture.boxOf(card.id));
  explorer.focus(keyOf(card.id, path), { quiet: true });
}

/** Asks for the view's graph and draws it, says whether it did; what arrives after a later question is left alone. */
export async function load(explorer, { fit = false, around = null } = {}) {
  const turn = ++explorer.turn;
  byId("start").hidden = true;
  try {
    const graph = await explorer.source.picture(explorer.view.steps, explorer.view);
    if (turn !== explorer.turn) return false;
    const [root] = graph.roots.map((id) => graph.cards.get(id));
    if (root?.gone && graph.cards.size === 1) throw new NotThere(root.fqn);
    for (const [id, card] of graph.cards) if (explorer.view.removed.includes(card.fqn)) graph.cards.delete(id);
    graph.edges = graph.edges.filter((edge) => graph.cards.has(edge.from) && graph.cards.has(edge.to));
    explorer.graph = graph;
    explorer.draw(around);
    if (fit) explorer.camera.begin(explorer.scene, explorer.picture.boxOf(explorer.graph.roots[0]));
    sayShown(explorer);
    markStates(explorer, turn);
    return true;
  } catch (error) {
    if (error instanceof NotThere) await lost(explorer, turn);
    else explorer.failed(error);
    return false;
  }
}

/** Says how much a picture shows, and what it leaves out. */
function sayShown(explorer) {
  const { graph, links, scene, view } = explorer;
  const level = levelText(scene);
  const window = graph.before ? differenceText(graph, links) : windowText(graph.window);
  const cut = graph.truncated ? "; there is more than is shown: start nearer to what you look for" : "";
  const shown = [`${graph.cards.size} tables, ${links.length} links`, level, window].filter(Boolean).join("; ");
  sayWithLeftOut(explorer, `${shown}${cut}${absentText(view, graph)}`);
}

/** Marks the cards with the states of their tables, once the picture is there: they are those of now. */
async function markStates(explorer, turn) {
  const { graph, source, view } = explorer;
  if (!source.live || view.asOf !== null || view.base !== null) return;
  try {
    const states = await source.states([...graph.cards.keys()]);
    if (turn !== explorer.turn) return;
    for (const [id, state] of Object.entries(states)) graph.cards.get(id).state = state;
    explorer.picture.markStates();
    const told = explorer.details.key && graph.cards.get(splitKey(explorer.details.key)[0]);
    if (told) byId("state-facts")?.replaceChildren(...stateFacts(told));
  } catch (error) {
    explorer.failed(error);
  }
}

/** In place of a picture whose table is not there: what became of it. */
async function lost(explorer, turn) {
  const [{ entity }] = explorer.view.steps;
  explorer.graph = NOTHING;
  explorer.draw();
  explorer.say(`${readable(entity)} is not here`);
  try {
    const found = await explorer.source.whereabouts(entity);
    if (turn !== explorer.turn) return;
    showMissing(entity, found, (other) => explorer.start(other, ""));
    showHeading("");
  } catch (error) {
    explorer.failed(error);
  }
}

/** A picture of everything that a search finds, as far around each as was asked for. */
export async function openAll(explorer, query, reach) {
  const { asOf, days } = explorer.view;
  try {
    const found = [...new Set((await explorer.source.search(query, 2 * MOST_STARTS)).map((one) => one.entity))];
    const steps = found.slice(0, MOST_STARTS).map((entity) => ({ entity, ...reach }));
    await explorer.open({ ...emptyView(), asOf, days, steps });
    if (found.length > MOST_STARTS) explorer.say(`The first ${MOST_STARTS} tables of what “${query}” finds are shown: narrow it`);
  } catch (error) {
    explorer.failed(error);
  }
}
