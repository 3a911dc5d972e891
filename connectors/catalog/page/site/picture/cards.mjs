// A card as SVG: the table's name, its columns with their ports, and how many neighbours are not in the picture.
import { svg, textWidth } from "../base/dom.mjs";
import { GLYPHS } from "../graph/difference.mjs";
import { keyOf, tagsText } from "../graph/model.mjs";
import { statesOf } from "../lists/states.mjs";
import { ROW } from "./scene.mjs";
import { changeMark } from "./wires.mjs";

const ICONS = {
  table: "M1 3h12v9H1zM1 6h12M5.5 6v6",
  view: "M1 7.5C3 4.6 5 3.5 7 3.5s4 1.1 6 4c-2 2.9-4 4-6 4s-4-1.1-6-4zM7 6a1.5 1.5 0 1 0 .01 0z",
  container: "M2 4c0-1 2.2-1.7 5-1.7S12 3 12 4v7c0 1-2.2 1.7-5 1.7S2 12 2 11zM2 4c0 1 2.2 1.7 5 1.7S12 5 12 4",
  dashboard: "M1 3h12v9H1zM3.5 10V7M7 10V5M10.5 10V8",
  databaseSchema: "M1 4.500h5l1.500 -1.800h5.500v9.800h-12zM1 6.500h12",
  databaseService: "M2 2.500h10v3.500h-10zM2 8.500h10v3.500h-10zM4 4.200h1M4 10.200h1",
  metric: "M1 11l4-5 3 3 5-6M9.5 3H13v3.5",
};

const TYPE_FONT = "12px system-ui, sans-serif";
const NOUNS = { databaseSchema: "schema" };

/** A hue for a schema, the same each time. */
export function hueOf(schema) {
  let hash = 2166136261;
  for (const letter of schema) hash = Math.imul(hash ^ letter.codePointAt(0), 16777619);
  return ((hash >>> 0) % 24) * 15;
}

/** How much of a card is drawn: all of it, its name, or only its shape; what could not be read is left out. */
export const NEAR = 0;
export const FAR = 1;
export const TINY = 2;

/** The element of a box, seen from NEAR, FAR or TINY. */
export function cardElement(box, { distance, root }) {
  const { card, width, height, head: top } = box;
  const classes = [
    "card",
    root ? "root" : "",
    card.gone ? "gone" : "",
    card.change ?? "",
    distance > NEAR ? "far" : "",
    distance === TINY ? "tiny" : "",
  ]
    .filter(Boolean)
    .join(" ");
  const group = svg("g", {
    class: classes,
    transform: `translate(${box.x} ${box.y})`,
    "data-card": card.id,
    "data-head": keyOf(card.id, ""),
    tabindex: -1,
    role: "group",
    "aria-label": describe(box),
  });
  group.append(
    svg("rect", { class: "plate", width, height, rx: 9 }),
    svg("path", { class: "band", d: `M0 9a9 9 0 0 1 9-9h${width - 18}a9 9 0 0 1 9 9${box.named ? namedEnd(width, top) : `v${top - 9}H0z`}` }),
    svg("rect", {
      class: "tab",
      x: 0,
      y: top / 4,
      width: 3.5,
      height: top / 2,
      rx: 1.75,
      fill: `hsl(${hueOf(card.group ? card.title : card.schema)} 55% 52%)`,
    }),
  );
  if (distance === TINY) {
    group.append(svg("rect", { class: "edge", width, height, rx: 9 }));
    return group;
  }
  if (distance === FAR) {
    group.append(farName(box));
  } else {
    group.append(...(box.named ? nameOf(box) : head(box)), ...box.rows.map((row, at) => columnElement(box, row, at)));
    if (box.more > 0) group.append(moreElement(box));
  }
  group.append(svg("rect", { class: "edge", width, height, rx: 9 }), ...expanders(box));
  markStates(group, box);
  if (card.change) group.append(changeMark(card.change, 0, 0));
  return group;
}

const STATE_SIGNS = { run: "M-2.2 -3.200L3.300 0L-2.200 3.200z", fresh: "M0 -3.400V0.400L2.600 2", tests: "M-3 0.200L-0.800 2.600L3.200 -2.600" };
const BAD_TESTS = "M-2.500 -2.500L2.500 2.500M2.500 -2.500L-2.500 2.500";

