// Start-up: where the lineage comes from, the token that a catalog may want, light or dark.
import { byId } from "./base/dom.mjs";
import { keepText, keptText } from "./base/keeping.mjs";
import { Explorer } from "./explorer.mjs";
import { CatalogSource } from "./source/catalog_source.mjs";
import { DocumentSource } from "./source/document_source.mjs";

const THEME = "headwater-theme";

/** Light or dark: as the system has it, or as was chosen here before. */
function theme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const chosen = keptText("localStorage", THEME);
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  byId("theme").addEventListener("click", () => {
    const now = root.dataset.theme ?? (dark.matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
    keepText("localStorage", THEME, root.dataset.theme);
    dispatchEvent(new Event("resize")); // what is drawn on a canvas takes the new colours
  });
}

function askForToken(explorer) {
  const dialog = byId("token-dialog");
  const use = () => {
    explorer.source.useToken(byId("token").value);
    byId("token").value = "";
    explorer.open();
  };
  dialog.addEventListener("close", use, { once: true });
  dialog.showModal();
}

const carried = byId("lineage-data");
const source = carried ? new DocumentSource(JSON.parse(carried.textContent)) : new CatalogSource();
theme();
new Explorer(source, askForToken).open();
