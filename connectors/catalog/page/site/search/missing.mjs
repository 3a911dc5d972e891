// What is shown in place of a picture whose table is not there: where it went, and what is called nearly so.
import { breakable, byId, html, when } from "../base/dom.mjs";
import { partsOf, readable } from "../graph/model.mjs";
import { NoAnswer } from "../source/contract.mjs";
import { clearStart } from "./beginnings.mjs";

/** The names that a view asks for and its picture does not have, as the end of a sentence. */
export function absentText({ steps, removed }, graph) {
  const there = new Set([...graph.cards.values()].map((card) => card.fqn.toLowerCase()));
  const absent = steps.map((step) => step.entity).filter((name) => !there.has(name.toLowerCase()));
  const names = absent.filter((name) => !removed.includes(name)).map(readable);
  return names.length ? `; not here: ${names.join(", ")}` : "";
}

/** Says what did not work; the browser's own words for a server that does not answer help nobody. */
export function showFailure(explorer, error) {
  const silent = error instanceof NoAnswer;
  const advice = "The catalog does not answer: is `ingest serve` running? Try again when it is";
  explorer.say(silent ? advice : `That did not work: ${error.message}`);
  byId("status").classList.add("failed");
  setTimeout(() => byId("status").classList.remove("failed"), 4000);
  if (silent && !explorer.graph.cards.size) showNoAnswer(() => explorer.open());
}

/** In place of a picture that could not be asked for: what to do; `again` asks anew. */
function showNoAnswer(again) {
  clearStart();
  byId("start").hidden = false;
  byId("start").firstElementChild.replaceChildren("The catalog does not answer");
  byId("start-count").textContent = "Is `ingest serve` still running there? What is shown in this window comes from it.";
  const button = html("button", { type: "button", onclick: again }, html("span", { class: "found" }, "Try again"));
  byId("beginnings").replaceChildren(html("li", {}, button));
}

/** `found` is {renamed: {entity, at} or null, dropped: time or null, near: names}; `start` shows a table. */
export function showMissing(entity, { renamed, dropped, near }, start) {
  const name = readable(partsOf(entity).pop());
  clearStart();
  byId("start").hidden = false;
  byId("start").firstElementChild.replaceChildren(...breakable(`${name} is not here`));
  byId("start-count").replaceChildren(
    ...breakable(readable(entity)),
    renamed
      ? ` was renamed on ${when(renamed.at).slice(0, 10)}.`
      : dropped
        ? ` was dropped on ${when(dropped).slice(0, 10)}.`
        : " is no table of this lineage.",
    near.length || renamed ? " This may be what you look for:" : " Search for it by a part of its name.",
  );
  const offered = renamed ? [renamed.entity, ...near.filter((one) => one !== renamed.entity)] : near;
  byId("beginnings").replaceChildren(
    ...offered.map((one) =>
      html(
        "li",
        {},
        html(
          "button",
          { type: "button", onclick: () => start(one) },
          html("span", { class: "found" }, breakable(readable(one))),
          one === renamed?.entity ? html("span", { class: "count" }, "its name now") : null,
        ),
      ),
    ),
  );
}
