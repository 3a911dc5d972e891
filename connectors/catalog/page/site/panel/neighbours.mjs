// A long list of tables in the panel: searched, in order of use, of name or of change, page by page; each can be brought into the picture.
import { breakable, html } from "../base/dom.mjs";
import { GLYPHS } from "../graph/difference.mjs";
import { partsOf, readable } from "../graph/model.mjs";
import { useText } from "../search/results.mjs";

const PAGE = 20;
const PAUSE = 150;

/**
 * The elements of a list.
 *
 * `ask({q, sort, start, limit})` gives {total, found, changed, entities: [{entity, use, change}]}; `act` has `choose(entity)`, `failed(error)` and,
 * where tables can be brought into the picture, `bring(entities)` and `has(entity)`; `compares`: two moments are compared.
 */
export function tableList(name, ask, act) {
  const asked = { q: "", sort: act.compares ? "changed" : "used", start: 0, limit: PAGE };
  let turn = 0;
  let timer = 0;
  let shown = [];
  const count = html("p", { class: "note", role: "status" });
  const list = html("ol", { class: "entities" });
  const earlier = html("button", { type: "button", onclick: () => leaf(-PAGE) }, "Earlier");
  const later = html("button", { type: "button", onclick: () => leaf(PAGE) }, "Later");
  const all = act.bring
    ? html("button", { type: "button", class: "bring-all", onclick: () => act.bring(shown.filter((one) => !act.has(one))) }, "Show these")
    : null;
  const update = async () => {
    const mine = ++turn;
    try {
      const answer = await ask(asked);
      if (mine !== turn) return;
      shown = answer.entities.map((one) => one.entity);
      const last = asked.start + shown.length;
      const of = answer.found === answer.total ? `${answer.total}` : `${answer.found} (of ${answer.total})`;
      const changed = act.compares ? `; ${answer.changed} changed` : "";
      count.textContent = (shown.length ? `${asked.start + 1} to ${last} of ${of}` : `none of ${answer.total}`) + changed;
      earlier.disabled = asked.start === 0;
      later.disabled = last >= answer.found;
      list.start = asked.start + 1;
      list.replaceChildren(...answer.entities.map((one) => row(one, act)));
    } catch (error) {
      act.failed(error);
    }
  };
  const leaf = (by) => {
    asked.start = Math.max(0, asked.start + by);
    update();
  };
  const change = (key, value) => {
    [asked[key], asked.start] = [value, 0];
    update();
  };
  const box = html("input", {
    type: "text",
    class: "list-search",
    "aria-label": `Search ${name}`,
    placeholder: "Search these",
    autocomplete: "off",
    spellcheck: "false",
    oninput: (event) => {
      clearTimeout(timer);
      timer = setTimeout(() => change("q", event.target.value.trim()), PAUSE);
    },
  });
  const order = html(
    "select",
    { class: "list-order", "aria-label": "Order", onchange: (event) => change("sort", event.target.value) },
    act.compares ? html("option", { value: "changed" }, "changed first") : null,
    html("option", { value: "used" }, "most used first"),
    html("option", { value: "name" }, "by name"),
  );
  update();
  return [html("div", { class: "list-tools" }, box, order), count, list, html("div", { class: "actions" }, earlier, later, all)];
}

function row({ entity, use, change }, act) {
  const parts = partsOf(entity);
  const there = act.has?.(entity);
  return html(
    "li",
    {},
    change ? html("span", { class: `glyph ${change}`, role: "img", "aria-label": change }, GLYPHS[change]) : null,
    html(
      "button",
      { type: "button", class: "go", onclick: () => act.choose(entity), title: readable(entity) },
      html("b", {}, breakable(readable(parts[parts.length - 1]))),
      html("span", { class: "of" }, breakable(readable(parts.slice(-3, -1).join(".")))),
    ),
    html("div", { class: "how" }, `${change ? `${change} · ` : ""}${useText(use)}${there ? " · in the picture" : ""}`),
  );
}
