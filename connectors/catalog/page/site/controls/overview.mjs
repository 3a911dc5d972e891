// The picture from farther away: schemas or services as cards, from which one goes in to their tables.
import { breakable, byId, html } from "../base/dom.mjs";
import { knownFrom } from "../base/words.mjs";
import { readable, splitKey } from "../graph/model.mjs";
import { tableList } from "../panel/neighbours.mjs";
import { sayWithLeftOut } from "./filters.mjs";
import { emptyView } from "./state.mjs";

const SHOWN_TABLES = 30;

/** What an overview shows, in words. */
export function areaTitle({ level, service }) {
  return service ? `the ${level ?? "schemas"} around ${readable(service)}` : `all ${level ?? "schemas"}`;
}

/** Opens the overview: schemas where they can be taken in, else services. */
export function openOverview(explorer, area = { level: null, service: "" }) {
  const { asOf, days } = explorer.view;
  return explorer.open({ ...emptyView(), asOf, days, area });
}

/** Asks for the view's areas and draws them. */
export async function loadAreas(explorer) {
  const turn = ++explorer.turn;
  byId("start").hidden = true;
  try {
    const graph = await explorer.source.areas(explorer.view.area, explorer.view);
    if (turn !== explorer.turn) return;
    explorer.view.area.level = graph.level;
    explorer.graph = graph;
    explorer.changed("links");
    explorer.camera.begin(explorer.scene, null);
    const tables = [...graph.cards.values()].reduce((sum, card) => sum + card.tables, 0);
    const few = graph.links > graph.edges.length ? `, the ${graph.edges.length} with the most links shown` : "";
    const cut = few + (graph.truncated ? "; those with the most tables: there are more" : "");
    const text = `${graph.cards.size} ${graph.level}, ${tables.toLocaleString("en")} tables, ${graph.links.toLocaleString("en")} links${cut}`;
    sayWithLeftOut(explorer, text);
  } catch (error) {
    explorer.failed(error);
  }
}

/** The buttons over an overview: which level it is of, and back from one service to all. */
export function showAreaBar(explorer) {
  const { area } = explorer.view;
  byId("area-bar").hidden = !area;
  if (!area) return;
  const button = (text, pressed, act) =>
    html("button", { type: "button", "aria-pressed": pressed === null ? null : String(pressed), onclick: act }, text);
  byId("area-bar").replaceChildren(
    ...[
      button("Schemas", area.level === "schemas", () => openOverview(explorer, { level: "schemas", service: "" })),
      button("Services", area.level === "services", () => openOverview(explorer, { level: "services", service: "" })),
      area.service ? html("span", {}, `around ${readable(area.service)}`) : null,
    ].filter(Boolean),
  );
}

/** What a click on an overview does: a table is gone to, a schema or service tells what is in it. */
export function pickArea(explorer, key) {
  const [id, path] = splitKey(key);
  const card = explorer.graph.cards.get(id);
  if (path) return explorer.start(`${card.fqn}.${path}`, "");
  const ask = (asked) => explorer.source.areaTables(card.fqn, asked);
  const act = { choose: (entity) => explorer.start(entity, ""), failed: (error) => explorer.failed(error) };
  explorer.details.list([
    html("h2", {}, breakable(card.name)),
    html("p", { class: "fqn" }, breakable(card.title)),
    html(
      "div",
      { class: "actions" },
      html("button", { type: "button", id: "area-open", onclick: () => openTables(explorer, card) }, "Show its most used tables"),
      explorer.view.area.level === "services"
        ? html(
            "button",
            { type: "button", id: "area-schemas", onclick: () => openOverview(explorer, { level: "schemas", service: card.fqn }) },
            "Show its schemas",
          )
        : null,
    ),
    ...tableList(`the tables of ${card.name}`, ask, act),
  ]);
  explorer.relight();
  return undefined;
}

async function openTables(explorer, card) {
  try {
    const asked = { q: "", sort: "used", start: 0, limit: SHOWN_TABLES };
    const { entities } = await explorer.source.areaTables(card.fqn, asked);
    const { asOf, days, filter, columns } = explorer.view;
    const steps = entities.map(({ entity }) => ({ entity, upstream: 0, downstream: 0 }));
    await explorer.open({ ...emptyView(), asOf, days, filter, columns, steps });
  } catch (error) {
    explorer.failed(error);
  }
}

/** How many edges there are between the tables of two areas, by who says so. */
export function openAreaEdge(explorer, [link]) {
  const [from, to] = [link.fromCard, link.toCard].map((id) => explorer.graph.cards.get(id));
  const counts = link.said.map(({ contribution }) => [contribution.producer.kind, contribution.count]);
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  explorer.details.list([
    html("h2", {}, breakable(`${from.name} → ${to.name}`)),
    html("p", {}, `${total.toLocaleString("en")} links lead from tables of ${from.title} to tables of ${to.title}.`),
    html(
      "dl",
      { class: "facts" },
      counts.flatMap(([kind, count]) => [html("dt", {}, knownFrom(kind)), html("dd", {}, count.toLocaleString("en"))]),
    ),
  ]);
}
