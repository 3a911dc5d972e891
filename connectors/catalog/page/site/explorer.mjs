// The explorer: takes the view from the address, asks for the graph, and keeps picture, panel and list in step.
import { byId } from "./base/dom.mjs";
import { filters, showFilters } from "./controls/filters.mjs";
import { Finder } from "./controls/find.mjs";
import { showHeading, subjectOf } from "./controls/heading.mjs";
import { keys } from "./controls/keys.mjs";
import { loadAreas, openAreaEdge, pickArea, showAreaBar } from "./controls/overview.mjs";
import { buttons, pointer } from "./controls/pointer.mjs";
import { Address, emptyView } from "./controls/state.mjs";
import { focus, reveal } from "./focus.mjs";
import { linksIn } from "./graph/difference.mjs";
import { NOTHING, endOf, label, splitKey } from "./graph/model.mjs";
import { adjacency, lit, litAlong, litOnly } from "./graph/trace.mjs";
import { load, open, openAll, start } from "./opening.mjs";
import { CorrectionDialog, showCorrected } from "./panel/corrections.mjs";
import { Details } from "./panel/details.mjs";
import { showList, toggleList } from "./panel/listing.mjs";
import { TimeBar, momentText } from "./panel/timebar.mjs";
import { Camera } from "./picture/camera.mjs";
import { Minimap } from "./picture/minimap.mjs";
import { Picture } from "./picture/picture.mjs";
import { fittedScene } from "./picture/fitting.mjs";
import { bring, expand, go, pickedOtherwise, remove } from "./reach.mjs";
import { showFailure } from "./search/missing.mjs";
import { narrowControls } from "./search/narrow_controls.mjs";
import { search } from "./search/search.mjs";
import { Unauthorised } from "./source/contract.mjs";

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
    this.opening = false; // whether what is pinned and open is not there yet, so that the address must not forget it
    this.turn = 0;
    this.surface = byId("picture");
    this.picture = new Picture(this.surface, { layer: byId("layer"), canvas: byId("wires"), drawing: byId("drawing") });
    this.camera = new Camera(this.surface, () => this.looked());
    this.minimap = new Minimap(byId("minimap"), this.camera);
    this.details = new Details(source, this);
    this.time = new TimeBar(source, this);
    this.corrections = new CorrectionDialog(source, this);
    this.address = new Address((view) => this.open(view));
    const failed = (error) => this.failed(error);
    const page = (query) => this.open({ ...emptyView(), asOf: this.view.asOf, days: this.view.days, query });
    const all = (query, reach) => (reach ? openAll(this, query, reach) : page(query));
    const ask = search(source, { chosen: ({ entity, path }, reach) => this.start(entity, path, reach), all, failed });
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

  open(view = this.address.view) {
    return open(this, view);
  }

  home() {
    return this.open(emptyView());
  }

  /** One table with its neighbours; a column of it is pinned. */
  start(entity, path, reach) {
    return start(this, entity, path, reach);
  }

  /** Asks for the view's graph and draws it, says whether it did. */
  load(how = {}) {
    return load(this, how);
  }

  /** Draws anew; around the card `around` (it was expanded, folded, pinned) all that was there stays where it was. */
  draw(around = null) {
    const before = around && this.picture.boxOf(around);
    this.links = linksIn(this.graph, this.view.filter);
    this.ties = adjacency(this.links);
    this.pins = new Set([...this.pins].filter((key) => this.graph.cards.has(splitKey(key)[0])));
    this.scene = fittedScene(this, around && this.scene?.boxes.length ? this.scene : null);
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

  get onPaths() {
    return this.view.columns === "path" && this.pins.size > 0;
  }

  changed(what) {
    if (what === "graph" && this.view.area) loadAreas(this);
    else if (what === "graph" && this.view.steps.length) this.load();
    else this.draw();
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

  expand(card, side, hops) {
    return expand(this, card, side, hops);
  }

  remove(card) {
    remove(this, card);
  }

  /** Takes tables into the picture, as they are. */
  bring(entities) {
    return bring(this, entities);
  }

  /** Goes to a column: where it is not in the picture yet, it is brought in. */
  go(entity, path) {
    return go(this, entity, path);
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
    if (this.view.columns === "path") this.draw(splitKey(key)[0]);
    this.relight();
    const columns = (this.lit?.columns.size ?? 1) - 1;
    this.say(this.pins.size ? `${this.pins.size} pinned; ${columns} columns on their paths` : "No pins");
  }

  unpin() {
    this.pins.clear();
    if (this.view.columns === "path") this.draw();
    this.relight();
  }

  /** What a click does: a column is pinned and explained, a card explained. */
  pick(key) {
    if (this.view.area) return pickArea(this, key);
    if (pickedOtherwise(this, key)) return undefined;
    const [, path] = splitKey(key);
    if (path) this.pin(key);
    if (!path || this.pins.has(key)) this.openColumn(key);
    else this.closePanel();
    return undefined;
  }

  mode(card, mode) {
    this.view.modes[card.fqn] = mode;
    this.draw(card.id);
  }

  // Focus

  focus(key, how = {}) {
    focus(this, key, how);
  }

  /** Moves as little as needed for a card or a column to be in sight, so many pixels from the edge. */
  reveal(key, space = 60) {
    reveal(this, key, space);
  }

  // Panel

  closePanel() {
    this.details.close();
    this.along(null);
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

  openColumn(key) {
    return this.#tried(async () => {
      const shown = this.details.column(this.graph, key, this.view);
      this.#keepAddress();
      this.reveal(key); // the panel takes room from the picture
      await shown;
    });
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
  corrected() {
    return showCorrected(this);
  }

  openChanges() {
    return this.#tried(() => this.details.changes(this.view));
  }

  async #tried(act) {
    try {
      await act();
    } catch (error) {
      this.failed(error);
    }
  }

  toggleList() {
    toggleList(this);
  }

  say(text) {
    byId("status").textContent = text;
  }

  failed(error) {
    if (error instanceof Unauthorised) return this.unauthorised(this);
    showFailure(this, error);
    return undefined;
  }

  /** The view with its pins and its open edge, as the address holds it. */
  #keepAddress() {
    if (this.opening) return;
    this.view.pins = [...this.pins].map((key) => endOf(this.graph, key));
    const [one] = this.details.links;
    this.view.chosen = one ? { from: endOf(this.graph, one.from), to: endOf(this.graph, one.to) } : null;
    this.view.explained = this.details.key ? endOf(this.graph, this.details.key) : null;
    this.address.keep(this.view);
    const whole = !this.source.live && this.view.steps.length >= this.source.graph.cards.size;
    showHeading(subjectOf(this.view, this.graph, whole), momentText(this.view, this.source.compared));
  }
}
