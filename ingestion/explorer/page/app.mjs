// The explorer: reads the view from the address, asks for the graph, and keeps picture, panel and list in step.
import { Camera } from "./camera.mjs";
import { byId, download, html } from "./dom.mjs";
import { filters, showFilters, windowText } from "./filters.mjs";
import { keys } from "./keys.mjs";
import { csv, linkRows, listElement } from "./listing.mjs";
import { Minimap } from "./minimap.mjs";
import { keyOf, label, linksOf, splitKey } from "./model.mjs";
import { columnPanel, edgePanel, impactElement } from "./panel.mjs";
import { Picture } from "./picture.mjs";
import { sceneOf } from "./scene.mjs";
import { search } from "./search.mjs";
import { CatalogSource, DocumentSource, Unauthorised } from "./source.mjs";
import { emptyView, readView, written } from "./state.mjs";
import { svgText } from "./svg_file.mjs";
import { adjacency, lit } from "./trace.mjs";

const SMALL = 40;
const READABLE = 0.7;
const NOTHING = { cards: new Map(), edges: [], roots: [], window: {} };

class Explorer {
  constructor(source) {
    this.source = source;
    this.view = readView(location.hash);
    this.graph = NOTHING;
    this.pins = new Set();
    this.focused = null;
    this.hovered = null;
    this.surface = byId("picture");
    this.picture = new Picture(this.surface, byId("wires"));
    this.camera = new Camera(this.surface, () => this.#looked());
    this.minimap = new Minimap(byId("minimap"), this.camera);
    const failed = (error) => this.failed(error);
    search(source, (result) => this.start(result.entity, result.path), failed);
    filters(() => this.view, source.live, (what) => this.changed(what));
    keys(this, byId("search"));
    this.#listen();
  }

  #listen() {
    const surface = this.surface;
    surface.addEventListener("pointermove", (event) => !event.buttons && this.#hover(event));
    surface.addEventListener("pointerleave", () => this.#light(null));
    surface.addEventListener("click", (event) => this.#clicked(event));
    surface.addEventListener("dblclick", (event) => event.target.closest(".card") || this.camera.zoom(1.5, event.clientX, event.clientY));
    surface.addEventListener("focusin", (event) => this.#focusedOn(event.target));
    surface.addEventListener("focus", () => this.focused || (this.scene?.boxes.length && this.focus(keyOf(this.scene.boxes[0].id, ""))));
    byId("zoom-in").addEventListener("click", () => this.camera.zoom(1.25));
    byId("zoom-out").addEventListener("click", () => this.camera.zoom(0.8));
    byId("zoom-fit").addEventListener("click", () => this.fit());
    byId("list-toggle").addEventListener("click", () => this.toggleList());
    byId("close-panel").addEventListener("click", () => this.closePanel());
    byId("save-svg").addEventListener("click", () => this.saveSvg());
    byId("save-json").addEventListener("click", () => download("lineage.json", "application/json", this.#json()));
    byId("save-csv").addEventListener("click", () => this.#saveLinks());
    byId("clear-pins").addEventListener("click", () => this.#unpin());
    byId("help-toggle").addEventListener("click", () => this.help());
    byId("home").addEventListener("click", (event) => {
      event.preventDefault();
      location.hash = "";
    });
    addEventListener("hashchange", () => location.hash.slice(1) !== this.address && this.open(readView(location.hash)));
    addEventListener("resize", () => this.#looked());
  }

  /** Shows a view from the beginning. */
  async open(view = this.view) {
    const [pins, ends] = [view.pins, view.chosen];
    this.view = view;
    this.focused = null;
    this.pins = new Set();
    this.graph = NOTHING;
    this.closePanel();
    if (!view.steps.length && !this.source.live && this.source.graph.cards.size <= SMALL) {
      view.steps = [...this.source.graph.cards.values()].map((card) => ({ entity: card.fqn, upstream: 0, downstream: 0 }));
    }
    if (!view.steps.length) return this.#begin();
    await this.load({ fit: true });
    this.pins = new Set(pins.map((pin) => this.#keyOf(pin)).filter(Boolean));
    const chosen = ends && [this.#keyOf(ends.from), this.#keyOf(ends.to)];
    const link = chosen && this.links.find((one) => one.from === chosen[0] && one.to === chosen[1]);
    if (link) this.openEdge([link]);
    this.#light(null);
    return undefined;
  }

  async #begin() {
    this.graph = NOTHING;
    byId("start").hidden = false;
    this.#draw();
    try {
      const { tables, columnEdges, beginnings } = await this.source.overview();
      byId("start-count").textContent = `${tables.toLocaleString("en")} tables, ${columnEdges.toLocaleString("en")} column edges`;
      byId("beginnings").replaceChildren(...beginnings.map((one) => html("li", {}, html("button", { type: "button", onclick: () => this.start(one.entity, "") },
        html("span", { class: "found" }, one.entity),
        html("span", { class: "count" }, `${one.upstream} upstream, ${one.downstream} downstream`)))));
      this.say("Search for a table or a column");
    } catch (error) {
      this.failed(error);
    }
  }

  #keyOf(end) {
    const card = [...this.graph.cards.values()].find((one) => one.fqn === end.entity);
    return card ? keyOf(card.id, end.path) : null;
  }

  #endOf(key) {
    const [id, path] = splitKey(key);
    return { entity: this.graph.cards.get(id).fqn, path };
  }

  /** One table with its neighbours; a column of it is pinned. */
  async start(entity, path) {
    const { asOf, days, filter, columns } = this.view;
    const pins = path ? [{ entity, path }] : [];
    await this.open({ ...emptyView(), asOf, days, filter, columns, pins, steps: [{ entity, upstream: 1, downstream: 1 }] });
    const card = [...this.graph.cards.values()].find((one) => one.fqn === entity);
    if (!card) return;
    if (path) this.openColumn(keyOf(card.id, path));
    this.focus(keyOf(card.id, path), { quiet: true });
  }

  async load({ fit = false, around = null } = {}) {
    byId("start").hidden = true;
    try {
      const before = around && this.picture.boxOf(around);
      const place = before && { x: before.x * this.camera.k + this.camera.x, y: before.y * this.camera.k + this.camera.y };
      const graph = await this.source.picture(this.view.steps, this.view);
      for (const [id, card] of graph.cards) if (this.view.removed.includes(card.fqn)) graph.cards.delete(id);
      graph.edges = graph.edges.filter((edge) => graph.cards.has(edge.from) && graph.cards.has(edge.to));
      this.graph = graph;
      this.#draw();
      const now = place && this.picture.boxOf(around);
      // the card that was expanded stays under the pointer
      if (now) this.camera.set(place.x - now.x * this.camera.k, place.y - now.y * this.camera.k, this.camera.k);
      else if (fit) this.#firstLook();
      const window = windowText(graph.window);
      const cut = graph.truncated ? "; there is more than is shown: start nearer to what you look for" : "";
      this.say(`${graph.cards.size} tables, ${this.links.length} links${window ? `; ${window}` : ""}${cut}`);
    } catch (error) {
      this.failed(error);
    }
  }

  #draw() {
    this.links = linksOf(this.graph, this.view.filter);
    this.ties = adjacency(this.links);
    const begun = performance.now();
    this.scene = sceneOf(this.graph, this.links, this.view);
    this.layoutTime = performance.now() - begun;
    this.pins = new Set([...this.pins].filter((key) => this.graph.cards.has(splitKey(key)[0])));
    this.picture.show(this.scene, this.graph.roots, this.camera);
    this.minimap.draw(this.scene);
    showFilters(this.view, this.graph, (what) => this.changed(what));
    byId("list-toggle").setAttribute("aria-pressed", String(this.view.list));
    byId("list").hidden = !this.view.list;
    byId("stage").classList.toggle("listed", this.view.list);
    if (this.view.list) byId("list").replaceChildren(...listElement(this.graph, this.links, this.#listActs()).filter(Boolean));
    this.#light(null);
    document.body.dataset.ready = String(this.graph.cards.size);
  }

  changed(what) {
    if (what === "graph" && this.view.steps.length) this.load();
    else this.#draw();
  }

  #looked() {
    this.picture.look(this.camera);
    this.minimap.draw(this.scene);
  }

  fit() {
    if (this.scene) this.camera.fit({ x: 0, y: 0, width: this.scene.width, height: this.scene.height });
  }

  /** All of the picture where it can be read at that size, else the card that was asked for. */
  #firstLook() {
    this.fit();
    const root = this.picture.boxOf(this.graph.roots[0]);
    if (this.camera.k >= READABLE || !root) return;
    const { width, height } = this.camera.size;
    const middle = [root.x + root.width / 2, root.y + Math.min(root.height, 300) / 2];
    const sides = this.scene.width * READABLE > width - 80;
    this.camera.set(width / 2 - (sides ? middle[0] : this.scene.width / 2) * READABLE, height / 2 - middle[1] * READABLE, READABLE);
  }

  expand(card, side, hops) {
    const step = this.view.steps.find((one) => one.entity === card.fqn);
    if (step) step[side] = Math.max(step[side] + (hops === 1 && !card.hidden[side] ? 1 : 0), hops);
    else this.view.steps.push({ entity: card.fqn, upstream: 0, downstream: 0, [side]: hops });
    this.view.removed = [];
    return this.load({ around: card.id });
  }

  remove(card) {
    this.view.removed.push(card.fqn);
    this.closePanel();
    this.focused = null;
    this.load();
  }

  // Light

  #hover(event) {
    const column = event.target.closest(".column");
    if (column) return this.#light(column.getAttribute("data-key"));
    if (event.target.closest(".card")) return this.#light(null);
    const wire = this.picture.wireAt(event.clientX, event.clientY);
    this.surface.classList.toggle("over-wire", Boolean(wire));
    return this.#light(wire ? wire.ends : null);
  }

  /** Lights the paths of the pins and of what the pointer is on: a column, or both ends of a wire. */
  #light(hovered) {
    const same = String(hovered) === String(this.hovered) && hovered !== null;
    this.hovered = hovered;
    if (same) return;
    const starts = new Set(this.pins);
    for (const key of hovered === null ? [] : [hovered].flat()) starts.add(key);
    this.lit = starts.size ? lit(this.ties, starts) : null;
    const chosen = this.chosenLinks?.length ? this.chosenLinks[0].key : null;
    this.picture.paint({ light: this.lit, pins: this.pins, chosen });
    byId("clear-pins").hidden = !this.pins.size;
    byId("clear-pins").textContent = `Clear ${this.pins.size} pin${this.pins.size === 1 ? "" : "s"}`;
    this.#keepAddress();
  }

  pin(key) {
    if (!this.pins.delete(key)) this.pins.add(key);
    this.#light(null);
    const columns = (this.lit?.columns.size ?? 1) - 1;
    this.say(this.pins.size ? `${this.pins.size} pinned; ${columns} columns on their paths` : "No pins");
  }

  #unpin() {
    this.pins.clear();
    this.#light(null);
  }

  #clicked(event) {
    if (this.camera.dragged) return undefined;
    const target = event.target;
    const expand = target.closest("[data-expand]");
    if (expand) return this.expand(this.graph.cards.get(expand.getAttribute("data-of")), expand.getAttribute("data-expand"), event.shiftKey ? 100 : 1);
    const fold = target.closest("[data-fold]");
    if (fold) return this.#fold(this.graph.cards.get(fold.getAttribute("data-fold")));
    const more = target.closest("[data-more]");
    if (more) return this.#mode(this.graph.cards.get(more.getAttribute("data-more")), "full");
    const column = target.closest(".column");
    if (column) return this.pick(column.getAttribute("data-key"));
    const card = target.closest(".card");
    if (card) return this.pick(card.getAttribute("data-head"));
    const wire = this.picture.wireAt(event.clientX, event.clientY);
    if (wire) return this.openEdge(wire.links);
    return this.closePanel();
  }

  /** What a click does: a column is pinned and explained, a card explained. */
  pick(key) {
    const [, path] = splitKey(key);
    if (path) this.pin(key);
    if (!path || this.pins.has(key)) this.openColumn(key);
    else this.closePanel();
  }

  #fold(card) {
    const box = this.picture.boxOf(card.id);
    return this.#mode(card, box.mode === "none" ? (this.view.columns === "none" ? "involved" : this.view.columns) : "none");
  }

  #mode(card, mode) {
    this.view.modes[card.fqn] = mode;
    this.#draw();
  }

  // Focus

  focus(key, { quiet = false } = {}) {
    const [id, path] = splitKey(key);
    const box = this.picture.boxOf(id);
    if (!box) return;
    const y = path ? box.y + (box.port.get(path) ?? 0) - 11 : box.y;
    if (!quiet) this.camera.reveal({ x: box.x, y, width: box.width, height: path ? 22 : 48 });
    this.focused = key;
    const element = this.picture.elementOf(key) ?? this.picture.elementOf(keyOf(id, ""));
    element?.focus({ preventScroll: true });
  }

  #focusedOn(element) {
    const column = element.closest(".column");
    const card = element.closest(".card");
    if (!card) return;
    this.focused = (column ?? card).getAttribute(column ? "data-key" : "data-head");
    this.#light(column ? this.focused : null);
  }

  escape() {
    if (!byId("panel").hidden) this.closePanel();
    else if (this.pins.size) this.#unpin();
    else document.querySelectorAll("details[open]").forEach((one) => (one.open = false));
  }

  // Panel

  #show(parts) {
    byId("panel-body").replaceChildren(...parts.filter(Boolean));
    byId("panel").hidden = false;
    byId("panel-body").scrollTop = 0;
  }

