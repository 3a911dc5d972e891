// What the panel at the side shows: an edge with its evidence, or a column with what it comes from and what it reaches.
import { byId, copy, download } from "../base/dom.mjs";
import { chainText, explanation, suspectLinks, wayLinks } from "../graph/chain.mjs";
import { cardNamed, endOf, keyOf, label, readable, splitKey } from "../graph/model.mjs";
import { causesElements, causesPanel, causesText } from "./causes.mjs";
import { CHANGES_HEAD, changeCells, changesPanel } from "./changes.mjs";
import { correctionsElement } from "./corrections.mjs";
import { csv } from "./listing.mjs";
import { originElements } from "./origin.mjs";
import { columnPanel, edgePanel } from "./panel.mjs";
import { endPicker, endText, wayLinksOf, wayPanel } from "../lists/between.mjs";
import { disagreementsPanel } from "../lists/disagreements.mjs";
import { ImpactList } from "../lists/impact.mjs";
import { coveragePanel, freshnessPanel, runPanel, runsPanel } from "../runs/runs.mjs";
import { momentText } from "./timebar.mjs";

const HEAD = ["changed", "table", "column", "type", "hops", "path", "owners", "tags"];

export class Details {
  #turn = 0;

  constructor(source, act) {
    this.source = source;
    this.act = act;
    this.links = []; // of the edge that is open
    this.key = null; // of the column or table that is open
    this.pathStart = null; // of the column or table whose way to another one is asked for
    this.replayable = []; // the workflows whose dead statements this server can read again
  }

  get open() {
    return !byId("panel").hidden;
  }

  close() {
    this.#turn++;
    [this.links, this.key, this.pathStart] = [[], null, null];
    byId("panel").hidden = true;
  }

