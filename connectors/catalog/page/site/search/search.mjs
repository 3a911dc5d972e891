// The search box: any table or column, chosen with the keyboard or the pointer.
import { byId, html } from "../base/dom.mjs";
import { placesOf } from "../graph/matching.mjs";
import { partsOf, readable } from "../graph/model.mjs";
import { parsed } from "../graph/narrowing.mjs";
import { useText } from "./results.mjs";
import { reachText, selectorOf } from "./selectors.mjs";

const PAUSE = 120;

/** `chosen(result, reach)` and `all(text, reach)` are told what is chosen; gives the function that looks anew. */
export function search(source, { chosen, all, failed }) {
  const input = byId("search");
  const list = byId("results");
  let results = [];
  let active = -1;
  let timer = 0;
  let closing = 0;
  let asked = 0;

  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const mark = (at) => {
    active = at;
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === at)));
    const item = list.children[at];
    if (!item?.id) return;
    item.scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", item.id);
  };
  const take = (at) => {
    const text = input.value.trim();
    if (!results[at] && (at !== results.length || !results.length)) return;
    close();
    input.value = "";
    input.blur();
    const { name, reach } = selectorOf(text);
    if (results[at]) chosen(results[at], reach);
    else all(name, reach);
  };
  const show = (text) => {
    list.replaceChildren(...results.map((result, at) => item(result, at, selectorOf(text).name, () => take(at))));
    if (!results.length)
      list.append(
        html(
          "li",
          { class: "none", role: "option", "aria-disabled": "true" },
          "No table or column is called so, or nearly so",
        ),
      );
    else list.append(allItem(results.length, selectorOf(text).reach, () => take(results.length)));
    list.hidden = false;
    list.dataset.found = text; // whose results these are: those of a text typed before may still stand
    input.setAttribute("aria-expanded", "true");
    const every = selectorOf(text).reach && narrowed(text); // tag:pii+ is of all that bear it
    mark(results.length ? (every ? results.length : 0) : -1);
  };
  const ask = async () => {
    const text = input.value.trim();
    const mine = ++asked;
    if (!text) {
      results = [];
      return close();
    }
    try {
      const found = await source.search(selectorOf(text).name);
      if (mine !== asked) return;
      results = found;
      show(text);
    } catch (error) {
      failed(error);
    }
  };
  input.addEventListener("input", () => {
    clearTimeout(closing); // who leaves the box and is back at once wants what is found
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE);
  });
  input.addEventListener("focus", () => input.value && ask());
  input.addEventListener("blur", () => {
    closing = setTimeout(close, 150);
  });
  input.addEventListener("keydown", async (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      const choices = results.length + 1; // the last one: all of them
      if (results.length) mark((active + step + choices) % choices);
    } else if (event.key === "Enter") {
      clearTimeout(timer);
      if (list.hidden) await ask();
      take(Math.max(0, active));
    } else if (event.key === "Escape") {
      event.stopPropagation();
      input.value = "";
      close();
      input.blur();
    }
  });
  return ask;
}

/** The last of the offers: everything that was found, as a page, or as a picture that goes as far around it. */
function allItem(at, reach, take) {
  const element = html(
    "li",
    { id: `result-${at}`, class: "all", role: "option", "aria-selected": "false" },
    reach ? `A picture of all of them, ${reachText(reach)}` : "All results on a page, with use and age",
  );
  return chosenBy(element, take);
}

/**
 * The offer, which a whole click takes. On a phone the page changes before the finger is up: what lies under the list
 * would get the rest of a tap that chose already when it began. The box keeps the focus until then.
 */
function chosenBy(element, take) {
  element.addEventListener("mousedown", (event) => event.preventDefault());
  element.addEventListener("click", take);
  return element;
}

function item(result, at, text, take) {
  const qualifier = result.path ? result.entity : partsOf(result.entity).slice(0, -1).join(".");
  const element = html(
    "li",
    { id: `result-${at}`, role: "option", "aria-selected": "false" },
    html("span", { class: `symbol ${result.kind}`, "aria-hidden": "true" }, result.path ? "▪" : "▤"),
    html("span", { class: "found" }, emphasised(readable(result.path || result.name), parsed(text).words)),
    html("span", { class: "where" }, html("bdi", { dir: "ltr" }, readable(qualifier))),
    narrowed(text) ? html("span", { class: "use" }, useText(result.use)) : null,
  );
  return chosenBy(element, take);
}

function narrowed(text) {
  const { filters, order } = parsed(text);
  return filters.length > 0 || order !== null;
}

/** The name with what was searched for in bold. */
function emphasised(name, text) {
  const parts = [];
  let at = 0;
  for (const [start, end] of placesOf(name, text)) {
    parts.push(name.slice(at, start), html("b", {}, name.slice(start, end)));
    at = end;
  }
  return [...parts, name.slice(at)];
}
