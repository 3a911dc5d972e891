// The columns of a table, searched by their names: from each one goes to where it comes from and what it reaches.
import { breakable, html } from "../base/dom.mjs";
import { searched } from "../graph/matching.mjs";
import { readable } from "../graph/model.mjs";

const SHOWN = 12;

/** A list with a search; `go` is told the path of the column that is chosen. */
export function columnList(card, go) {
  if (!card.columns.length) return null;
  const list = html("ul", { class: "plain column-list" });
  const rest = html("p", { class: "note", role: "status" });
  const show = (text) => {
    const asked = searched(text);
    const fits = ({ name }) => {
      const known = searched(name);
      return known.plain.includes(asked.plain) || asked.words.every((word) => known.words.some((one) => one.startsWith(word)));
    };
    const found = asked.plain ? card.columns.filter(fits) : card.columns;
    list.replaceChildren(...found.slice(0, SHOWN).map((column) => row(column, go)));
    rest.textContent = found.length > SHOWN ? `and ${found.length - SHOWN} more` : found.length ? "" : "No column is called so";
  };
  show("");
  const input = html("input", {
    type: "text",
    id: "column-search",
    "aria-label": `Search the columns of ${card.name}`,
    placeholder: "Search its columns",
    autocomplete: "off",
    spellcheck: "false",
    oninput: (event) => show(event.target.value),
  });
  return html("section", { class: "origin", id: "column-list" }, html("h3", {}, "Columns"), card.columns.length > SHOWN / 2 ? input : null, list, rest);
}

function row({ path, type, description }, go) {
  return html(
    "li",
    {},
    html("button", { type: "button", class: "chooses", title: description || null, onclick: () => go(path) }, breakable(readable(path))),
    html("span", { class: "of" }, ` ${type.toLowerCase()}`),
  );
}
