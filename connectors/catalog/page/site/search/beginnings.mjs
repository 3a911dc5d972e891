// The first page of a catalog or a large file: how much there is, and tables to begin with.
import { breakable, byId, html } from "../base/dom.mjs";
import { readable } from "../graph/model.mjs";

export function showBeginnings({ tables, columnEdges, beginnings }, start) {
  byId("start").hidden = false;
  byId("start").firstElementChild.replaceChildren(
    "Where did this column come from,",
    html("br"),
    "and what breaks if it changes?",
  );
  byId("start-count").textContent = tables
    ? `${tables.toLocaleString("en")} tables, ${columnEdges.toLocaleString("en")} column edges`
    : "There is no lineage here yet: run `ingest run` first.";
  byId("beginnings").replaceChildren(
    ...beginnings.map((one) =>
      html(
        "li",
        {},
        html(
          "button",
          { type: "button", onclick: () => start(one.entity) },
          html("span", { class: "found" }, breakable(readable(one.entity))),
          html("span", { class: "count" }, `${one.upstream} upstream, ${one.downstream} downstream`),
        ),
      ),
    ),
  );
}
