// What the first page offers to begin with: tables that changed lately, are used most, failed lately, are not covered.
import { breakable, byId, html, many, when } from "../base/dom.mjs";
import { partsOf, readable, unquoted } from "../graph/model.mjs";

const LISTS = [
  ["changed", "Lately changed", "Nothing has changed yet."],
  ["used", "Most used", "Nobody was seen to read any."],
  ["failed", "Failed lately", "No test, load or statement failed last."],
  ["uncovered", "Uncovered", "The source of each table is known by its columns."],
];

/** Shows the lists that the source gives; `start` opens a table, `more` (by list) all of what a list begins. */
export function showStartLists(lists, start, more) {
  const given = lists ?? {};
  byId("start-lists").replaceChildren(
    ...LISTS.filter(([name]) => given[name]).map(([name, title, none]) =>
      html(
        "section",
        { id: `start-${name}`, "aria-labelledby": `start-${name}-title` },
        html(
          "div",
          { class: "list-head" },
          html("h2", { id: `start-${name}-title` }, title),
          more[name] && given[name].length
            ? html("button", { type: "button", class: "go", "aria-label": `${title}: all`, onclick: more[name] }, "All")
            : null,
        ),
        given[name].length ? html("ul", {}, given[name].map((row) => rowElement(row, start))) : html("p", { class: "note" }, none),
      ),
    ),
  );
}

/** Who reads a table, in words; "" where nobody was seen to. */
function readersText({ runs, readers }) {
  const counted = [runs && many(runs, "run"), readers && many(readers, "table")].filter(Boolean);
  return counted.length ? `read by ${counted.join(" and ")}` : "";
}

function rowElement(row, start) {
  const { entity, what, at } = row;
  const parts = partsOf(entity);
  return html(
    "li",
    {},
    html(
      "button",
      { type: "button", title: readable(entity), onclick: () => start(entity) },
      html("span", { class: "found" }, breakable(readable(unquoted(parts[parts.length - 1])))),
      html("span", { class: "where" }, breakable(readable(parts.slice(0, -1).join(".")))),
      html("span", { class: "count" }, [what, readersText(row), at && when(at).slice(0, 10)].filter(Boolean).join(" · ")),
    ),
  );
}
