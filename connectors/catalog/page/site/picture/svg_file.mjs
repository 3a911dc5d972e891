// The whole picture as one SVG file: every card, every wire, the styles it needs, no script.
import { svg } from "../base/dom.mjs";
import { NEAR, cardElement } from "./cards.mjs";
import { wireElement } from "./wires.mjs";

const SPACE = 40;
const TOKENS = [
  "--bg",
  "--card",
  "--line",
  "--text",
  "--soft",
  "--faint",
  "--band",
  "--accent",
  "--direct",
  "--indirect",
  "--both",
  "--table",
  "--mark",
  "--mark-text",
  "--direct-tint",
  "--indirect-tint",
  "--added",
  "--removed",
  "--changed",
];

/** The text of an SVG file of a scene, in the colours of the page; what is lit in the page is lit in it. */
export function svgText(scene, roots, { light, pins, found, title }) {
  const style = getComputedStyle(document.documentElement);
  const variables = TOKENS.map((name) => `${name}:${style.getPropertyValue(name).trim()}`).join(";");
  const root = svg("svg", {
    viewBox: `${-SPACE} ${-SPACE} ${scene.width + 2 * SPACE} ${scene.height + 2 * SPACE}`,
    width: Math.round(scene.width + 2 * SPACE),
    height: Math.round(scene.height + 2 * SPACE),
    class: ["picture", light ? "lit" : "", scene.compared ? "compared" : ""].filter(Boolean).join(" "),
    role: "img",
    "aria-label": `${title}: lineage of ${scene.boxes.length} tables`,
  });
  const wires = scene.wires.map((wire, at) => {
    const element = wireElement(wire, at);
    element.classList.toggle("on", Boolean(light) && wire.links.some((link) => light.links.has(link.key)));
    return element;
  });
  const cards = scene.boxes.map((box) => {
    const element = cardElement(box, { distance: NEAR, root: roots.has(box.id) });
    for (const column of element.querySelectorAll(".column")) {
      const key = column.getAttribute("data-key");
      const strength = light?.columns.get(key);
      column.classList.toggle("direct", strength === 0);
      column.classList.toggle("indirect", strength > 0);
      column.classList.toggle("pinned", pins.has(key));
      column.classList.toggle("found", found.has(key));
      if (strength !== undefined) element.classList.add("on");
    }
    element.classList.toggle("found", found.has(element.getAttribute("data-head")));
    return element;
  });
  root.append(
    svg("style", {}, `svg{${variables};font-family:system-ui,sans-serif}\n${pictureRules()}`),
    svg("rect", { x: -SPACE, y: -SPACE, width: "100%", height: "100%", fill: "var(--bg)" }),
    svg("text", { class: "schema", x: 10 - SPACE, y: 18 - SPACE }, title),
    svg("g", { class: "wires" }, wires),
    svg("g", { class: "cards" }, cards),
  );
  return new XMLSerializer().serializeToString(root);
}

/** The page's rules that concern the picture. */
function pictureRules() {
  return [...document.styleSheets]
    .flatMap((sheet) => [...sheet.cssRules])
    .filter((rule) => rule.selectorText?.startsWith(".picture"))
    .map((rule) => rule.cssText)
    .join("\n");
}
