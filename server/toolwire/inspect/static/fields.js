// Controls of one field: numbers, texts, choices, and JSON for what no other control can show.
import { make } from "./dom.js";
import { parse, worded, write } from "./json.js";

/** @import { Maker } from "./form.js" */

const MOST_CHECKED = 300; // characters of a pattern, and of a text that is checked by one
const NESTED_REPEATS = /[+*}]\)*\)[+*{]/; // may take a browser longer than a user waits

export function ofJson(/** @type {unknown} */ value) {
  const node = make("textarea", { class: "json", placeholder: "JSON", required: true });
  let last = value;
  const show = (/** @type {unknown} */ next) => {
    last = next;
    node.value = write(next, 2);
    node.setCustomValidity("");
  };
  node.addEventListener("input", () => {
    node.setCustomValidity("");
    try {
      last = node.value.trim() ? parse(node.value) : undefined;
    } catch (error) {
      node.setCustomValidity(/** @type {Error} */ (error).message);
      node.reportValidity();
    }
  });
  show(value);
  return { node, read: () => last, show };
}

/** @type {Maker} */
function ofNumber(_form, { type, minimum: min, maximum: max }, value) {
  const step = type === "integer" ? 1 : "any";
  const node = make("input", { type: "number", required: true, step, min, max, value: write(value) });
  const isExact = () => /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(node.value); // and keeps its digits
  return { node, read: () => (isExact() ? parse(node.value) : node.value ? Number(node.value) : undefined) };
}

/** @type {Maker} */
function ofChoice(form, { choices = [] }, value) {
  form.counts.left -= choices.length;
  const sought = value === undefined && choices.length === 1 ? choices[0]?.value : value;
  const at = choices.findIndex((one) => write(one.value) === write(sought));
  const options = choices.map(({ label }, index) => make("option", { value: index, selected: index === at }, label));
  const unchosen = make("option", { value: "", disabled: true, selected: at < 0 }, "Choose…");
  const node = make("select", { required: true }, unchosen, ...options);
  return { node, read: () => choices[node.selectedIndex - 1]?.value };
}

/** @type {Maker} */
function ofText(form, { minLength: minlength, maxLength: maxlength, example, pattern }, value, isNeeded) {
  const placeholder = example !== undefined && `e.g. ${worded(example)}`;
  const attributes = { placeholder, minlength, maxlength, required: isNeeded || Boolean(minlength) };
  const node = make(form.propose ? "input" : "textarea", attributes);
  const expected = typeof pattern === "string" ? expressionOf(pattern) : undefined;
  node.addEventListener("input", () => {
    const isChecked = expected && node.value && node.value.length <= MOST_CHECKED;
    node.setCustomValidity(isChecked && !expected.test(node.value) ? `This must match the pattern ${pattern}` : "");
  });
  node.value = typeof value === "string" ? value : "";
  return { node, read: () => node.value };
}

/** @param {string} pattern @returns {RegExp | undefined} Nothing for a pattern that only the server can check. */
function expressionOf(pattern) {
  if (pattern.length > MOST_CHECKED || NESTED_REPEATS.test(pattern)) return undefined;
  try {
    return new RegExp(pattern, "u");
  } catch {
    return undefined;
  }
}

/** @type {Record<string, Maker>} */
export const FIELDS = {
  number: ofNumber,
  integer: ofNumber,
  choice: ofChoice,
  string: ofText,
  boolean(_form, _node, value) {
    const node = make("input", { type: "checkbox", checked: value === true });
    return { node, read: () => node.checked };
  },
  null: () => ({ node: make("code", {}, "null"), read: () => null }),
  any: (_form, _node, value) => ofJson(value),
};
