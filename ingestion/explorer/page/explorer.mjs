// The explorer: takes the view from the address, asks for the graph, and keeps picture, panel and list in step.
import { showBeginnings } from "./beginnings.mjs";
import { Camera } from "./camera.mjs";
import { CorrectionDialog } from "./corrections.mjs";
import { Details } from "./details.mjs";
import { differenceText, linksIn } from "./difference.mjs";
import { byId, html } from "./dom.mjs";
import { filters, showFilters, windowText } from "./filters.mjs";
import { Finder } from "./find.mjs";
import { showHeading, subjectOf } from "./heading.mjs";
import { keys } from "./keys.mjs";
import { showList } from "./listing.mjs";
import { Minimap } from "./minimap.mjs";
import { absentText, showMissing } from "./missing.mjs";
import { cardNamed, endOf, keyNamed, keyOf, label, readable, splitKey } from "./model.mjs";
import { narrowControls } from "./narrow_controls.mjs";
import { tableList } from "./neighbours.mjs";
import { loadAreas, openAreaEdge, pickArea, showAreaBar } from "./overview.mjs";
import { Picture } from "./picture.mjs";
import { buttons, pointer } from "./pointer.mjs";
import { showResults } from "./results.mjs";
import { sceneOf } from "./scene.mjs";
import { search } from "./search.mjs";
import { BESIDE, NotThere, Unauthorised } from "./source.mjs";
import { Address, emptyView, extend, startingAt } from "./state.mjs";
import { TimeBar, momentText } from "./timebar.mjs";
import { adjacency, lit, litAlong, litOnly, onPaths } from "./trace.mjs";

const SMALL = 40;
const MOST_RESULTS = 200;
const NOTHING = { cards: new Map(), edges: [], roots: [], window: {} };

export class Explorer {
  /** `unauthorised` is told when the source wants a token. */
  constructor(source, unauthorised) {
    this.unauthorised = unauthorised;
    this.source = source;
    this.view = emptyView();
    this.graph = NOTHING;
    this.pins = new Set();
    this.focused = null;
    this.hovered = [];
    this.way = null; // the links of a chain that the reader goes along
    this.turn = 0;
    this.surface = byId("picture");
    this.picture = new Picture(this.surface, byId("wires"));
    this.camera = new Camera(this.surface, () => this.looked());
    this.minimap = new Minimap(byId("minimap"), this.camera);
    this.details = new Details(source, this);
    this.time = new TimeBar(source, this);
    this.corrections = new CorrectionDialog(source, this);
    this.address = new Address((view) => this.open(view));
    const failed = (error) => this.failed(error);
    const all = (query) => this.open({ ...emptyView(), asOf: this.view.asOf, days: this.view.days, query });
    const ask = search(source, { chosen: (result) => this.start(result.entity, result.path), all, failed });
    narrowControls(source, ask, failed);
    this.finder = new Finder(this);
    filters(
      () => this.view,
      source.live,
      (what) => this.changed(what),
    );
    keys(this, byId("search"));
    pointer(this);
    buttons(this);
  }

  /** Shows a view from the beginning. */
  async open(view = this.address.view) {
    const [pins, ends] = [view.pins, view.chosen];
    this.view = view;
    this.focused = null;
    this.pins = new Set();
    this.graph = NOTHING;
    this.closePanel();
    if (view.area) return loadAreas(this);
    if (view.query && !view.steps.length) return this.#results();
    if (this.source.compared) view.base ??= 0;
    if (!view.steps.length && !this.source.live) view.steps = this.source.beginning(SMALL);
    if (!view.steps.length) return this.#begin();
    if (!(await this.load({ fit: true }))) return undefined;
    this.pins = new Set(pins.map((pin) => keyNamed(this.graph, pin)).filter(Boolean));
    if (this.#onPaths) {
      this.#draw();
      this.camera.begin(this.scene, this.picture.boxOf(this.graph.roots[0]));
    }
    const chosen = ends && [keyNamed(this.graph, ends.from), keyNamed(this.graph, ends.to)];
    const link = chosen && this.links.find((one) => one.from === chosen[0] && one.to === chosen[1]);
    if (link) {
      this.openEdge([link]);
      this.camera.begin(this.scene, this.picture.boxOf(link.toCard));
    }
    this.relight();
    return undefined;
  }