/** Signs at a card's upper edge, of its last run, how fresh it is and its tests: of what is wrong another one. */
export function markStates(element, { card, width }) {
  element.querySelector(".states")?.remove();
  const states = statesOf(card);
  if (!states.length) return;
  const signs = states.map(({ what, bad, text }, at) =>
    svg(
      "g",
      { class: `state ${bad ? "bad" : "good"}`, transform: `translate(${width - 24 - 18 * at} 0)` },
      svg("circle", { r: 7.5 }),
      svg("path", { d: bad && what === "tests" ? BAD_TESTS : STATE_SIGNS[what] }),
      svg("title", {}, text),
    ),
  );
  element.append(svg("g", { class: "states" }, signs));
  element.setAttribute("aria-label", `${element.getAttribute("aria-label")}, ${states.map((one) => one.text).join(", ")}`);
}

/** The rest of a head's outline that has nothing below it. */
function namedEnd(width, height) {
  return `v${height - 18}a9 9 0 0 1-9 9h-${width - 18}a9 9 0 0 1-9-9z`;
}

/** The name as large as the card allows, over several lines where it has joints. */
function farName({ card, width, height }) {
  const lines = [];
  for (const part of card.name.split(/(?<=[_.\-\s])/)) {
    const last = lines[lines.length - 1];
    if (last !== undefined && (last + part).length <= 9) lines[lines.length - 1] = last + part;
    else lines.push(part);
  }
  const most = Math.floor((width - 28) / (12 * 0.6)); // letters of the smallest size
  lines.forEach((line, at) => line.length > most && (lines[at] = `${line.slice(0, most - 1)}…`));
  lines.length = Math.min(lines.length, Math.max(1, Math.floor((height - 8) / (12 * 1.12))));
  const longest = Math.max(...lines.map((line) => line.length));
  const size = Math.max(12, Math.min(36, (width - 28) / (longest * 0.6), (height - 8) / (lines.length * 1.12)));
  const text = svg("text", { class: "far-name", "font-size": size });
  const top = Math.max(size, (height - lines.length * size * 1.12) / 2 + size * 0.9);
  lines.forEach((line, at) =>
    text.append(svg("tspan", { x: 16, y: Math.min(top, size + 34) + at * size * 1.12 }, line)),
  );
  return text;
}

function describe({ card, rows }) {
  const hidden = card.hidden.upstream + card.hidden.downstream;
  const rest = hidden ? `, ${card.hidden.upstream} upstream and ${card.hidden.downstream} downstream not shown` : "";
  const change = card.change ? `, ${card.change}` : "";
  const source = card.coverage ? `, ${SOURCES[card.coverage].toLowerCase()}` : "";
  if (card.group) return `schema ${card.title}, ${card.schema}: opens by a click`;
  if (card.tables !== null) return `${NOUNS[card.kind] ?? "service"} ${card.title}, ${card.tables} tables`;
  const tagged = card.tags.length ? `, tagged ${tagsText(card)}` : "";
  return `${card.kind} ${card.title}${change}${tagged}, ${rows.length} of ${card.columns.length} columns shown${source}${rest}`;
}

/** A card that is only a name; of a group how many tables it stands for. */
function nameOf(box) {
  const { card, width } = box;
  const icon = svg("path", { class: "icon", d: ICONS[card.kind] ?? ICONS.table, transform: "translate(8 6)" });
  const name = svg("text", { class: "name", x: 27, y: 18 }, box.name);
  const count = card.group && svg("text", { class: "column-type", x: width - 9, y: 18 }, String(card.tables));
  const covered = card.coverage && sourceMark(card.coverage, width - 9, box.head / 2);
  return [icon, name, count, covered, svg("title", {}, card.group ? `${card.title}: ${card.schema}` : card.title)].filter(Boolean);
}

function head(box) {
  const { card } = box;
  const icon = svg("path", { class: "icon", d: ICONS[card.kind] ?? ICONS.table, transform: "translate(13 10)" });
  const name = svg("text", { class: "name", x: 34, y: 21 }, box.name);
  const schema = svg("text", { class: "schema", x: 34, y: 37 }, schemaText(box));
  const fold = svg("g", { class: "fold", "data-fold": card.id, transform: `translate(${box.width - 22} ${box.head / 2})` });
  fold.append(
    svg("rect", { x: -11, y: -11, width: 22, height: 22, rx: 6 }),
    svg("path", { d: box.mode === "none" ? "M-3 -1.5L0 1.5L3 -1.5" : "M-3 1.5L0 -1.5L3 1.5" }),
    svg("title", {}, box.mode === "none" ? "Show the columns" : "Hide the columns"),
  );
  const covered = card.coverage && sourceMark(card.coverage, box.width - 8, 8);
  return [icon, name, schema, fold, covered, tagMark(card, box.width - 46, box.head / 2), svg("title", {}, card.title)].filter(Boolean);
}

