// What a search finds as a page of its own, which a link can lead to: each table with its use and its age.
import { breakable, byId, html, many, when } from "../base/dom.mjs";
import { readable } from "../graph/model.mjs";
import { clearStart } from "./beginnings.mjs";

/** A table's use and age in words. */
export function useText({ runs = 0, readers = 0, lastWritten = null, appeared = null } = {}) {
  const day = (millis) => when(millis).slice(0, 10);
  return [
    many(runs, "run"),
    many(readers, "reader"),
    lastWritten && `written ${day(lastWritten)}`,
    appeared && `here since ${day(appeared)}`,
  ]
    .filter(Boolean)
    .join(" · ");
}

/** Shows results in place of a picture. */
export function showResults(text, results, start) {
  clearStart();
  byId("start").hidden = false;
  byId("start").firstElementChild.replaceChildren(...breakable(text));
  byId("start-count").textContent = results.length
    ? `${results.length} found${results.length === 200 ? ": the first, there are more" : ""}`
    : "Nothing was found";
  byId("beginnings").replaceChildren(
    ...results.map((one) =>
      html(
        "li",
        {},
        html(
          "button",
          { type: "button", onclick: () => start(one) },
          html("span", { class: "found" }, breakable(readable(one.entity + (one.path ? `.${one.path}` : "")))),
          html("span", { class: "count" }, useText(one.use)),
        ),
      ),
    ),
  );
}
