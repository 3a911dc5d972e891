// What the panel at the side shows: an edge with its evidence, or a column with what it reaches.
import { byId, download } from "./dom.mjs";
import { csv } from "./listing.mjs";
import { label, splitKey } from "./model.mjs";
import { columnPanel, edgePanel, impactElement } from "./panel.mjs";

const HEAD = ["changed", "table", "column", "type", "hops", "path"];

export class Details {
  constructor(source, act) {
    this.source = source;
    this.act = act;
    this.links = []; // of the edge that is open
  }

  get open() {
    return !byId("panel").hidden;
  }

  close() {
    this.links = [];
    byId("panel").hidden = true;
  }

  #show(parts) {
    byId("panel-body").replaceChildren(...parts.filter(Boolean));
    byId("panel").hidden = false;
    byId("panel-body").scrollTop = 0;
  }

  edge(graph, links) {
    this.links = links;
    this.#show(edgePanel(graph, links));
    for (const block of byId("panel-body").querySelectorAll(".sql")) {
      const mark = block.querySelector("mark");
      if (mark) block.scrollTop = mark.offsetTop - 40;
    }
  }

  async column(graph, key, time) {
    this.links = [];
    this.#show(columnPanel(graph, key, this.act));
    const place = byId("impact");
    const [id, path] = splitKey(key);
    const card = graph.cards.get(id);
    const rows = await this.source.impact(graph, card, path, time);
    const name = label(graph, key);
    const full = `${card.fqn}${path ? `.${path}` : ""}`;
    const cells = () => rows.map((row) => [full, row.table, row.path, row.type, row.depth, row.way.join(" > ")]);
    const act = {
      csv: () => download(`impact of ${name}.csv`, "text/csv", csv(HEAD, cells())),
      go: (entity, at) => this.act.go(entity, at),
    };
    place.replaceChildren(...impactElement(name, rows, act).filter(Boolean));
  }
}