  home() {
    return this.open(emptyView());
  }

  async #begin() {
    const turn = ++this.turn;
    this.graph = NOTHING;
    this.#draw();
    try {
      const overview = await this.source.overview();
      if (turn !== this.turn) return;
      showBeginnings(overview, (entity) => this.start(entity, ""));
      showHeading("");
      this.say("Search for a table or a column");
    } catch (error) {
      this.failed(error);
    }
  }

  /** The results of the view's search in place of a picture. */
  async #results() {
    const turn = ++this.turn;
    const { query } = this.view;
    this.#draw();
    byId("search").value = query;
    try {
      const found = await this.source.search(query, MOST_RESULTS);
      if (turn !== this.turn) return;
      showResults(query, found, (one) => this.start(one.entity, one.path));
      showHeading(query);
      this.say(`${found.length} found`);
    } catch (error) {
      this.failed(error);
    }
  }

  /** One table with its neighbours; a column of it is pinned. */
  async start(entity, path) {
    await this.open(startingAt(this.view, entity, path));
    const card = cardNamed(this.graph, entity);
    if (!card) return;
    if (path) {
      this.openColumn(keyOf(card.id, path));
      this.camera.begin(this.scene, this.picture.boxOf(card.id));
    }
    this.focus(keyOf(card.id, path), { quiet: true });
  }

  /** Asks for the view's graph and draws it, says whether it did; what arrives after a later question is left alone. */
  async load({ fit = false, around = null } = {}) {
    const turn = ++this.turn;
    byId("start").hidden = true;
    try {
      const graph = await this.source.picture(this.view.steps, this.view);
      if (turn !== this.turn) return false;
      const [root] = graph.roots.map((id) => graph.cards.get(id));
      if (root?.gone && graph.cards.size === 1) throw new NotThere(root.fqn);
      for (const [id, card] of graph.cards) if (this.view.removed.includes(card.fqn)) graph.cards.delete(id);
      graph.edges = graph.edges.filter((edge) => graph.cards.has(edge.from) && graph.cards.has(edge.to));
      this.graph = graph;
      this.#draw(around);
      if (fit) this.camera.begin(this.scene, this.picture.boxOf(this.graph.roots[0]));
      const window = graph.before ? differenceText(graph, this.links) : windowText(graph.window);
      const cut = graph.truncated ? "; there is more than is shown: start nearer to what you look for" : "";
      this.say(`${graph.cards.size} tables, ${this.links.length} links${window ? `; ${window}` : ""}${cut}${absentText(this.view, graph)}`);
      return true;
    } catch (error) {
      if (error instanceof NotThere) await this.#lost(turn);
      else this.failed(error);
      return false;
    }
  }

  /** In place of a picture whose table is not there: what became of it. */
  async #lost(turn) {
    const [{ entity }] = this.view.steps;
    this.graph = NOTHING;
    this.#draw();
    this.say(`${readable(entity)} is not here`);
    try {
      const found = await this.source.whereabouts(entity);
      if (turn !== this.turn) return;
      showMissing(entity, found, (other) => this.start(other, ""));
      showHeading("");
    } catch (error) {
      this.failed(error);
    }
  }

  /** Draws anew; the card `around` (it was expanded, folded, pinned) stays under the pointer. */
  #draw(around = null) {
    const before = around && this.picture.boxOf(around);
    this.links = linksIn(this.graph, this.view.filter);
    this.ties = adjacency(this.links);
    this.pins = new Set([...this.pins].filter((key) => this.graph.cards.has(splitKey(key)[0])));
    this.scene = this.#onPaths
      ? sceneOf(...onPaths(this.graph, this.links, lit(this.ties, this.pins)), this.view)
      : sceneOf(this.graph, this.links, this.view);
    this.picture.show(this.scene, this.graph.roots, this.camera);
    this.camera.hold(before, around && this.picture.boxOf(around));
    showFilters(this.view, this.graph, (what) => this.changed(what));
    showAreaBar(this);
    showList(this);
    this.time.show();
    this.minimap.show(this.scene); // after the list, which takes its room
    byId("legend").hidden = !byId("start").hidden || !this.graph.cards.size;
    this.hovered = [];
    this.way = null;
    this.relight();
    this.finder.look();
    document.body.dataset.ready = String(this.graph.cards.size);
    performance.mark("drawn");
  }

  get #onPaths() {
    return this.view.columns === "path" && this.pins.size > 0;
  }

  changed(what) {
    if (what === "graph" && this.view.area) loadAreas(this);
    else if (what === "graph" && this.view.steps.length) this.load();
    else this.#draw();
  }

  looked() {
    this.picture.look(this.camera);
    this.minimap.look();
  }

  /** The window has another size, or the page other colours. */
  resized() {
    this.picture.recolour();
    if (this.scene) this.minimap.show(this.scene);
    this.looked();
  }

  fit() {
    if (this.scene) this.camera.fit({ x: 0, y: 0, width: this.scene.width, height: this.scene.height });
  }

  /** Takes in neighbours; where they are many, the panel lists them to choose from. */
  expand(card, side, hops) {
    const step = this.view.steps.find((one) => one.entity === card.fqn);
    if (hops === 1 && card.hidden[side] && (card.hidden[side] > BESIDE || step?.[side])) return this.#neighbours(card, side);
    extend(this.view, card, side, hops);
    return this.load({ around: card.id });
  }

  #neighbours(card, side) {
    const ask = (asked) => this.source.neighbours(card, side, asked, this.view);
    this.details.list([
      html("h2", {}, side === "upstream" ? `What ${card.name} reads` : `What reads ${card.name}`),
      ...tableList(`the ${side} of ${card.name}`, ask, {
        choose: (entity) => this.go(entity, ""),
        bring: (entities) => this.bring(entities),
        has: (entity) => Boolean(cardNamed(this.graph, entity)),
        failed: (error) => this.failed(error),
      }),
    ]);
    this.relight();
    byId("panel").querySelector(".list-search").focus();
  }

  remove(card) {
    this.view.removed.push(card.fqn);
    this.closePanel();
    this.focused = null;
    this.load();
  }

  // Light

  hoverOver(keys) {
    if (String(keys) === String(this.hovered)) return;
    this.hovered = keys;
    this.relight();
  }

  /** Lights the paths of the pins and of what the pointer is on: a column, or both ends of a wire. */
  relight() {
    const starts = new Set([...this.pins, ...this.hovered]);
    const open = this.details.links;
    if (this.way) this.lit = litAlong(this.way);
    else if (starts.size) this.lit = lit(this.ties, starts);
    else this.lit = open.length ? litOnly(open) : null;
    this.picture.paint({ light: this.lit, pins: this.pins, chosen: open.length ? open[0].key : null });
    byId("clear-pins").hidden = !this.pins.size;
    byId("clear-pins").textContent = `Clear ${this.pins.size} pin${this.pins.size === 1 ? "" : "s"}`;
    this.#keepAddress();
  }

  /** Lights the links of one way of a chain, or (null) what was lit before. */
  along(way) {
    this.way = way;
    this.relight();
  }

  pin(key) {
    if (!this.pins.delete(key)) this.pins.add(key);
    if (this.view.columns === "path") this.#draw(splitKey(key)[0]);
    this.relight();
    const columns = (this.lit?.columns.size ?? 1) - 1;
    this.say(this.pins.size ? `${this.pins.size} pinned; ${columns} columns on their paths` : "No pins");
  }

  unpin() {
    this.pins.clear();
    if (this.view.columns === "path") this.#draw();
    this.relight();
  }

  /** What a click does: a column is pinned and explained, a card explained. */
  pick(key) {
    if (this.view.area) return pickArea(this, key);
    const [, path] = splitKey(key);
    if (path) this.pin(key);
    if (!path || this.pins.has(key)) this.openColumn(key);
    else this.closePanel();
    return undefined;
  }

  fold(card) {
    const box = this.picture.boxOf(card.id);
    return this.mode(
      card,
      box.mode === "none" ? (this.view.columns === "none" ? "involved" : this.view.columns) : "none",
    );
  }

  mode(card, mode) {
    this.view.modes[card.fqn] = mode;
    this.#draw(card.id);
  }

  // Focus

  focus(key, { quiet = false } = {}) {
    const [id] = splitKey(key);
    if (!this.picture.boxOf(id)) return;
    if (!quiet) this.reveal(key);
    this.focused = key;
    const element = this.picture.elementOf(key) ?? this.picture.elementOf(keyOf(id, ""));
    element?.focus({ preventScroll: true });
  }

  /** Moves as little as needed for a card or a column to be in sight, so many pixels from the edge. */
  reveal(key, space = 60) {
    const [id, path] = splitKey(key);
    const box = this.picture.boxOf(id);
    if (!box) return;
    const y = path ? box.y + (box.port.get(path) ?? 0) - 11 : box.y;
    this.camera.reveal({ x: box.x, y, width: box.width, height: path ? 22 : 48 }, space);
  }

  // Panel

  closePanel() {
    this.details.close();
    this.relight();
  }

  openEdge(links) {
    if (this.view.area) return openAreaEdge(this, links);
    this.details.edge(this.graph, links);
    this.relight();
    // the panel takes room from the picture: what it speaks of stays in sight
    this.camera.revealAll([links[0].fromCard, links[0].toCard].map((id) => this.picture.boxOf(id)).filter(Boolean));
    this.say(`Link from ${label(this.graph, links[0].from)} to ${label(this.graph, links[0].to)}`);
    return undefined;
  }

  async openColumn(key) {
    try {
      const shown = this.details.column(this.graph, key, this.view);
      this.reveal(key); // the panel takes room from the picture
      await shown;
    } catch (error) {
      this.failed(error);
    }
  }

  /** Goes to a column: where it is not in the picture yet, it is brought in. */
  async go(entity, path) {
    if (!cardNamed(this.graph, entity)) {
      this.view.steps.push({ entity, upstream: 0, downstream: 0 });
      await this.load();
    }
    const card = cardNamed(this.graph, entity);
    if (card) this.focus(keyOf(card.id, path));
  }

  /** Takes tables into the picture, as they are. */
  async bring(entities) {
    const { key } = this.details;
    this.view.steps.push(...entities.map((entity) => ({ entity, upstream: 0, downstream: 0 })));
    this.view.removed = this.view.removed.filter((name) => !entities.includes(name));
    if (await this.load()) this.fit();
    if (key) await this.openColumn(key);
  }

  get live() {
    return this.source.live;
  }

  correct(verdict, from, to) {
    this.corrections.ask(verdict, from, to);
  }

  undo(correction) {
    this.corrections.askUndo(correction);
  }

  /** Something was corrected by hand: the picture shows it, and the panel who did. */
  async corrected() {
    const [link] = this.details.links;
    const key = this.details.key ?? link?.to;
    this.closePanel();
    this.time.forget();
    await this.load();
    if (key && this.graph.cards.has(splitKey(key)[0])) await this.openColumn(key);
    this.say("Corrected; the table's panel has it, with a way back");
  }

  async openChanges() {
    try {
      await this.details.changes(this.view);
    } catch (error) {
      this.failed(error);
    }
  }

  // List, files, help

  toggleList() {
    this.view.list = !this.view.list;
    this.#draw();
    if (this.view.list) byId("list").focus();
  }

  say(text) {
    byId("status").textContent = text;
  }

  failed(error) {
    if (error instanceof Unauthorised) return this.unauthorised(this);
    this.say(`That did not work: ${error.message}`);
    byId("status").classList.add("failed");
    setTimeout(() => byId("status").classList.remove("failed"), 4000);
    return undefined;
  }

  /** The view with its pins and its open edge, as the address holds it. */
  #keepAddress() {
    this.view.pins = [...this.pins].map((key) => endOf(this.graph, key));
    const [one] = this.details.links;
    this.view.chosen = one ? { from: endOf(this.graph, one.from), to: endOf(this.graph, one.to) } : null;
    this.address.keep(this.view);
    const whole = !this.source.live && this.view.steps.length >= this.source.graph.cards.size;
    showHeading(subjectOf(this.view, this.graph, whole), momentText(this.view, this.source.compared));
  }
}
