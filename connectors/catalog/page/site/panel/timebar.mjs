// The bar of time: a slider over the moments at which anything changed, and another one to compare with.
import { byId, when } from "../base/dom.mjs";

/** What of time a view shows, in words; "" where it is the present. */
export function momentText(view, compared = "") {
  if (compared) return compared;
  const end = view.asOf === null ? "now" : when(view.asOf);
  if (view.base !== null) return `${when(view.base)} compared with ${end}`;
  return view.asOf === null ? "" : `as of ${end}`;
}

export class TimeBar {
  #stops = null; // moments, oldest first; the last one, null, is now

  constructor(source, explorer) {
    this.source = source;
    this.explorer = explorer;
    this.wanted = false;
    byId("time-toggle").hidden = !source.live;
    byId("time-toggle").addEventListener("click", () => this.toggle());
    byId("time-at").addEventListener("input", () => this.#tell());
    byId("time-base").addEventListener("input", () => this.#tell());
    byId("time-at").addEventListener("change", () => this.#moved("at"));
    byId("time-base").addEventListener("change", () => this.#moved("base"));
    byId("time-compare").addEventListener("click", () => this.#compare());
    byId("time-changes").addEventListener("click", () => explorer.openChanges());
    byId("time-now").addEventListener("click", () => this.#set({ asOf: null, base: null }));
  }

  get open() {
    const { asOf, base } = this.explorer.view;
    return this.wanted || asOf !== null || base !== null;
  }

  /** Shows the bar, or takes it away and the past with it. */
  async toggle() {
    if (!this.source.live) return;
    const { view } = this.explorer;
    const wanted = !this.open;
    if (!wanted && (view.asOf !== null || view.base !== null)) this.#set({ asOf: null, base: null });
    this.wanted = wanted;
    await this.show();
    if (wanted) byId("time-at").focus();
  }

  /** Puts the view's moments into the bar. */
  async show() {
    const open = this.open && byId("start").hidden;
    byId("time").hidden = !open;
    byId("time-toggle").setAttribute("aria-pressed", String(open));
    if (!open) return;
    const { view } = this.explorer;
    const compares = view.base !== null;
    byId("time-compare").setAttribute("aria-pressed", String(compares));
    byId("time-changes").hidden = !compares;
    byId("time-fixed").textContent = this.source.compared ?? "";
    for (const id of ["time-at-field", "time-compare", "time-now"]) byId(id).hidden = !this.source.live;
    byId("time-base-field").hidden = !this.source.live || !compares;
    if (!this.source.live) return;
    if (!(await this.#ready())) return;
    for (const [id, moment, last] of [
      ["time-at", view.asOf, this.#stops.length - 1],
      ["time-base", view.base, Math.max(0, this.#stops.length - 2)],
    ]) {
      byId(id).max = last;
      byId(id).value = this.#stopOf(moment);
    }
    this.#tell({ base: view.base, at: view.asOf });
  }

  /** Whether the moments are known. */
  async #ready() {
    try {
      this.#stops ??= [...(await this.source.moments()), { at: null, changes: 0 }];
      return true;
    } catch (error) {
      this.explorer.failed(error);
      return false;
    }
  }

  /** Asks for the moments anew: something was just changed. */
  forget() {
    this.#stops = null;
  }

  /** The last stop that is not after a moment. */
  #stopOf(moment) {
    if (moment === null) return this.#stops.length - 1;
    return Math.max(0, this.#stops.findLastIndex(({ at }) => at !== null && at <= moment));
  }

  /** Says which moments the sliders stand for: those of the view, or those that they were moved to. */
  #tell(moments = {}) {
    if (!this.#stops) return;
    for (const which of ["base", "at"]) {
      const input = byId(`time-${which}`);
      const stop = this.#stops[Number(input.value)] ?? { at: null };
      const at = which in moments ? moments[which] : stop.at;
      const exact = stop.at === at && at !== null ? ` · ${stop.changes} change${stop.changes === 1 ? "" : "s"}` : "";
      const text = at === null ? "now" : `${when(at)}${exact}`;
      byId(`time-${which}-value`).textContent = text;
      input.setAttribute("aria-valuetext", text);
    }
  }

  async #moved(which) {
    if (!(await this.#ready())) return;
    const { view } = this.explorer;
    const stop = (id) => Number(byId(id).value);
    const [base, at] = [stop("time-base"), stop("time-at")];
    if (which === "at") {
      const asOf = this.#stops[at].at;
      this.#set({ asOf, base: view.base !== null && base > at ? asOf : view.base });
    } else {
      this.#set({ base: this.#stops[base].at, asOf: base > at ? this.#stops[base].at : view.asOf });
    }
  }

  async #compare() {
    const { view } = this.explorer;
    if (view.base !== null) this.#set({ base: null });
    else if (await this.#ready()) {
      const before = Math.max(0, this.#stopOf(view.asOf) - (view.asOf === null ? 2 : 1));
      this.#set({ base: this.#stops[before].at ?? view.asOf ?? 0 });
    }
  }

  #set(moments) {
    this.wanted = true;
    Object.assign(this.explorer.view, moments);
    this.explorer.changed("graph");
  }
}
