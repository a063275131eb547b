// A form from a JSON Schema. Each control gets a value and reports each new one; undefined leaves a member out. A value that
// does not fit its place, or a place that no form fits, has a field for JSON.
import { button, make, put, unique } from "./dom.js";
import { isObject, member, parse, write } from "./json.js";
import { choices, fits, hint, initial, kindsOf, list, nameOf, properties, resolve, typeOf, words } from "./schema.js";

/**
 * @import { Choice, Schema } from "./schema.js"
 * @typedef {{ root: unknown, left: number }} Form What references point into, and how many more fields may open by themselves.
 * @typedef {(value: any) => void} Change
 * @typedef {(form: Form, schema: Schema, value: unknown, change: Change) => HTMLElement} Maker
 */

const [MOST_FIELDS, MOST_ITEMS] = [400, 200];
const FIELD = "input, select, textarea";

/** @param {unknown} schema @param {unknown} value @param {Change} change */
export const form = (schema, value, change) => control({ root: schema, left: MOST_FIELDS }, schema, value, change);

/** @param {Form} form @param {unknown} raw @param {unknown} value @param {Change} change @returns {HTMLElement} */
function control(form, raw, value, change) {
  const schema = form.left-- > 0 ? resolve(form.root, raw) : null;
  if (!schema || (value !== undefined && !fits(form.root, schema, value))) return ofJson(value, change);
  const listed = choices(schema);
  if (listed) return ofChoices(listed, value, change);
  const [kind = schema, ...others] = kindsOf(form.root, schema);
  if (others.length) return ofKinds(form, [kind, ...others], value, change);
  return makers[typeOf(kind)]?.(form, kind, value, change) ?? ofJson(value, change);
}

/** @type {Record<string, Maker>} */
const makers = { object: ofObject, array: ofArray, string: ofText, integer: ofNumber, number: ofNumber, boolean: ofBoolean,
  null: () => make("code", {}, "null") };

/** @param {Schema | undefined} schema @returns {Schema} */
const bare = ({ default: _default, ...schema } = {}) => schema;

/**
 * A member of an object: its name, what it must be, and its control. One that is optional can be left out again; what has
 * fields of its own opens on demand, so that a schema may contain itself.
 * @param {Form} form @param {string} name @param {unknown} raw @param {unknown} value @param {boolean} needed @param {Change} change
 */
function field(form, name, raw, value, needed, change) {
  const schema = resolve(form.root, raw) ?? {};
  const kinds = kindsOf(form.root, schema).filter((kind) => kind.type !== "null");
  const isLarge = !choices(schema) && (kinds.length > 1 || /object|array/.test(typeOf(kinds[0] ?? {})));
  // Without null, which an optional member hardly needs: leaving it out says the same.
  const narrow = needed || !kinds.length || choices(schema) ? raw : kinds.length > 1 ? { anyOf: kinds } : { ...kinds[0] };
  const [title, told] = [words(schema, "title") || name, words(schema, "description")];
  const label = make("label", { id: unique(), class: needed && "needed" }, title);
  const about = make("p", { class: "description", id: unique(), hidden: !told }, told);
  const place = make("div", { class: "control" });
  const leaveOut = button("×", () => take(undefined, true), { class: "quiet", "aria-label": `Leave out ${name}` });
  const other = title.toLowerCase() !== name.toLowerCase() && make("code", {}, name);
  const head = make("div", { class: "head" }, label, other, make("span", { class: "hint" }, hint(form.root, schema)), leaveOut);
  const box = make("div", { class: "field" }, head, about, place);
  /** @param {unknown} next @param {boolean} [redraw] */
  const take = (next, redraw = false) => {
    show(next, redraw);
    change(next);
    if (redraw) /** @type {HTMLElement | null} */ (place.querySelector(`${FIELD}, button`))?.focus();
  };
  /** @param {unknown} next @param {boolean} redraw */
  const show = (next, redraw) => {
    box.classList.toggle("absent", next === undefined);
    leaveOut.hidden = next === undefined || needed;
    if (!redraw) return;
    const isClosed = next === undefined && isLarge && !(needed && kinds.length > 1);
    const open = () => take(initial(form.root, bare(kinds[0]), true), true);
    const node = isClosed ? button(`Add ${name}`, open, { class: "add", "aria-label": `Add ${name}` })
      : control(form, next === null ? raw : narrow, next, take);
    node.id ||= unique();
    label.htmlFor = node.id;
    if (told) node.setAttribute("aria-describedby", about.id);
    if (!node.matches(`${FIELD}, button`)) node.setAttribute("role", "group");
    if (!isClosed) node.setAttribute("aria-labelledby", label.id);
    if (needed && next === undefined) node.setAttribute("required", "");
    put(place, node);
  };
  show(value, true);
  return box;
}

