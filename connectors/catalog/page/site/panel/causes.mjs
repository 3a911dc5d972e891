// Why a table or a column is wrong at a moment, as the panel shows it: ranked suspects, each with its path and evidence.
import { breakable, html } from "../base/dom.mjs";
import { partsOf, readable, visible } from "../graph/model.mjs";

/** What the panel begins with: the question, the moment that it is asked of, and the place of the answer. */
export function causesPanel(name, time, act) {
  const moment = html("input", {
    type: "datetime-local",
    id: "causes-at",
    onchange: (event) => act.at(event.target.value ? Date.parse(`${event.target.value}Z`) : null),
  });
  if (time.asOf !== null) moment.value = new Date(time.asOf).toISOString().slice(0, 16);
  return [
    html("h2", {}, "Why is it wrong?"),
    html("p", { class: "fqn" }, breakable(readable(name))),
    html("p", {}, html("label", { class: "moment-field" }, "At (UTC; empty: now) ", moment)),
    html("div", { class: "actions" }, html("button", { type: "button", id: "causes-back", onclick: act.back }, "Back")),
    html("section", { class: "origin", id: "causes", "aria-live": "polite" }, html("p", { class: "note" }, "Looking upstream …")),
  ];
}

/** The answer; `act` has choose(suspect or null), which lights its path, go(entity, path) and copy(). */
export function causesElements(answer, act) {
  return [
    html("h3", {}, "Suspects"),
    html("p", { id: "causes-verdict" }, breakable(readable(answer.verdict))),
    answer.failing.length ? html("p", { class: "note" }, "Failing: ", breakable(readable(answer.failing.join(", ")))) : null,
    html("p", {}, html("button", { type: "button", id: "causes-copy", onclick: act.copy }, "Copy as text")),
    html("ol", { class: "suspects" }, answer.suspects.map((one) => suspectElement(one, act))),
    listOf("Not ruled out", answer.notRuledOut),
    listOf("Not known", answer.unknown),
    ...timelineElements(answer.timeline),
  ];
}

function suspectElement(suspect, act) {
  const choose = html(
    "button",
    {
      type: "button",
      class: "suspect",
      "aria-pressed": "false",
      title: `${readable(suspect.table)}: show its path in the picture`,
      onclick: ({ currentTarget: button }) => {
        const chosen = button.getAttribute("aria-pressed") !== "true";
        for (const other of button.closest("ol").querySelectorAll(".suspect")) other.setAttribute("aria-pressed", "false");
        button.setAttribute("aria-pressed", String(chosen));
        act.choose(chosen ? suspect : null);
      },
    },
    html("b", {}, breakable(shortName(suspect.table))),
  );
  const evidence = suspect.evidence.map((one) =>
    html("li", {}, html("time", { datetime: one.at }, timeText(one.at)), " ", breakable(visible(one.what))),
  );
  return html(
    "li",
    {},
    choose,
    html("span", { class: "how" }, ` ${tieText(suspect)}`),
    html("ul", { class: "evidence" }, evidence),
    suspect.path.length > 1 ? html("div", { class: "way" }, breakable(suspect.path.map(shortName).join(" → "))) : null,
    suspect.clearedBy.length ? html("div", { class: "how" }, "less likely, since these passed: ", breakable(readable(suspect.clearedBy.join(", ")))) : null,
  );
}

const TIES = { DIRECT: "its values flow there", INDIRECT: "its values decide there", TABLE: "only the tables are known to be joined" };

function tieText({ path, tie }) {
  return path.length > 1 ? TIES[tie] : "the thing itself";
}

function listOf(title, names) {
  if (!names.length) return null;
  return html("div", {}, html("h3", {}, title), html("ul", { class: "plain" }, names.map((name) => html("li", {}, breakable(readable(name))))));
}

function timelineElements(entries) {
  if (!entries.length) return [];
  const rows = entries.map(({ at, table, what }) =>
    html("li", {}, html("time", { datetime: at }, timeText(at)), " ", html("b", {}, breakable(shortName(table))), " ", breakable(visible(what))),
  );
  return [html("h3", {}, "What happened"), html("ol", { class: "timeline" }, rows)];
}

/** The last two parts of a full name. */
function shortName(name) {
  return readable(partsOf(name).slice(-2).join("."));
}

/** A time as the catalog writes it, for people: to the minute, in UTC. */
function timeText(at) {
  return at.replace("T", " ").replace(/:\d\d[+]00:00$/, "");
}

/** The whole answer as text. */
export function causesText(answer) {
  const lines = [`why ${answer.name} is wrong at ${timeText(answer.at)}`, answer.verdict];
  if (answer.failing.length) lines.push(`failing: ${answer.failing.join(", ")}`);
  for (const one of answer.suspects) {
    lines.push(`${one.rank}. ${one.table}`, `   ${one.path.join(" -> ")}`);
    for (const { at, what } of one.evidence) lines.push(`   ${timeText(at)} ${what}`);
    if (one.clearedBy.length) lines.push(`   less likely, since these passed: ${one.clearedBy.join(", ")}`);
  }
  if (answer.notRuledOut.length) lines.push(`not ruled out: ${answer.notRuledOut.join(", ")}`);
  for (const one of answer.unknown) lines.push(`not known: ${one}`);
  for (const { at, table, what } of answer.timeline) lines.push(`${timeText(at)} ${table}: ${what}`);
  return `${lines.map((line) => visible(line)).join("\n")}\n`;
}
