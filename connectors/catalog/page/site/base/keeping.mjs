// Texts that outlive the page, where the browser keeps any: in its "localStorage", or for a tab in its "sessionStorage".

/** The text kept under a name, null where there is none or the storage is switched off. */
export function keptText(storage, name) {
  try {
    return globalThis[storage].getItem(name);
  } catch (error) {
    if (error instanceof DOMException) return null;
    throw error;
  }
}

export function keepText(storage, name, text) {
  try {
    globalThis[storage].setItem(name, text);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
  }
}
