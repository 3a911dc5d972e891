// Elements without markup: every text becomes a text node, so a name that contains markup stays a name.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/** An HTML element; attributes that begin with `on` are listeners, children that are null are left out. */
export function html(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

export function byId(id) {
  return document.getElementById(id);
}

/** A long name that may break after its dots and underscores, and nowhere else unless it must. */
export function breakable(text) {
  return text.split(/(?<=[._])(?=[^._])/).flatMap((part, at) => (at ? [html("wbr"), part] : [part]));
}

/** Offers `text` as a file to save. */
export function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = html("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Puts a text on the clipboard; where the browser gives no access to it, by way of a selection. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch (error) {
    if (!(error instanceof DOMException || error instanceof TypeError)) throw error;
    const place = html("textarea", { class: "unseen", "aria-hidden": "true" });
    place.value = text;
    document.body.append(place);
    place.select();
    document.execCommand("copy");
    place.remove();
  }
}

let ruler = null;

/** The width of a text in the page's font. */
export function textWidth(text, font) {
  ruler ??= document.createElement("canvas").getContext("2d");
  ruler.font = font;
  return ruler.measureText(text).width;
}

/** The text, cut with an ellipsis where it is wider than `width`. */
export function fitted(text, width, font) {
  if (textWidth(text, font) <= width) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (textWidth(`${text.slice(0, middle)}…`, font) <= width) low = middle;
    else high = middle - 1;
  }
  return `${text.slice(0, low)}…`;
}

/** A time in milliseconds as people write it, in UTC. */
export function when(millis) {
  return millis === null || millis === undefined ? "—" : new Date(millis).toISOString().slice(0, 16).replace("T", " ");
}

/** A number of things in words. */
export function many(number, what) {
  return `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
}
