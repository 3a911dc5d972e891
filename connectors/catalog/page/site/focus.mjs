// Where the keyboard is in the picture, and what of that is brought into sight.
import { keyOf, splitKey } from "./graph/model.mjs";

export function focus(explorer, key, { quiet = false } = {}) {
  const [id] = splitKey(key);
  if (!explorer.picture.boxOf(id)) return;
  if (!quiet) explorer.reveal(key);
  explorer.focused = key;
  const element = explorer.picture.elementOf(key) ?? explorer.picture.elementOf(keyOf(id, ""));
  element?.focus({ preventScroll: true });
}

/** Moves as little as needed for a card or a column to be in sight, so many pixels from the edge. */
export function reveal(explorer, key, space) {
  const [id, path] = splitKey(key);
  const box = explorer.picture.boxOf(id);
  if (!box) return;
  const y = path ? box.y + (box.port.get(path) ?? 0) - 11 : box.y;
  explorer.camera.reveal({ x: box.x, y, width: box.width, height: path ? 22 : 48 }, space);
}
