// The first page of a catalog or a large file: how much there is, how the last run went, and tables to begin with.
import { byId, html, many, when } from "../base/dom.mjs";
import { coverageBar } from "../base/shares.mjs";

export function showBeginnings({ tables, columnEdges, coverage, run }, act) {
  clearStart();
  byId("start").hidden = false;
  byId("start").firstElementChild.replaceChildren(
    "Where did this column come from,",
    html("br"),
    "and what breaks if it changes?",
  );
  byId("start-count").textContent = tables
    ? `${many(tables, "table")}, ${many(columnEdges, "link")} between columns`
    : "There is no lineage here yet: run `ingest run` first.";
  byId("start-state").replaceChildren(...stateElements(coverage, run, act).filter(Boolean));
}

/** Takes away what the start page told before: what comes instead is not always all of it. */
export function clearStart() {
  for (const id of ["start-state", "start-lists", "beginnings"]) byId(id).replaceChildren();
}

/** What a server knows beyond a file: how much is covered, and how the last run went. */
function stateElements(coverage, run, act) {
  if (!coverage || !coverage.tables) return [];
  const last = run && `Last run ${when(run.started)}: ${run.outcomeText}`;
  return [
    html("button", { type: "button", id: "start-coverage", onclick: act.coverage }, coverageBar(coverage)),
    html("button", { type: "button", id: "start-runs", onclick: act.runs }, last ?? "Runs"),
  ];
}
