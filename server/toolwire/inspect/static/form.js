// A form from nodes of the server (form_nodes.py), and the same as JSON, each in step with the other.
import { button, hint, make, put } from "./dom.js";
import { ofJson } from "./fields.js";
import { MOST_PARTS } from "./nodes.js";
import { control } from "./place.js";

/**
 * What a place takes. Numbers are those of other nodes; null is any JSON. A place that has only texts is what `of` is.
 * @typedef {{ control: string, type?: string, of?: number, title?: string, description?: string, default?: unknown,
 *   hint?: string, choices?: { value: unknown, label: string }[], kinds?: { name: string, at: number | null }[],
 *   properties?: Record<string, number | null>, required?: string[], first?: (number | null)[],
 *   other?: number | null, isClosed?: boolean, format?: string, zone?: "none" | "optional" | "needed",
 *   contentMediaType?: string, example?: unknown, pattern?: unknown, minimum?: unknown, maximum?: unknown,
 *   minLength?: unknown, maxLength?: unknown, maxItems?: unknown }} FormNode
 * @typedef {(FormNode | null)[]} FormNodes Where there is null, no form fits.
 * @typedef {{ node: HTMLElement, field?: HTMLElement, read: () => any }} Control The field is what a label names, if it
 *   is a part of the node. The value is undefined while something is missing.
 * @typedef {(name: string, value: string) => Promise<string[]>} Propose
 * @typedef {(form: Form, number: number | null | undefined, value: unknown, isNeeded?: boolean) => Control} Draw
 * @typedef {{ nodes: FormNodes, depth: number, counts: { left: number, misfits: number }, draw: Draw,
 *   propose: Propose | undefined }} Form A misfit is a value that a node has no place for, or a lack of one.
 * @typedef {(form: Form, node: FormNode, value: unknown, isNeeded: boolean) => Control | null} Maker
 */

/**
 * Fields for the members of node 0, and the same as JSON.
 * @param {FormNodes} nodes @param {Propose} [propose] @param {...[string, HTMLElement]} others More to choose from.
 */
export function fieldsOf(nodes, propose, ...others) {
  const place = make("div");
  const json = ofJson(undefined);
  json.node.ariaLabel = "Arguments as JSON";
  /** @type {Control} */
  let form;
  const draw = (/** @type {unknown} */ value) => {
    form = control({ nodes, depth: 0, counts: { left: MOST_PARTS, misfits: 0 }, draw: control, propose }, 0, value);
    const isEmpty = !form.node.querySelector("input, select, textarea, button");
    put(place, form.node, isEmpty && form.node.tagName === "DIV" && hint("No arguments."));
  };
  const say = () => json.show(form.read());
  const fill = (/** @type {unknown} */ value) => {
    json.show(value);
    draw(value);
  };
  place.addEventListener("input", say);
  json.node.addEventListener("input", () => draw(json.read()));
  draw(undefined);
  say();
  const panels = /** @type {[string, HTMLElement][]} */ ([["Form", place], ["JSON", json.node], ...others]);
  const sets = panels.map(([, panel]) => make("fieldset", {}, panel)); // disabled where not seen, to block no call
  const names = panels.map(([name], index) => button(name, () => choose(index)));
  const choose = (/** @type {number} */ chosen) => {
    for (const [index, set] of sets.entries()) set.hidden = set.disabled = index !== chosen;
    for (const [index, name] of names.entries()) name.ariaPressed = String(index === chosen);
  };
  choose(0);
  const choice = make("div", { class: "switch", role: "group", "aria-label": "Arguments" }, ...names);
  return { node: make("div", { class: "fields" }, choice, ...sets), read: json.read, fill };
}
