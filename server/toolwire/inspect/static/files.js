// A file, whose bytes are sent as Base64. A form is drawn again on many occasions: the names of files are kept here.
import { hint, make, put } from "./dom.js";
import { bytes } from "./json.js";

/** @import { Maker } from "./form.js" */

const MOST_NAMES = 20;
/** The names of the last files, by their data. @type {Map<string, string>} */
const names = new Map();

/** @param {string} data Base64 */
const sizeOf = (data) => Math.floor((data.replace(/=+$/, "").length * 3) / 4);

/** @type {Maker} */
export function ofFile(_form, { contentMediaType: accept }, value) {
  let data = typeof value === "string" ? value : undefined;
  const field = make("input", { type: "file", accept });
  const chosen = hint();
  const show = () => {
    field.required = data === undefined;
    const name = data === undefined ? undefined : names.get(data);
    put(chosen, data !== undefined && `${name ?? "data"} · ${bytes(sizeOf(data))}`);
  };
  field.addEventListener("change", async () => {
    const file = field.files?.[0];
    if (!file) return;
    field.setCustomValidity("");
    const read = await file.arrayBuffer().catch((error) => field.setCustomValidity(error.message));
    if (!read) return;
    data = /** @type {string} */ (/** @type {any} */ (new Uint8Array(read)).toBase64());
    names.set(data, file.name);
    if (names.size > MOST_NAMES) names.delete([...names.keys()][0] ?? "");
    show();
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
  show();
  return { node: make("div", { class: "file" }, field, chosen), field, read: () => data };
}
