// The witnesses of a link in the panel: who says it, and who has other columns in its place.
import { html } from "../base/dom.mjs";

/** Signs for a link that more than one witness speaks of; none for others. */
export function witnessPills({ verdict }) {
  const { seenBy, notBy } = verdict ?? { seenBy: [], notBy: [] };
  if (seenBy.length + notBy.length < 2) return [];
  const against = "These say that the target is made of other columns";
  return [
    html("span", { class: "pill" }, `seen by ${seenBy.join(", ")}`),
    notBy.length ? html("span", { class: "pill disputed", title: against }, `not by ${notBy.join(", ")}`) : null,
  ];
}