const SOURCES = { none: "Its source is not known", table: "Its source is known by table, not by columns" };

/** A sign that a table's source is not known by columns: an open one where nothing is known. */
function sourceMark(level, x, y) {
  return svg("circle", { class: `source ${level}`, cx: x, cy: y, r: 3.2 }, svg("title", {}, SOURCES[level]));
}

/** A sign that something is tagged: a full one by hand, an open one where every tag came along lineage. */
function tagMark(tagged, x, y) {
  if (!tagged.tags?.length) return null;
  const derived = tagged.tags.every((tag) => tagged.derived.has(tag));
  const classes = derived ? "tag derived" : "tag";
  const shape = svg("path", { d: "M-5 -4h6l4 4l-4 4h-6z" });
  return svg("g", { class: classes, transform: `translate(${x} ${y})` }, shape, svg("title", {}, tagsText(tagged)));
}

function schemaText({ card, schema }) {
  const said = card.change ?? (card.gone ? "dropped" : null);
  return said ? `${schema} · ${said}` : schema;
}

function columnElement(box, row, at) {
  const key = keyOf(box.id, row.path);
  const group = svg("g", {
    class: ["column", row.lost ? "lost" : "", row.change ?? ""].filter(Boolean).join(" "),
    transform: `translate(0 ${box.head + at * ROW})`,
    "data-key": key,
    tabindex: -1,
    role: "button",
    "aria-pressed": "false",
    "aria-label": `${box.card.tables === null ? "column" : "table"} ${row.name}${row.type ? `, ${row.type}` : ""}${row.change ? `, ${row.change}` : ""}${row.tags?.length ? `, tagged ${tagsText(row)}` : ""} of ${box.card.name}`,
  });
  group.append(
    svg("rect", { class: "row", x: 1, width: box.width - 2, height: ROW }),
    svg("text", { class: "column-name", x: 14, y: 15 }, row.shownName),
    " ", // what is read aloud has the name and the type apart
    svg("text", { class: "column-type", x: box.width - 14, y: 15 }, row.shownType),
  );
  if (row.change) group.append(svg("text", { class: "glyph", x: 5, y: 15 }, GLYPHS[row.change]));
  const mark = tagMark(row, box.width - 22 - textWidth(row.shownType, TYPE_FONT), ROW / 2);
  if (mark) group.append(mark);
  if (row.touched) {
    group.append(
      svg("circle", { class: "port", cx: 0, cy: ROW / 2, r: 3 }),
      svg("circle", { class: "port", cx: box.width, cy: ROW / 2, r: 3 }),
    );
  }
  if (row.shownName !== row.name || row.description)
    group.append(svg("title", {}, [row.name, row.description].filter(Boolean).join(": ")));
  return group;
}

function moreElement(box) {
  const noun = `${box.card.tables === null ? "column" : "table"}${box.more === 1 ? "" : "s"}`;
  const text = `${box.more.toLocaleString("en")} ${box.rows.length ? "more " : ""}${noun}`;
  const group = svg("g", {
    class: "more",
    "data-more": box.id,
    transform: `translate(0 ${box.head + box.rows.length * ROW})`,
  });
  group.append(
    svg("rect", { class: "row", x: 1, width: box.width - 2, height: ROW }),
    svg("text", { x: 14, y: 15 }, text),
  );
  return group;
}

/** Buttons at the card's sides: how many neighbours are hidden there, shown by a click. */
function expanders({ card, width, head: top }) {
  return ["upstream", "downstream"]
    .filter((side) => card.hidden[side] > 0)
    .map((side) => {
      const changed = card.hidden.changed?.[side] ?? 0;
      const text = `+${card.hidden[side]}${changed ? ` ±${changed}` : ""}`;
      const said = changed ? `, of which ${changed} changed` : "";
      const wide = 14 + text.length * 7;
      const x = side === "upstream" ? -wide - 6 : width + 6;
      const group = svg("g", {
        class: changed ? "expand changed" : "expand",
        "data-expand": side,
        "data-of": card.id,
        transform: `translate(${x} ${top / 2 - 10})`,
        role: "button",
        "aria-label": `${changed ? `${text}: ` : ""}show ${card.hidden[side]} ${side} of ${card.name}${said}`,
      });
      group.append(
        svg("rect", { width: wide, height: 20, rx: 10 }),
        svg("text", { x: wide / 2, y: 14 }, text),
        svg("title", {}, `${card.hidden[side]} ${side}${said}: click for the next step, Shift+click for all of it`),
      );
      return group;
    });
}
