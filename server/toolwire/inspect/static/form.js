// A form from nodes of the server (form_nodes.py), made of controls: an element, and the value that it says. A control
// that does not say the value that it was made for cannot show it, and a field for JSON takes its place.
import { button, hint, make, put } from "./dom.js";
import { isObject, parse, worded, write } from "./json.js";

/**
 * What a place takes. Numbers are those of other nodes; null is any JSON. A place that has only texts is what `of` is.
 * @typedef {{ control: string, type?: string, of?: number, title?: string, description?: string, default?: unknown,
 *   hint?: string, choices?: { value: unknown, label: string }[], kinds?: { name: string, at: number | null }[],
 *   properties?: Record<string, number | null>, required?: string[], first?: (number | null)[],
 *   other?: number | null, isClosed?: boolean, format?: string, contentMediaType?: string, example?: unknown,
 *   minimum?: unknown, maximum?: unknown, minLength?: unknown, maxLength?: unknown, maxItems?: unknown }} FormNode
 * @typedef {(FormNode | null)[]} FormNodes Where there is null, no form fits.
 * @typedef {{ node: HTMLElement, read: () => any }} Control Its value is undefined while something is missing.
 * @typedef {(name: string, value: string) => Promise<string[]>} Propose
 * @typedef {{ nodes: FormNodes, depth: number, counts: { left: number, misfits: number },
 *   propose: Propose | undefined }} Form A misfit is a value that a node has no place for, or a lack of one.
 * @typedef {(form: Form, node: FormNode, value: unknown) => Control | null} Maker
 * @typedef {[string, unknown]} Entry
 */

const MOST_PARTS = 20_000; // what is made at once: elements, and steps to resolve schemas
const MOST_DEPTH = 10;
const MOST_ITEMS = 200;
const LAST_MEMBER = ":scope > .field:nth-last-child(2) :is(input, select, textarea, .add)";
const FIRST_ADDER = ":scope > :last-child > .add";

/** @param {unknown} value @returns {unknown[]} */
const list = (value) => (Array.isArray(value) ? value : []);

/** @param {Form} form @param {number | null | undefined} number @returns {FormNode | null} */
function nodeAt({ nodes }, number) {
  const node = typeof number === "number" ? nodes[number] : { control: "any" };
  if (!node) return null;
  return node.of === undefined ? node : { .../** @type {FormNode} */ (nodes[node.of]), ...node };
}

/** The only kind of values, which may be one besides null; else all. @param {Form} form @param {FormNode} node */
function narrowed(form, node, withNull = false) {
  const kinds = (node.kinds ?? []).map(({ at }) => nodeAt(form, at));
  const [kind, ...others] = kinds.filter((one) => withNull || one?.type !== "null");
  return others.length ? node : (kind ?? node);
}

/**
 * Fields for the members of node 0, and the same as JSON, each in step with the other.
 * @param {FormNodes} nodes @param {Propose} [propose] @param {...[string, HTMLElement]} others More to choose from.
 */
export function fieldsOf(nodes, propose, ...others) {
  const place = make("div");
  const json = ofJson(undefined);
  json.node.ariaLabel = "Arguments as JSON";
  /** @type {Control} */
  let form;
  const draw = (/** @type {unknown} */ value) => {
    form = control({ nodes, depth: 0, counts: { left: MOST_PARTS, misfits: 0 }, propose }, 0, value);
    put(place, form.node);
  };
  const say = () => json.show(form.read());
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
  return { node: make("div", { class: "fields" }, choice, ...sets), read: json.read };
}

/**
 * The control of a place. Without a value it begins with the default, or with what is needed.
 * @param {Form} form @param {number | null | undefined} number @param {unknown} value @returns {Control}
 */
function control(form, number, value, isNeeded = true) {
  form.counts.left -= 20; // about as many elements as it has
  const place = form.depth < MOST_DEPTH && form.counts.left > 0 ? nodeAt(form, number) : null;
  const preset = isNeeded || place?.default !== null ? place?.default : undefined;
  const given = value === undefined ? preset : value;
  const kind = place && narrowed(form, place, isNeeded || given === null);
  for (const type of kind ? [kind.control, kind.type ?? ""] : []) {
    const made = kind && Object.hasOwn(MAKERS, type) && MAKERS[type]?.(form, kind, given);
    if (made && (given === undefined || write(made.read()) === write(given))) return made;
  }
  form.counts.misfits++;
  return ofJson(given);
}

