// Shares of a whole as bars: what a run came to, how much of the tables is covered.
import { html, many } from "./dom.mjs";

const LEVELS = [
  ["columns", "by columns"],
  ["table", "by table"],
  ["none", "not at all"],
];

/** A bar of as many parts as there are numbers, each as long as its share; read out as its text. */
export function shareBar(parts, text) {
  const bar = html("span", { class: "share", role: "img", "aria-label": text });
  for (const [name, count] of parts) {
    if (!count) continue;
    const part = html("i", { class: name });
    part.style.flexGrow = count;
    bar.append(part);
  }
  return bar;
}

/** How much is covered, as a bar with its numbers. */
export function coverageBar(counts) {
  const text = LEVELS.map(([level, word]) => `${counts[level].toLocaleString("en")} ${word}`).join(", ");
  return [shareBar(LEVELS.map(([level]) => [level, counts[level]]), text), html("span", {}, `Source known of ${many(counts.tables, "table")}: ${text}`)];
}
