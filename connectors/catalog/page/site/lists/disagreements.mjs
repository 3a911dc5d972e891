// Where the evidence disagrees: links that one source of evidence has and another has not, each with what that has instead.
import { breakable, html, many } from "../base/dom.mjs";
import { readable } from "../graph/model.mjs";

/** The list in the panel; `act.go` opens a column, `act.only` shows nothing but such links in the picture. */
export function disagreementsPanel({ tables, counts, disagreements, truncated }, act) {
  const told = `${many(tables, "table")} of which there is more than one kind of evidence; ${many(counts.disputed, "link")} on which it differs.`;
  return [
    act.back ? html("button", { type: "button", id: "runs-back", onclick: act.back }, "← Runs") : null,
    html("h2", {}, "Where the evidence disagrees"),
    html("p", {}, told),
    html(
      "ul",
      { class: "changes", id: "disagreements" },
      disagreements.map((one) =>
        html(
          "li",
          { class: "breaks" },
          html("span", { "aria-hidden": "true" }, "≠"),
          html(
            "div",
            {},
            html("button", { type: "button", class: "go", onclick: () => act.go(one.table, one.to.slice(one.table.length + 1)) }, breakable(readable(one.to))),
            html("p", { class: "way" }, "from ", breakable(readable(one.from)), `: seen by ${one.seenBy.join(", ")}, not by ${one.notBy.join(", ")}`),
            Object.entries(one.instead).map(([who, columns]) => html("p", { class: "way" }, `${who} has `, breakable(readable(columns.join(", "))))),
          ),
        ),
      ),
    ),
    truncated ? html("p", { class: "note" }, "More are listed by `ingest witnesses`.") : null,
  ];
}
