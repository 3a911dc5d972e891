// What ran and what is covered, in the panel: runs with their trend, one run with its dead statements, tables to work off.
import { breakable, html, many, when } from "../base/dom.mjs";
import { coverageBar, shareBar } from "../base/shares.mjs";
import { readable, visible } from "../graph/model.mjs";

const MOST = 200;
const SHARES = ["published", "skipped", "dead"];
const LEVELS = ["columns", "table", "none"];

function sums({ counts }) {
  const total = (tally) => Object.values(tally ?? {}).reduce((sum, count) => sum + count, 0);
  return [counts.published ?? 0, total(counts.skipped), total(counts.dead)];
}

/** What a run came to; `ends` are the words of the catalog for how statements end. */
function runText(run, ends) {
  const took = run.ended === null ? "" : `, ${((run.ended - run.started) / 1000).toFixed(1)} s`;
  const told = SHARES.map((name, at) => `${sums(run)[at].toLocaleString("en")} ${ends[name]}`).join(", ");
  const kind = run.kind === "run" ? "" : `${visible(run.kind)}: `;
  return `${kind}${run.outcomeText}${took}${run.counts.statements === undefined ? "" : `: ${told}`}`;
}

/** A reason in the words of the catalog, and its code, by which the documentation and the command line know it. */
function reasonElement(text, code) {
  return html("span", { class: "of" }, visible(text), " ", html("code", { class: "reason" }, visible(code)));
}

/** The latest runs, the newest first, with the trend of them all; `act.run` opens one. */
export function runsPanel({ runs, ends, truncated }, act) {
  const ended = runs.filter((run) => run.counts.statements !== undefined);
  return [
    html("h2", {}, "Runs"),
    runs.length ? null : html("p", {}, "No run has told this catalog of itself yet."),
    html("p", { class: "actions" }, html("button", { type: "button", id: "show-coverage", onclick: act.coverage }, "What is covered"), html("button", { type: "button", id: "show-freshness", onclick: act.freshness }, "What is late"), html("button", { type: "button", id: "show-disagreements", onclick: act.disagreements }, "Where the evidence disagrees")),
    ended.length > 1 ? trendElement([...ended].reverse(), ends) : null,
    html(
      "ul",
      { class: "changes runs", id: "runs" },
      runs.map((run) =>
        html(
          "li",
          { class: run.outcome === "done" || run.outcome === "running" ? null : "breaks" },
          html("span", { "aria-hidden": "true" }, run.outcome === "done" ? "✓" : run.outcome === "running" ? "…" : "!"),
          html(
            "div",
            {},
            html("button", { type: "button", class: "go", "data-run": run.run, onclick: () => act.run(run.run) }, `${when(run.started)} ${readable(run.workflow)}`),
            html("p", { class: "way" }, runText(run, ends)),
            ended.includes(run) ? shareBar(SHARES.map((name, at) => [name, sums(run)[at]]), runText(run, ends)) : null,
            run.message ? html("p", { class: "way" }, visible(run.message)) : null,
          ),
        ),
      ),
    ),
    truncated ? html("p", { class: "note" }, "Only the latest are listed.") : null,
  ];
}

/** The statements of each run as a column, the oldest first, by how they ended. */
function trendElement(runs, ends) {
  const most = Math.max(...runs.map((run) => run.counts.statements), 1);
  const dead = runs.map((run) => sums(run)[2]);
  const text = `Statements of ${runs.length} runs, at most ${most}; ${ends.dead}: ${dead.join(", ")}`;
  const columns = runs.map((run) => ({ total: run.counts.statements, parts: sums(run), title: `${when(run.started)}: ${runText(run, ends)}` }));
  return columnsElement("trend", text, SHARES, columns);
}

