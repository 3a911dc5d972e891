// The first page of a catalog or a large file: how much there is, and tables to begin with.
import { breakable, byId, html, when } from "../base/dom.mjs";
import { coverageBar } from "../base/shares.mjs";
import { readable } from "../graph/model.mjs";

export function showBeginnings({ tables, columnEdges, beginnings, coverage, run }, start, act) {
  byId("start").hidden = false;
  byId("start").firstElementChild.replaceChildren(
    "Where did this column come from,",
    html("br"),
    "and what breaks if it changes?",
  );
  byId("start-count").textContent = tables
    ? `${tables.toLocaleString("en")} tables, ${columnEdges.toLocaleString("en")} column edges`
    : "There is no lineage here yet: run `ingest run` first.";
  byId("start-state").replaceChildren(...stateElements(coverage, run, act).filter(Boolean));
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

/** What a server knows beyond a file: how much is covered, and how the last run went. */
function stateElements(coverage, run, act) {
  if (!coverage || !coverage.tables) return [];
  const last = run && `Last run ${when(run.started)}: ${run.outcome.replaceAll("_", " ")}`;
  return [
    html("button", { type: "button", id: "start-coverage", onclick: act.coverage }, coverageBar(coverage)),
    html("button", { type: "button", id: "start-runs", onclick: act.runs }, last ?? "Runs"),
  ];
}