/** @type {Maker} */
function ofObject(form, schema, value, change) {
  const known = Object.entries(properties(schema));
  const names = new Set(known.map(([name]) => name));
  let current = isObject(value) ? value : {};
  /** @param {(readonly [string, unknown])[]} all The members, which are reported in the order of the schema. */
  const report = (all) => {
    const given = new Map(all);
    const order = [...new Set([...names, ...given.keys()])].filter((name) => given.get(name) !== undefined);
    current = Object.fromEntries(order.map((name) => [name, given.get(name)]));
    change(current);
  };
  const fields = known.slice(0, MOST_FIELDS).map(([name, one]) =>
    field(form, name, one, member(current, name), list(schema.required).includes(name), (next) =>
      report([...Object.entries(current), [name, next]])));
  const node = make("div", { class: "object" }, ...fields);
  if (known.length > MOST_FIELDS) node.append(`${known.length - MOST_FIELDS} more are in the JSON tab only.`);
  const extra = Object.entries(current).filter(([name]) => !names.has(name)).map(([name, one]) => ({ name, value: one }));
  const more = schema.additionalProperties ?? (isObject(schema.patternProperties) ? Object.values(schema.patternProperties)[0] : undefined);
  if (isObject(more) || more === true || extra.length || (!known.length && more !== false && form.root !== schema))
    node.append(ofRows(form, extra, () => more ?? true, MOST_ITEMS, () => {
      const kept = Object.entries(current).filter(([name]) => names.has(name));
      report([...kept, ...extra.map((one) => /** @type {const} */ ([one.name, one.value]))]);
    }));
  if (!node.childElementCount) node.append("No arguments.");
  return node;
}

/** @type {Maker} */
function ofArray(form, schema, value, change) {
  const items = Array.isArray(value) ? value : [];
  const [first, listed] = [list(schema.prefixItems), choices(resolve(form.root, schema.items))];
  if (items.length > MOST_ITEMS) return ofJson(value, change);
  if (listed && listed.length <= 20 && !first.length && new Set(items).size === items.length) return ofSeveral(listed, items, change);
  const rows = items.map((one) => ({ value: one }));
  const most = Math.min(Number(schema.maxItems ?? MOST_ITEMS), schema.items === false ? first.length : MOST_ITEMS);
  const at = (/** @type {number} */ index) => first[index] ?? schema.items ?? true;
  return ofRows(form, rows, at, most, () => change(rows.map((row) => row.value ?? null)), false);
}

/**
 * Values that can be added and removed, each with its name or its number.
 * @param {Form} form @param {{ name?: string, value: unknown }[]} rows @param {(index: number) => unknown} schemaAt
 * @param {number} most @param {() => void} report
 */
function ofRows(form, rows, schemaAt, most, report, isNamed = true) {
  const node = make("div", { class: "items" });
  /** @param {() => void} act @param {string} focus */
  const edit = (act, focus) => {
    act();
    draw();
    report();
    /** @type {HTMLElement | null} */ (node.querySelector(focus) ?? node.querySelector(":scope > .add"))?.focus();
  };
  const add = () => edit(() => {
    let name = "name";
    for (let count = 2; rows.some((row) => row.name === name); count++) name = `name${count}`;
    rows.push({ ...(isNamed && { name }), value: initial(form.root, schemaAt(rows.length), true) });
  }, ":scope > .item:last-of-type :is(input, select, textarea, button)");
  const draw = () => put(node, ...rows.map((row, index) => {
    const inner = control(form, schemaAt(index), row.value, (next) => {
      row.value = next;
      report();
    });
    inner.setAttribute("aria-label", isNamed ? "Value" : `Item ${index + 1}`);
    const name = make("input", { "aria-label": "Name", value: row.name, input: () => {
      const isTaken = rows.some((other) => other !== row && other.name === name.value);
      name.setCustomValidity(isTaken ? "Another entry has this name." : "");
      if (isTaken) return;
      row.name = name.value;
      report();
    } });
    const remove = button("×", () => edit(() => rows.splice(index, 1), ":scope > .add"),
      { class: "quiet", "aria-label": `Remove ${row.name ?? `item ${index + 1}`}` });
    return make("div", { class: "item" }, isNamed ? name : make("span", { class: "index" }, index + 1), inner, remove);
  }), rows.length < most && button(isNamed ? "Add entry" : "Add item", add, { class: "add" }));
  draw();
  return node;
}

/** One box for each of the listed values. @param {Choice[]} listed @param {unknown[]} value @param {Change} change */
function ofSeveral(listed, value, change) {
  const boxes = listed.map((one) => ({ ...one, box: make("input", { type: "checkbox" }) }));
  for (const one of boxes) one.box.checked = value.some((each) => write(each) === write(one.value));
  const report = () => change(boxes.filter(({ box }) => box.checked).map((one) => one.value));
  return make("div", { class: "several", change: report }, ...boxes.map(({ box, label }) => make("label", {}, box, " ", label)));
}

