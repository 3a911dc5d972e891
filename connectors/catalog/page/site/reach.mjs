// What is taken into the picture and out of it: neighbours, tables that a list or a panel names.
import { byId, html, many } from "./base/dom.mjs";
import { extend } from "./controls/state.mjs";
import { cardNamed, endOf, keyOf, splitKey } from "./graph/model.mjs";
import { tableList } from "./panel/neighbours.mjs";
import { BESIDE } from "./source/contract.mjs";

/** Takes in neighbours; where they are many, the panel lists them to choose from. */
export function expand(explorer, card, side, hops) {
  if (!card) return undefined; // of a group
  const step = explorer.view.steps.find((one) => one.entity === card.fqn);
  if (hops === 1 && card.hidden[side] && (card.hidden[side] > BESIDE || step?.[side])) return neighbours(explorer, card, side);
  extend(explorer.view, card, side, hops);
  return explorer.load({ around: card.id });
}

function neighbours(explorer, card, side) {
  const ask = (asked) => explorer.source.neighbours(card, side, asked, explorer.view);
  explorer.details.list([
    html("h2", {}, side === "upstream" ? `What ${card.name} reads` : `What reads ${card.name}`),
    ...tableList(`the ${side} of ${card.name}`, ask, {
      choose: (entity) => explorer.go(entity, ""),
      bring: (entities) => explorer.bring(entities),
      has: (entity) => Boolean(cardNamed(explorer.graph, entity)),
      compares: explorer.view.base !== null,
      failed: (error) => explorer.failed(error),
    }),
  ]);
  explorer.relight();
  byId("panel").querySelector(".list-search").focus();
}

/** Whether what was chosen is no card or column to tell of: a group is opened, a way ends. */
export function pickedOtherwise(explorer, key) {
  const [id] = splitKey(key);
  if (explorer.scene.groups.has(id)) openGroup(explorer, id);
  else if (explorer.details.pathStart) explorer.details.pathTo(endOf(explorer.graph, key));
  else return false;
  return true;
}

/** Opens a group: its tables stand where it stood, each by itself. */
function openGroup(explorer, id) {
  const group = explorer.scene.groups.get(id);
  explorer.view.opened.push(id);
  explorer.draw(explorer.graph.roots[0]);
  explorer.say(`${group.schema}: ${many(group.members.length, "table")}`);
  explorer.focus(keyOf(group.members[0], ""), { quiet: true });
}

export function remove(explorer, card) {
  if (!card) return;
  explorer.view.removed.push(card.fqn);
  explorer.closePanel();
  explorer.focused = null;
  explorer.load({ around: explorer.graph.roots[0] });
}

/** Goes to a column: where it is not in the picture yet, it is brought in. */
export async function go(explorer, entity, path) {
  if (!cardNamed(explorer.graph, entity)) {
    explorer.view.steps.push({ entity, upstream: 0, downstream: 0 });
    await explorer.load({ around: explorer.graph.roots[0] });
  }
  const card = cardNamed(explorer.graph, entity);
  if (card) explorer.focus(keyOf(card.id, path));
}

/** Takes tables into the picture, as they are. */
export async function bring(explorer, entities) {
  const { key } = explorer.details;
  explorer.view.steps.push(...entities.map((entity) => ({ entity, upstream: 0, downstream: 0 })));
  explorer.view.removed = explorer.view.removed.filter((name) => !entities.includes(name));
  if (await explorer.load({ around: explorer.graph.roots[0] })) explorer.fit();
  if (key) await explorer.openColumn(key);
}