/** Columns of shares side by side, as high as their totals; `names` are those of the shares. */
function columnsElement(id, text, names, columns) {
  const most = Math.max(...columns.map((one) => one.total), 1);
  return html(
    "div",
    { class: "trend", id, role: "img", "aria-label": text },
    columns.map(({ total, parts, title }) => {
      const column = html("span", { title });
      column.style.height = `${Math.max(4, (100 * total) / most)}%`;
      for (const [at, name] of names.entries()) {
        const part = html("i", { class: name });
        part.style.flexGrow = parts[at];
        column.append(part);
      }
      return column;
    }),
  );
}

/** How much was covered at the end of each run, the oldest first. */
function coverageTrend(trend) {
  const known = ({ counts }) => (counts.tables ? Math.round((100 * counts.columns) / counts.tables) : 0);
  const text = `Source known by columns after each of ${trend.length} runs: ${trend.map((one) => `${known(one)} %`).join(", ")}`;
  const columns = trend.map((one) => ({
    total: one.counts.tables,
    parts: LEVELS.map((level) => one.counts[level]),
    title: `${when(one.at)}: ${one.counts.columns} of ${one.counts.tables} by columns`,
  }));
  return [columnsElement("coverage-trend", text, LEVELS, columns), html("p", { class: "note" }, text)];
}

/** One run: its counts by reason, what changed, what is dead still, and how to have it read again. */
export function runPanel(run, replayable, act) {
  const reasons = (name) => Object.entries(run.counts[name] ?? {});
  return [
    html("button", { type: "button", id: "runs-back", onclick: act.back }, "← Runs"),
    html("h2", {}, `Run of ${when(run.started)}`),
    html("p", { class: "fqn" }, breakable(readable(run.workflow))),
    html("p", {}, runText(run, run.ends)),
    run.message ? html("p", {}, visible(run.message)) : null,
    ["skipped", "dead"].filter((name) => reasons(name).length).map((name) =>
      html(
        "section",
        {},
        html("h3", {}, `${capital(run.ends[name])}, by reason`),
        html("ul", { class: "changes", "data-tally": name }, reasons(name).map(([reason, count]) => tallyElement(run, reason, count))),
      ),
    ),
    run.before === null ? null : html("section", {}, html("h3", {}, "Since the run before"), changesElement(run.changes)),
    run.warnings.length ? html("section", {}, html("h3", {}, "Warnings"), run.warnings.map((one) => html("p", { class: "way" }, visible(one)))) : null,
    run.deadStatements.length ? deadElement(run, replayable, act) : null,
    run.deadBefore ? html("p", { class: "note" }, `${many(run.deadBefore, "statement")} of other runs ${run.deadBefore === 1 ? "is" : "are"} ${run.ends.dead} still.`) : null,
  ].flat();
}