  #show(parts) {
    byId("panel-body").replaceChildren(...parts.filter(Boolean));
    byId("panel").hidden = false;
    byId("panel-body").scrollTop = 0;
  }

  /** Shows elements that speak of no link and no column. */
  list(parts) {
    this.#turn++;
    [this.links, this.key] = [[], null];
    this.#show(parts);
  }

  edge(graph, links) {
    this.#turn++;
    [this.links, this.key] = [links, null];
    this.#show(edgePanel(graph, links, this.act));
    for (const block of byId("panel-body").querySelectorAll(".sql")) {
      const mark = block.querySelector("mark");
      if (mark) block.scrollTop = mark.offsetTop - 40;
    }
  }

  /** What changed between the view's two moments. */
  async changes(view) {
    const turn = ++this.#turn;
    [this.links, this.key] = [[], null];
    const rows = await this.source.changes(view);
    if (turn !== this.#turn) return;
    this.#show(
      changesPanel(momentText(view, this.source.compared), rows, {
        csv: () => download("changes.csv", "text/csv", csv(CHANGES_HEAD, changeCells(rows))),
        go: (entity, path) => this.act.go(entity, path),
      }),
    );
  }

  /** The runs of workflows, and from there one of them, what is covered, and what is late. */
  openRuns() {
    return this.#tell(this.#runs());
  }

  /** Which tables have no known source. */
  openCoverage() {
    return this.#tell(this.#coverage());
  }

  /** Where one kind of evidence says otherwise than another. */
  openDisagreements() {
    const go = (entity, path) => this.act.start(entity, path);
    const back = this.source.live ? this.#ofRuns().back : null;
    return this.#tell(this.#shown(this.source.disagreements(), (answer) => disagreementsPanel(answer, { back, go })));
  }

  /** The next column or table that is chosen, in the picture or in the panel, is where a way from this one ends. */
  pathFrom(key) {
    const start = endOf(this.act.graph, key);
    this.list(
      endPicker(start, {
        search: (text, limit) => this.source.search(text, limit),
        chosen: (end) => this.pathTo(end),
        back: () => this.act.openColumn(key),
        failed: (error) => this.act.failed(error),
      }),
    );
    this.pathStart = start;
    this.act.fit(); // beside the panel, so that whatever it may lead to is in sight
    byId("way-end").focus({ preventScroll: true });
    this.act.say(`Choose where it leads from ${label(this.act.graph, key)}`);
  }

  /** The way from where one was begun to an end ({entity, path}): brought into the picture, lit, told by its stations. */
  pathTo(end) {
    const start = this.pathStart;
    const [ends, turn] = [`${endText(start)} and ${endText(end)}`, ++this.#turn];
    this.act.say(`Looking for a way between ${ends} …`);
    return this.#tell(this.#way(start, end, { ends, turn }));
  }

  async #way(start, end, { ends, turn }) {
    const stations = await this.source.way(start, end, this.act.view);
    if (turn !== this.#turn) return undefined;
    this.pathStart = null;
    if (!stations.length) return this.act.say(`No way between ${ends} is known`);
    const missing = [...new Set(stations.map((one) => one.entity))].filter((entity) => !cardNamed(this.act.graph, entity));
    if (missing.length) await this.act.bring(missing);
    const way = wayLinksOf(this.act.graph, stations);
    this.list(wayPanel(this.act.graph, way, this.act));
    this.act.along(way);
    return this.act.say(`The way between ${ends}: ${way.length} step${way.length === 1 ? "" : "s"}`);
  }

  /** A column that the list in the panel names: it is shown, pinned, and told of. */
  showColumn(card, path) {
    const key = keyOf(card.id, path);
    if (!this.act.picture.boxOf(card.id).port.has(path)) this.act.mode(card, "full");
    if (!this.act.pins.has(key)) this.act.pin(key);
    this.act.openColumn(key);
  }

  async #runs() {
    await this.#shown(this.source.runs(), (answer) => {
      this.replayable = answer.replayable;
      return runsPanel(answer, { run: (id) => this.#tell(this.#run(id)), coverage: () => this.openCoverage(), freshness: () => this.#tell(this.#freshness()), disagreements: () => this.openDisagreements() });
    });
  }

  async #coverage() {
    await this.#shown(this.source.coverage(), (answer) => coveragePanel(answer, this.#ofRuns()));
  }

  #freshness() {
    return this.#shown(this.source.freshness(), (answer) => freshnessPanel(answer, this.#ofRuns()));
  }

  #run(id) {
    return this.#shown(this.source.run(id), (answer) =>
      runPanel(answer, this.replayable, { ...this.#ofRuns(), replay: (workflow, location, button) => this.#tell(this.#replay(workflow, location, button)) }),
    );
  }

  #ofRuns() {
    return { back: () => this.openRuns(), go: (entity) => this.act.start(entity, "") };
  }

  async #replay(workflow, location, button) {
    button.disabled = true;
    await this.source.replay(workflow, location);
    this.act.say(`${location} is being read again: look at the runs in a while`);
  }

  /** Shows what a source answers, unless something else was opened meanwhile; the focus goes to its beginning. */
  async #shown(asked, panel) {
    const turn = ++this.#turn;
    [this.links, this.key] = [[], null];
    const answer = await asked;
    if (turn !== this.#turn) return;
    this.#show(panel(answer));
    byId("panel-body").querySelector("button")?.focus({ preventScroll: true });
  }

  async #tell(work) {
    try {
      await work;
    } catch (error) {
      this.act.failed(error);
    }
  }

  /** Why a table or a column is wrong at the view's moment; the path of a suspect that is chosen is lit. */
  async causes(card, path) {
    const { view } = this.act;
    this.list(
      causesPanel(`${card.fqn}${path ? `.${path}` : ""}`, view, {
        back: () => this.act.openColumn(keyOf(card.id, path)),
        at: (moment) => this.#causesAt(card, path, moment),
      }),
    );
    this.act.along(null);
    byId("causes-back").focus({ preventScroll: true });
    const turn = this.#turn;
    try {
      const answer = await this.source.causes(card, path, view);
      if (turn !== this.#turn) return;
      byId("causes").replaceChildren(...causesElements(answer, this.#causesActs(answer)).filter(Boolean));
      this.act.say(readable(answer.verdict));
    } catch (error) {
      if (turn === this.#turn) byId("causes").replaceChildren();
      this.act.failed(error);
    }
  }

  /** The same question of another moment: the picture is of that moment too. */
  async #causesAt(card, path, moment) {
    Object.assign(this.act.view, { asOf: moment, base: null });
    if (await this.act.load({ around: card.id })) await this.causes(card, path);
  }

  #causesActs(answer) {
    return {
      choose: async (suspect) => {
        const names = (suspect?.nodes ?? []).map(({ entity }) => entity?.fullyQualifiedName).filter(Boolean);
        const missing = [...new Set(names)].filter((name) => !cardNamed(this.act.graph, name));
        if (missing.length) await this.act.bring(missing);
        this.act.along(suspect && suspectLinks(this.act.graph, suspect));
        if (suspect) this.act.say(`The path of ${readable(suspect.table)} is lit`);
        const first = suspect && cardNamed(this.act.graph, suspect.table);
        if (first) this.act.reveal(keyOf(first.id, ""));
      },
      copy: async () => {
        await copy(causesText(answer));
        this.act.say("The suspects are on the clipboard");
      },
    };
  }

  async column(graph, key, time) {
    const turn = ++this.#turn;
    [this.links, this.key] = [[], key];
    this.#show(columnPanel(graph, key, this.act));
    const [id, path] = splitKey(key);
    const card = graph.cards.get(id);
    const put = (place, elements) => {
      if (turn === this.#turn) byId(place).replaceChildren(...elements.filter(Boolean));
    };
    const impact = this.#impact(graph, key, time).show();
    const corrections = this.source.corrections(card.fqn);
    if (path) {
      const explained = explanation(await this.source.upstream(card, path, time), card, path);
      put("chain", originElements(explained, this.#chainActs(graph, explained)));
    }
    await impact;
    put("corrections-place", [correctionsElement(await corrections, this.act)]);
  }

  #chainActs(graph, explained) {
    const entities = [...explained.hops.keys()].map((name) => explained.places.get(name)?.entity).filter(Boolean);
    const missing = [...new Set(entities)].filter((entity) => !cardNamed(graph, entity));
    return {
      along: (way) => this.act.along(way && wayLinks(explained, way)),
      go: (entity, path) => this.act.go(entity, path),
      copy: async () => {
        await copy(chainText(explained));
        this.act.say("The chain is on the clipboard");
      },
      bring: missing.length ? () => this.act.bring(missing) : null,
    };
  }

  /** The list of what is downstream; what is chosen of it is of one column or table alone. */
  #impact(graph, key, view) {
    const end = endOf(graph, key);
    const { explained } = view;
    if (explained?.entity !== end.entity || explained.path !== end.path) view.impact = {};
    const full = `${end.entity}${end.path ? `.${end.path}` : ""}`;
    const name = label(graph, key);
    const card = graph.cards.get(splitKey(key)[0]);
    const cells = (rows) => rows.map((row) => [full, row.table, row.path, row.type, row.depth, row.way.join(" > "), row.owners.join(", "), row.tags.join(", ")]);
    return new ImpactList(byId("impact"), name, {
      ask: (only, start, limit) => this.source.impact(graph, card, end.path, { view, only, start, limit }),
      only: view.impact,
      act: {
        changed: () => this.act.relight(),
        csv: (rows) => download(`impact of ${name}.csv`, "text/csv", csv(HEAD, cells(rows))),
        go: (entity, at) => this.act.go(entity, at),
        failed: (error) => this.act.failed(error),
      },
    });
  }
}
