// The filters of a search as controls: what is chosen in them stands in the search box, and the other way round.
import { byId, html } from "../base/dom.mjs";
import { filterValue, withFilter } from "../graph/narrowing.mjs";

const LISTS = { tag: "tags", owner: "owners", producer: "producers" };
const FIELDS = ["tag", "owner", "producer", "used", "readers", "stale", "unread", "new", "sort"];

/** The least number that `>=5`, `>4` or `5` allow, as text; what has no least number stays as it is. */
function leastText(value) {
  const [, sign, digits] = /^(>=|>|)(\d+)$/.exec(value) ?? [];
  return digits ? String(Number(digits) + (sign === ">" ? 1 : 0)) : value;
}

/** Keeps the controls and the search box in step; `search(text)` looks anew, `failed` is told what went wrong. */
export function narrowControls(source, search, failed) {
  const input = byId("search");
  const menu = byId("narrow");
  const control = (field) => byId(`narrow-${field}`);
  const set = (field, value) => {
    input.value = withFilter(input.value, field, value);
    input.dispatchEvent(new Event("input"));
    search();
  };
  for (const field of FIELDS) {
    control(field).addEventListener("change", (event) => {
      const value = event.target.value.trim();
      set(field, ["used", "readers"].includes(field) && /^\d+$/.test(value) ? `>=${value}` : value);
    });
  }
  byId("narrow-reset").addEventListener("click", () => {
    input.value = FIELDS.reduce((text, field) => withFilter(text, field, ""), input.value);
    input.dispatchEvent(new Event("input"));
    show();
  });
  const show = () => {
    const values = FIELDS.map((field) => [field, filterValue(input.value, field)]);
    for (const [field, value] of values) {
      const number = ["used", "readers"].includes(field) ? leastText(value) : value;
      const element = control(field);
      if (element.tagName === "SELECT" && number && ![...element.options].some((one) => one.value === number))
        element.append(html("option", { value: number }, number));
      element.value = number;
    }
    const active = values.filter(([, value]) => value).length;
    byId("narrow-count").textContent = active ? String(active) : "";
    byId("narrow-count").hidden = !active;
  };
  input.addEventListener("input", show);
  menu.addEventListener("toggle", async () => {
    if (!menu.open) return;
    show();
    try {
      const values = await source.searchValues();
      for (const [field, list] of Object.entries(LISTS))
        byId(`narrow-${list}`).replaceChildren(
          ...values[list].map(({ value, count }) => html("option", { value, label: `${value} (${count})` })),
        );
    } catch (error) {
      failed(error);
    }
  });
}