/** The members of an object or an array: each with its name, its control and a button that removes it. @type {Maker} */
function ofMembers(form, { control: kind, properties = {}, required, first = [], other, isClosed, maxItems }, value) {
  const isArray = kind === "array";
  const known = new Map(Object.entries(properties).slice(0, MOST_PARTS / 20));
  const needed = new Set(required);
  const most = Math.min(Number(maxItems ?? MOST_ITEMS), isClosed ? first.length : MOST_ITEMS);
  const node = make("div", { class: "members", role: "group" });
  let members = /** @type {{ box: HTMLElement, name: HTMLInputElement, inner: Control }[]} */ ([]);
  const entries = () => members.map(({ name, inner }) => /** @type {Entry} */ ([name.value, inner.read()]));
  /** @param {Entry} entry @param {number} index */
  const memberOf = ([key, given], index) => {
    const number = known.get(key) ?? first[index] ?? other;
    const one = nodeAt(form, number);
    const isNeeded = needed.has(key);
    const inner = control({ ...form, depth: form.depth + 1 }, number, given, isNeeded);
    const label = isArray ? `Item ${index + 1}` : known.has(key) ? one?.title || key || '""' : "";
    const about = one?.description;
    inner.node.id ||= crypto.randomUUID();
    inner.node.ariaLabel = label || "Value";
    inner.node.ariaDescription = about ?? "";
    const name = make("input", { "aria-label": "Name", required: true });
    name.value = key;
    name.addEventListener("input", () => {
      const isTaken = members.some((member) => member.name !== name && member.name.value === name.value);
      name.setCustomValidity(isTaken ? "Another entry has this name." : "");
    });
    const remove = button("×", () => edit(entries().toSpliced(index, 1), FIRST_ADDER), { class: "quiet" });
    remove.ariaLabel = `Remove ${label || key}`;
    const shown = label ? make("label", { for: inner.node.id, class: isNeeded && "needed" }, label) : name;
    const code = !isArray && label && key !== label && make("code", {}, key);
    const head = make("div", { class: "head" }, shown, code, hint(one?.hint ?? "any"), !isNeeded && remove);
    const proposed = inner.node instanceof HTMLInputElement && proposals(inner.node, key, form.propose);
    const parts = [head, about && make("p", { class: "description" }, about), inner.node, proposed];
    return { box: make("div", { class: "field" }, ...parts), name, inner };
  };
  const draw = (/** @type {Entry[]} */ next) => {
    members = next.map(memberOf);
    const absent = [...known.keys()].filter((name) => !next.some(([key]) => key === name));
    form.counts.left -= absent.length;
    const adders = absent.concat(next.length < most ? [""] : []).map((name) => {
      const add = () => edit([...entries(), [name, undefined]], LAST_MEMBER);
      return button(`Add ${name || "item"}`, add, { class: "add" });
    });
    put(node, ...members.map(({ box }) => box), make("div", { class: "controls" }, ...adders));
    return absent;
  };
  /** @param {Entry[]} next @param {string} focused */
  const edit = (next, focused) => {
    form.counts.left = MOST_PARTS;
    draw(next);
    changed(node);
    /** @type {HTMLElement | null} */ (node.querySelector(focused))?.focus();
  };
  const begins = [...known].filter(([name, at]) => needed.has(name) || (nodeAt(form, at)?.default ?? null) !== null);
  const fresh = begins.map(([name]) => /** @type {Entry} */ ([name, undefined]));
  const given = Object.entries(isArray ? list(value) : isObject(value) ? value : {}).slice(0, MOST_ITEMS);
  const absent = draw(value === undefined ? fresh : given);
  form.counts.misfits += absent.filter((name) => needed.has(name)).length;
  return { node, read: () => (isArray ? entries().map(([, one]) => one) : Object.fromEntries(entries())) };
}

/** Elements report a change of their value as a field does. @param {Element} node */
const changed = (node) => node.dispatchEvent(new Event("input", { bubbles: true }));