  closePanel() {
    byId("panel").hidden = true;
    this.chosenLinks = null;
    this.#light(null);
  }

  openEdge(links) {
    this.chosenLinks = links;
    this.#show(edgePanel(this.graph, links));
    byId("panel-body").querySelectorAll(".sql").forEach((block) => {
      const mark = block.querySelector("mark");
      if (mark) block.scrollTop = mark.offsetTop - block.offsetTop - 40;
    });
    this.#light(null);
    this.say(`Link from ${label(this.graph, links[0].from)} to ${label(this.graph, links[0].to)}`);
  }

  async openColumn(key) {
    this.chosenLinks = null;
    const [id, path] = splitKey(key);
    const card = this.graph.cards.get(id);
    const act = { expand: (...given) => this.expand(...given), start: (...given) => this.start(...given), remove: (one) => this.remove(one) };
    this.#show(columnPanel(this.graph, key, act));
    const place = byId("impact");
    try {
      const rows = await this.source.impact(this.graph, card, path, this.view);
      const name = label(this.graph, key);
      const save = () => download(`impact of ${name}.csv`, "text/csv", impactCsv(`${card.fqn}${path ? `.${path}` : ""}`, rows));
      place.replaceChildren(...impactElement(name, rows, { csv: save, go: (entity, at) => this.#go(entity, at) }).filter(Boolean));
    } catch (error) {
      this.failed(error);
    }
  }

  /** Goes to a column: where it is not in the picture yet, it is brought in. */
  async #go(entity, path) {
    const find = () => [...this.graph.cards.values()].find((one) => one.fqn === entity);
    if (!find()) {
      this.view.steps.push({ entity, upstream: 0, downstream: 0 });
      await this.load();
    }
    if (find()) this.focus(keyOf(find().id, path));
  }

  // List, files, help

  toggleList() {
    this.view.list = !this.view.list;
    this.#draw();
    if (this.view.list) byId("list").focus();
  }

  #listActs() {
    return { open: (link) => this.openEdge([link]), table: (card) => this.openColumn(keyOf(card.id, "")), csv: () => this.#saveLinks() };
  }

  #saveLinks() {
    const rows = linkRows(this.graph, this.links).map((row) => [row.from, row.to, row.kind, row.how, row.by, row.confidence]);
    download("lineage.csv", "text/csv", csv(["from", "to", "kind", "how", "said by", "confidence"], rows));
  }

  #json() {
    const { cards, edges, roots, window } = this.graph;
    return JSON.stringify({ roots, window, nodes: [...cards.values()], edges }, null, 1);
  }

