// Corrections by hand: an edge that somebody adds, confirms or rejects, with a reason and a name, and takes back.
import { breakable, byId, html, when } from "../base/dom.mjs";
import { keepText, keptText } from "../base/keeping.mjs";
import { label, partsOf, readable, splitKey, visible } from "../graph/model.mjs";

const AUTHOR = "headwater-author";
const MOST_FOUND = 12;
const TITLES = { added: "Add a source", confirmed: "Confirm this link", rejected: "Reject this link", undone: "Undo the correction" };
const NOTES = {
  added: "The link is shown as one that a person added, and no run takes it away.",
  confirmed: "It counts as certain from now on.",
  rejected: "It is shown no more, whoever says so, until this is undone. What is said of it is kept.",
  undone: "What it was before it was corrected holds again.",
};

/** The buttons under a link: whether it is right. */
export function verdictButtons(graph, link, act) {
  const said = link.said.some(({ contribution }) => contribution.producer.kind === "manual");
  const button = (verdict, text) =>
    html("button", { type: "button", "data-verdict": verdict, onclick: () => act.correct(verdict, link.from, link.to) }, text);
  return html(
    "p",
    { class: "actions verdicts" },
    isSure(link) || link.change === "removed" ? null : button("confirmed", "Confirm …"),
    link.change === "removed" || said ? null : button("rejected", "Reject …"),
  );
}

const SURE = 0.8; // less than that a parser says only of what it did not understand as a whole

function isSure({ certain, said }) {
  return certain && said.some(({ contribution }) => (contribution.confidence ?? 1) >= SURE);
}

/** The corrections of a table's links, the newest first, each with who, when, why and a way back. */
export function correctionsElement(corrections, act) {
  if (!corrections.length) return null;
  return html(
    "section",
    { class: "origin", id: "corrections" },
    html("h3", {}, "Corrected by hand"),
    html("ul", { class: "changes" }, corrections.map((one) => correctionElement(one, act))),
  );
}

const SIGNS = { added: "+", confirmed: "✓", rejected: "−" };

function correctionElement(one, act) {
  const undone = one.undone;
  const told = `${one.author}, ${when(one.at)}: ${one.reason}`;
  return html(
    "li",
    { class: undone ? "undone" : null },
    html("span", { class: `glyph ${one.verdict === "rejected" ? "removed" : "added"}`, "aria-hidden": "true" }, SIGNS[one.verdict]),
    html(
      "div",
      {},
      html("span", { class: "of" }, undone ? `${one.verdict}, and undone` : one.verdict),
      html("div", {}, breakable(`${endText(one.from)} → ${endText(one.to)}`)),
      html("p", { class: "way" }, visible(told, { lines: true })),
      undone
        ? html("p", { class: "way" }, visible(`Undone by ${undone.author}, ${when(undone.at)}: ${undone.reason}`, { lines: true }))
        : html("button", { type: "button", onclick: () => act.undo(one) }, "Undo …"),
    ),
  );
}

function endText({ entity, column }) {
  return readable([...partsOf(entity).slice(-2), ...(column ? [column] : [])].join("."));
}

/** The dialog in which somebody says why, and who they are; for an edge to add also where it comes from. */
export class CorrectionDialog {
  #found = new Map(); // what the source of an edge may be, by the text that stands for it
  #asked = 0;
  #send = null;

  constructor(source, explorer) {
    this.source = source;
    this.explorer = explorer;
    this.dialog = byId("correction");
    byId("correction-from").addEventListener("input", () => this.#suggest());
    byId("correction-cancel").addEventListener("click", () => this.dialog.close());
    byId("correction-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
  }

  /** Asks for a verdict on the edge between two columns (or tables) of the graph; `from` null: it is to be chosen. */
  ask(verdict, from, to) {
    const { graph } = this.explorer;
    const end = (key) => {
      const [id, path] = splitKey(key);
      return { entity: graph.cards.get(id).fqn, column: path || null };
    };
    const ends = from ? `${label(graph, from)} → ${label(graph, to)}` : `into ${label(graph, to)}`;
    this.#open(verdict, ends, !from, (reason, author) => {
      const chosen = from ? end(from) : this.#chosen(end(to));
      return this.source.correct({ verdict, from: chosen, to: end(to), reason, author });
    });
  }

  /** Asks why a correction is taken back. */
  askUndo(correction) {
    const ends = `${endText(correction.from)} → ${endText(correction.to)}`;
    this.#open("undone", ends, false, (reason, author) => this.source.undo(correction.id, { reason, author }));
  }

  #open(verdict, ends, chooses, send) {
    this.#send = send;
    byId("correction-title").textContent = TITLES[verdict];
    byId("correction-ends").textContent = ends;
    byId("correction-note").textContent = NOTES[verdict];
    byId("correction-from-field").hidden = !chooses;
    byId("correction-from").required = chooses;
    byId("correction-from").value = "";
    byId("correction-reason").value = "";
    byId("correction-author").value = keptText("localStorage", AUTHOR) ?? "";
    byId("correction-failed").textContent = "";
    this.dialog.showModal();
    byId(chooses ? "correction-from" : "correction-reason").focus();
  }

  /** Offers tables, and columns where one is corrected, whose names fit what is typed. */
  async #suggest() {
    const mine = ++this.#asked;
    const text = byId("correction-from").value.trim();
    if (!text || this.#found.has(text)) return;
    try {
      const results = await this.source.search(text, MOST_FOUND);
      if (mine !== this.#asked) return;
      for (const one of results) this.#found.set(one.entity + (one.path ? `.${one.path}` : ""), one);
      byId("correction-found").replaceChildren(
        ...results.map((one) => html("option", { value: one.entity + (one.path ? `.${one.path}` : "") })),
      );
    } catch (error) {
      byId("correction-failed").textContent = error.message;
    }
  }

  #chosen(target) {
    const text = byId("correction-from").value.trim();
    const found = this.#found.get(text);
    if (found) return { entity: found.entity, column: found.path || null };
    const parts = partsOf(text);
    return target.column ? { entity: parts.slice(0, -1).join("."), column: parts[parts.length - 1] } : { entity: text, column: null };
  }

  async #submit() {
    const author = byId("correction-author").value.trim() || "local";
    keepText("localStorage", AUTHOR, author);
    try {
      await this.#send(byId("correction-reason").value.trim(), author);
    } catch (error) {
      byId("correction-failed").textContent = error.message;
      return;
    }
    this.dialog.close();
    await this.explorer.corrected();
  }
}

/** Something was corrected by hand: the picture shows it, and the panel who did. */
export async function showCorrected(explorer) {
  const [link] = explorer.details.links;
  const key = explorer.details.key ?? link?.to;
  explorer.closePanel();
  explorer.time.forget();
  await explorer.load();
  if (key && explorer.graph.cards.has(splitKey(key)[0])) await explorer.openColumn(key);
  explorer.say("Corrected; the table's panel has it, with a way back");
}