/** @param {HTMLInputElement} node @param {string} name @param {Propose | undefined} propose */
function proposals(node, name, propose) {
  if (!propose) return null;
  const proposed = make("datalist", { id: crypto.randomUUID() });
  const ask = async () => {
    const { value } = node;
    await new Promise((later) => setTimeout(later, 150)); // while a user types on
    const values = node.value === value ? await propose(name, value).catch(() => []) : [];
    if (node.value === value) put(proposed, ...values.slice(0, 100).map((each) => make("option", { value: each })));
  };
  node.setAttribute("list", proposed.id);
  for (const type of ["focus", "input"]) node.addEventListener(type, ask);
  return proposed;
}

function ofJson(/** @type {unknown} */ value) {
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

/** What shows the values of a type. @type {Record<string, Maker>} */
const MAKERS = {
  object: ofMembers,
  array: ofMembers,
  number: ofNumber,
  integer: ofNumber,

  choice(form, { choices = [] }, value) {
    form.counts.left -= choices.length;
    const sought = value === undefined && choices.length === 1 ? choices[0]?.value : value;
    const at = choices.findIndex((one) => write(one.value) === write(sought));
    const options = choices.map(({ label }, index) => make("option", { value: index, selected: index === at }, label));
    const unchosen = make("option", { value: "", disabled: true, selected: at < 0 }, "Choose…");
    const node = make("select", { required: true }, unchosen, ...options);
    return { node, read: () => choices[node.selectedIndex - 1]?.value };
  },

  /** A choice of the kind, and the control of the chosen one. */
  union(form, { kinds = [] }, value) {
    const place = make("div");
    /** @type {Control} */
    let inner;
    /** @param {number | null | undefined} kind @param {unknown} given */
    const draw = (kind, given) => {
      const { misfits } = form.counts;
      inner = control(form, kind, given);
      inner.node.ariaLabel = "Value";
      put(place, inner.node);
      const fits = form.counts.misfits === misfits;
      form.counts.misfits = misfits;
      return fits;
    };
    const chosen = kinds.findIndex(({ at }) => draw(at, value));
    const options = kinds.map(({ name }, index) => make("option", { selected: index === chosen }, name));
    const choice = make("select", { "aria-label": "Kind" }, ...options);
    choice.addEventListener("input", () => {
      form.counts.left = MOST_PARTS;
      draw(kinds[choice.selectedIndex]?.at, undefined);
    });
    const node = make("div", { class: "kinds", role: "group" }, choice, place);
    return chosen < 0 ? null : { node, read: () => inner.read() };
  },

  boolean(_form, _node, value) {
    const node = make("input", { type: "checkbox", checked: value === true });
    return { node, read: () => node.checked };
  },

  time(_form, { format }, value) {
    const type = format === "date-time" ? "datetime-local" : format;
    const [zone, title, step] = format === "date" ? [""] : ["Z", "UTC", 1];
    const node = make("input", { type, required: true, title, step, value: worded(value).replace(/Z$/, "") });
    const text = () => node.value.replace(/(?<=^|T)\d\d:\d\d$/, "$&:00") + zone;
    return { node, read: () => (node.value ? text() : undefined) };
  },

  file(_form, { contentMediaType: accept }, value) {
    let data = typeof value === "string" ? value : undefined;
    const title = data && `${data.length} characters of Base64`;
    const node = make("input", { type: "file", title, required: !data, accept });
    node.addEventListener("change", async () => {
      node.setCustomValidity("");
      const read = await node.files?.[0]?.arrayBuffer().catch((error) => node.setCustomValidity(error.message));
      if (read) data = /** @type {any} */ (new Uint8Array(read)).toBase64();
      changed(node);
    });
    return { node, read: () => data };
  },

  string(form, { minLength: minlength, maxLength: maxlength, example }, value) {
    const placeholder = example !== undefined && `e.g. ${worded(example)}`;
    const attributes = { placeholder, minlength, maxlength, required: Boolean(minlength) };
    const node = make(form.propose ? "input" : "textarea", attributes);
    node.value = typeof value === "string" ? value : "";
    return { node, read: () => node.value };
  },

  null: () => ({ node: make("code", {}, "null"), read: () => null }),
  any: (_form, _node, value) => ofJson(value),
};