  saveSvg() {
    download("lineage.svg", "image/svg+xml", svgText(this.scene, new Set(this.graph.roots), { light: this.lit, pins: this.pins }));
  }

  help() {
    const dialog = byId("help");
    if (dialog.open) dialog.close();
    else dialog.showModal();
  }

  say(text) {
    byId("status").textContent = text;
  }

  failed(error) {
    if (error instanceof Unauthorised) return askForToken(this);
    this.say(`That did not work: ${error.message}`);
    byId("status").classList.add("failed");
    setTimeout(() => byId("status").classList.remove("failed"), 4000);
    return undefined;
  }

  #keepAddress() {
    this.view.pins = [...this.pins].map((key) => this.#endOf(key));
    const one = this.chosenLinks?.[0];
    this.view.chosen = one ? { from: this.#endOf(one.from), to: this.#endOf(one.to) } : null;
    const address = written(this.view);
    if (address === this.address) return;
    const pushed = this.view.steps.length !== this.stepsKept && this.address !== undefined;
    this.address = address;
    this.stepsKept = this.view.steps.length;
    try {
      history[pushed ? "pushState" : "replaceState"](null, "", `#${address}`);
    } catch (error) {
      if (!(error instanceof DOMException)) throw error; // a frame without an origin has no address of its own
    }
  }
}

function impactCsv(name, rows) {
  return csv(["changed", "table", "column", "type", "hops", "path"], rows.map((row) => [name, row.table, row.path, row.type, row.depth, row.way.join(" > ")]));
}

function askForToken(explorer) {
  const dialog = byId("token-dialog");
  dialog.addEventListener("close", () => {
    explorer.source.useToken(byId("token").value);
    byId("token").value = "";
    explorer.open();
  }, { once: true });
  dialog.showModal();
}

function theme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  byId("theme").addEventListener("click", () => {
    const now = root.dataset.theme ?? (dark.matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
    dispatchEvent(new Event("resize"));
  });
}

function source() {
  const carried = byId("lineage-data");
  return carried ? new DocumentSource(JSON.parse(carried.textContent)) : new CatalogSource();
}

theme();
const explorer = new Explorer(source());
explorer.open();