/** @param {Choice[]} listed @param {unknown} value @param {Change} change */
function ofChoices(listed, value, change) {
  const node = make("select", { change: () => change(listed[Number(node.value)]?.value) },
    make("option", { value: "", disabled: true }, "Choose…"), ...listed.map((one, index) => make("option", { value: index }, one.label)));
  const index = listed.findIndex((one) => value !== undefined && write(one.value) === write(value));
  node.value = index < 0 ? "" : String(index);
  return node;
}

/** A choice of the kind, and the control of the chosen one. @param {Form} form @param {Schema[]} kinds @param {unknown} value @param {Change} change */
function ofKinds(form, kinds, value, change) {
  const place = make("div");
  /** @param {unknown} next */
  const draw = (next) => {
    const node = control(form, bare(kinds[Number(kind.value)]), next, change);
    node.setAttribute("aria-label", "Value");
    put(place, node);
  };
  const kind = make("select", { "aria-label": "Kind", change: () => {
    const next = initial(form.root, bare(kinds[Number(kind.value)]), true);
    draw(next);
    change(next);
  } }, ...kinds.map((one, index) => make("option", { value: index }, nameOf(one))));
  kind.value = String(Math.max(0, kinds.findIndex((one) => value !== undefined && fits(form.root, one, value, 1))));
  draw(value);
  return make("div", { class: "kinds" }, kind, place);
}

/** @type {Maker} */
function ofNumber(_form, schema, value, change) {
  const { minimum: min, maximum: max } = schema;
  const node = make("input", { type: "number", step: typeOf(schema) === "integer" ? 1 : "any", min, max, input: () => {
    const text = node.value.replace(/^(-?)\./, "$10.");
    if (!node.validity.badInput) change(text === "" ? undefined : parse(text));
  } });
  node.value = value === undefined ? "" : write(value);
  return node;
}

/** @type {Maker} */
function ofBoolean(_form, _schema, value, change) {
  const node = make("input", { type: "checkbox", change: () => change(node.checked) });
  [node.checked, node.indeterminate] = [value === true, value === undefined];
  return node;
}

/** Formats that a browser has a field for, with the texts that it can show; any other text is typed. @type {Map<string, [string, RegExp]>} */
const FORMATS = new Map([["date", ["date", /^\d{4}-\d\d-\d\d$/]], ["time", ["time", /^\d\d:\d\d:\d\dZ$/]],
  ["date-time", ["datetime-local", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)$/]]]);

/** @type {Maker} */
function ofText(_form, schema, value, change) {
  const [text, format, example] = [typeof value === "string" ? value : "", words(schema, "format"), list(schema.examples)[0]];
  if (schema.contentEncoding === "base64" || /^(binary|byte|base64)$/.test(format)) return ofFile(schema, text, change);
  const [type, shown] = FORMATS.get(format) ?? [];
  if (!type || (text && !shown?.test(text))) {
    const limits = { minlength: schema.minLength, maxlength: schema.maxLength };
    const placeholder = example === undefined ? undefined : `e.g. ${typeof example === "string" ? example : write(example)}`;
    const area = make("textarea", { rows: 1, placeholder, ...limits, spellcheck: "false", input: () => change(area.value) });
    area.value = text;
    return area;
  }
  const title = type === "datetime-local" && "In your time zone; sent as UTC";
  const node = make("input", { type, title, step: type === "date" ? undefined : 1, input: () => {
    const sent = type === "time" ? `${node.value.padEnd(8, ":00")}Z` : type === "date" ? node.value : new Date(node.value || 0).toISOString();
    change(node.value === "" ? undefined : sent.replace(".000Z", "Z"));
  } });
  const local = title && text ? Date.parse(text) - new Date(text).getTimezoneOffset() * 60_000 : NaN;
  node.value = Number.isNaN(local) ? text.replace(/Z$/, "") : new Date(local).toISOString().slice(0, 19);
  return node;
}

/** @param {Schema} schema @param {string} value Base64. @param {Change} change */
function ofFile(schema, value, change) {
  const title = value && `${value.length} characters of Base64`;
  const node = make("input", { type: "file", title, accept: words(schema, "contentMediaType"), change: () => {
    const reader = new FileReader();
    reader.onload = () => change(String(reader.result).split(",", 2)[1] ?? "");
    reader.onerror = () => node.setCustomValidity(`It cannot be read: ${reader.error?.message}`);
    if (node.files?.[0]) reader.readAsDataURL(node.files[0]);
  } });
  return node;
}

/** @param {unknown} value @param {Change} change @param {Record<string, unknown>} [attributes] @returns {HTMLTextAreaElement} */
export function ofJson(value, change, attributes = {}) {
  const node = make("textarea", { class: "json", rows: 1, placeholder: "JSON", spellcheck: "false", ...attributes, input: () => {
    node.setCustomValidity("");
    try {
      change(node.value.trim() ? parse(node.value) : undefined);
    } catch (error) {
      node.setCustomValidity(error instanceof Error ? error.message : String(error));
      node.reportValidity();
    }
  } });
  node.value = value === undefined ? "" : write(value, 2);
  return node;
}
