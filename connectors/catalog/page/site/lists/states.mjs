// The state of a table: its last run, how fresh it is, what its tests came to; as marks on its card, and in the panel.
import { html, when } from "../base/dom.mjs";

const FAILED = ["Failed", "Aborted"];

/** What is told of a card's state: [{what, bad, text}]; `what` is run, fresh or tests. */
export function statesOf({ state = null, tests = [] }) {
  const found = [];
  if (state?.failed) found.push({ what: "run", bad: true, text: `last load failed (${when(state.failed)})` });
  else if (state?.last) found.push({ what: "run", bad: false, text: `last written ${when(state.last)}` });
  if (state?.state === "late") found.push({ what: "fresh", bad: true, text: `late: due ${when(state.due)}` });
  else if (state?.state === "on_time") found.push({ what: "fresh", bad: false, text: "on time" });
  const ran = tests.filter((test) => test.status);
  const failing = ran.filter((test) => FAILED.includes(test.status));
  if (ran.length) {
    const text = failing.length ? `${failing.length} of ${ran.length} tests fail` : `all ${ran.length} tests passed`;
    found.push({ what: "tests", bad: failing.length > 0, text });
  }
  return found;
}

const NAMES = { run: "Last run", fresh: "Freshness" };

/** The same as facts of the panel, but for tests, of which it tells each one. */
export function stateFacts(card) {
  const told = statesOf(card).filter(({ what }) => NAMES[what]);
  return told.flatMap(({ what, text }) => [html("dt", {}, NAMES[what]), html("dd", {}, text)]);
}
