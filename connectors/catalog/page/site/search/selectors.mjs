// How far around what is searched for a picture goes, as dbt writes it: +model, model+2, 1+model+, tag:pii+, +owner:ann.
const SELECTOR = /^(?:(\d*)\+)?([^+\s][^+]*?)(?:\+(\d*))?$/;
const ALL = 100; // steps

/** The name in a search, and the steps on each side; `reach` null: it does not say. */
export function selectorOf(text) {
  const found = SELECTOR.exec(text.trim());
  if (!found || !text.includes("+")) return { name: text, reach: null };
  const [, before, name, after] = found;
  const steps = (number) => (number === undefined ? 0 : number === "" ? ALL : Math.min(ALL, Number(number)));
  return { name, reach: { upstream: steps(before), downstream: steps(after) } };
}

/** The same in words. */
export function reachText({ upstream, downstream }) {
  const side = (steps, what) => steps > 0 && (steps === ALL ? `all that ${what}` : `${steps} ${steps === 1 ? "step" : "steps"} of what ${what}`);
  return `with ${[side(upstream, "they are made of"), side(downstream, "is made of them")].filter(Boolean).join(" and ") || "nothing around them"}`;
}
