// What changes with a column or a table, as a list.
import { breakable, html } from "../base/dom.mjs";
import { KIND_NAMES } from "../base/words.mjs";
import { partsOf, readable } from "../graph/model.mjs";

/** The stations of a way, without its ends, by the last two parts of their names. */
function between(way) {
  return readable(
    way
      .slice(1, -1)
      .map((name) => partsOf(name).slice(-2).join("."))
      .join(" → "),
  );
}

const TYPE_KINDS = { DIRECT: "direct", INDIRECT: "indirect", TABLE: "table" };

/** What changes with a column, as a table, with a button that saves it as CSV. */
export function impactElement(name, rows, act) {
  const tables = new Set(rows.map((row) => row.table)).size;
  const counted = (type) => rows.filter((row) => row.type === type).length;
  const heading = html("h3", {}, `If ${name} changes`);
  if (!rows.length) return [heading, html("p", { class: "note" }, "Nothing downstream is known.")];
  const kinds = ["DIRECT", "INDIRECT", "TABLE"]
    .filter(counted)
    .map((type) =>
      html(
        "span",
        { class: `pill ${TYPE_KINDS[type]}` },
        html("span", { class: `sample ${TYPE_KINDS[type]}` }),
        `${counted(type)} ${KIND_NAMES[TYPE_KINDS[type]]}`,
      ),
    );
  const body = rows.slice(0, 500).map((row) =>
    html(
      "tr",
      {},
      html(
        "td",
        {},
        html("span", {
          class: `sample ${TYPE_KINDS[row.type]}`,
          role: "img",
          "aria-label": KIND_NAMES[TYPE_KINDS[row.type]],
        }),
      ),
      html(
        "td",
        {},
        html(
          "button",
          { type: "button", class: "go", onclick: () => act.go(row.table, row.path) },
          html("b", {}, breakable(row.path ? readable(row.path) : "every row")),
          html("span", { class: "of" }, breakable(readable(partsOf(row.table).slice(-2).join(".")))),
        ),
        row.way.length > 2 ? html("div", { class: "way" }, "by way of ", breakable(between(row.way))) : null,
      ),
      html("td", { class: "number" }, row.depth),
    ),
  );
  return [
    heading,
    html(
      "p",
      {},
      `${rows.length} thing${rows.length === 1 ? "" : "s"} in ${tables} table${tables === 1 ? "" : "s"}. `,
      html("button", { type: "button", id: "impact-csv", onclick: act.csv }, "Save as CSV"),
    ),
    html("p", { class: "pills" }, kinds),
    html(
      "table",
      { class: "rows" },
      html(
        "thead",
        {},
        html(
          "tr",
          {},
          html("th", { scope: "col" }, "How"),
          html("th", { scope: "col" }, "What"),
          html("th", { scope: "col", class: "number" }, "Steps"),
        ),
      ),
      html("tbody", {}, body),
    ),
    rows.length > 500 ? html("p", { class: "note" }, `and ${rows.length - 500} more: the CSV has them all`) : null,
  ];
}