function capital(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}`;
}

function tallyElement(run, reason, count) {
  const advice = (run.reasons[reason] ?? "").slice(run.reasonTexts[reason].length + 1).trim();
  return html("li", {}, html("b", {}, String(count)), html("div", {}, reasonElement(run.reasonTexts[reason], reason), advice ? html("p", { class: "way" }, advice) : null));
}

function changesElement(changes) {
  if (!changes.length) return html("p", {}, "Nothing is counted otherwise.");
  return html(
    "ul",
    { class: "changes", id: "run-changes" },
    changes.map((one) => html("li", {}, html("span", {}), html("div", {}, `${visible(capital(one.text))}: ${one.before.toLocaleString("en")} → ${one.now.toLocaleString("en")}`))),
  );
}

function deadElement(run, replayable, act) {
  const can = replayable.includes(run.workflow);
  const again = (one) =>
    can ? html("button", { type: "button", "data-replay": one.location, onclick: (event) => act.replay(run.workflow, one.location, event.currentTarget) }, "Read again") : null;
  return html(
    "section",
    {},
    html("h3", {}, `${capital(run.ends.dead)} still`),
    can ? null : html("p", { id: "replay-command" }, "To have them read again, type ", html("code", {}, visible(run.replay))),
    html(
      "ul",
      { class: "changes", id: "dead" },
      run.deadStatements.slice(0, MOST).map((one) =>
        html(
          "li",
          {},
          html("span", { class: "glyph removed", "aria-hidden": "true" }, "−"),
          html(
            "div",
            {},
            html("div", {}, breakable(visible(one.location))),
            reasonElement(one.error ? `${one.reasonText} (${one.error})` : one.reasonText, one.reason),
            html("code", { class: "expression", tabindex: 0 }, one.statement ? visible(one.statement, { lines: true }) : "its text could not be masked, and was not kept"),
            again(one),
          ),
        ),
      ),
    ),
  );
}

/** The tables whose source is not known by columns, what most is made of first, with why not. */
export function coveragePanel({ counts, noSource, open, trend = [], truncated }, act) {
  return [
    html("button", { type: "button", id: "runs-back", onclick: act.back }, "← Runs"),
    html("h2", {}, "What is covered"),
    html("p", { class: "covered" }, coverageBar(counts)),
    noSource ? html("p", { class: "note" }, `${noSource.toLocaleString("en")} of those not known are filled from no table, with values for example: there is no source to be known.`) : null,
    ...(trend.length > 1 ? coverageTrend(trend) : []),
    html(
      "ul",
      { class: "changes", id: "uncovered" },
      open.map((one) =>
        html(
          "li",
          {},
          html("span", { class: `dot ${one.level}`, role: "img", "aria-label": one.level === "none" ? "not known" : "by table" }),
          html(
            "div",
            {},
            tableButton(one, act),
            reasonElement(`${one.reasonText}${one.usedBy ? `; ${one.usedBy} made of it` : ""}`, one.reason),
            one.names.length ? html("p", { class: "way" }, `unknown: ${visible(one.names.join(", "))}`) : null,
            one.dead.map((dead) => html("p", { class: "way" }, visible(`${dead.location}: ${dead.statement || dead.reasonText}`))),
            one.setting ? html("p", { class: "way" }, "set ", html("code", {}, visible(one.setting))) : null,
          ),
        ),
      ),
    ),
    truncated ? html("p", { class: "note" }, "More are listed by `ingest coverage`.") : null,
  ];
}

function tableButton({ entity }, act) {
  return html("button", { type: "button", class: "go", onclick: () => act.go(entity.fullyQualifiedName) }, breakable(readable(entity.fullyQualifiedName)));
}

/** When tables were written last, those first that are late. */
export function freshnessPanel({ counts, words, tables, truncated }, act) {
  const told = Object.entries(words).map(([state, word]) => `${counts[state]} ${word}`);
  const lines = (one) => [
    one.last === null ? null : `last written ${when(one.last)}${one.jobs.length ? ` by ${one.jobs.join(", ")}` : ""}`,
    one.period === null ? null : `every ${periodText(one.period)}`,
    one.state === "late" ? `due ${when(one.due)}, the log ends ${when(one.until)}` : null,
  ];
  return [
    html("button", { type: "button", id: "runs-back", onclick: act.back }, "← Runs"),
    html("h2", {}, "How fresh tables are"),
    html("p", {}, told.join(", ")),
    html(
      "ul",
      { class: "changes", id: "fresh" },
      tables.map((one) =>
        html(
          "li",
          { class: one.state === "late" ? "breaks" : null },
          html("span", { "aria-hidden": "true" }, one.state === "late" ? "!" : "·"),
          html("div", {}, tableButton(one, act), html("span", { class: "of" }, words[one.state]), html("p", { class: "way" }, visible(lines(one).filter(Boolean).join("; ")))),
        ),
      ),
    ),
    truncated ? html("p", { class: "note" }, "More are listed by `ingest freshness`.") : null,
  ];
}

const UNITS = [
  [86_400_000, "d"],
  [3_600_000, "h"],
];

function periodText(millis) {
  const [unit, word] = UNITS.find(([length]) => millis >= length) ?? [60_000, "min"];
  return `${Number((millis / unit).toPrecision(3))} ${word}`;
}
