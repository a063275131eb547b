// What a JSON Schema asks for. A server may send anything in its place, so each keyword is looked at before it is used, and
// all work is bounded. Where `resolve` gives null, no form fits.
import { isNumber, isObject, member, write } from "./json.js";

/** @typedef {Record<string, unknown>} Schema */
/** @typedef {{ value: unknown, label: string }} Choice */

const MOST_STEPS = 500;

/** @param {unknown} value @returns {unknown[]} */
export const list = (value) => (Array.isArray(value) ? value : []);
/** @param {Schema} schema @param {string} keyword */
export const words = (schema, keyword) => (typeof schema[keyword] === "string" ? schema[keyword] : "");
/** @param {Schema} schema @returns {Schema} */
export const properties = (schema) => (isObject(schema.properties) ? schema.properties : {});
/** @param {unknown} value */
const word = (value) => (typeof value === "string" && value ? value : write(value));

/**
 * A schema with its references followed and its `allOf` merged, or null if that takes more than some steps.
 * @param {unknown} root @param {unknown} schema @returns {Schema | null}
 */
export function resolve(root, schema, steps = { left: MOST_STEPS }) {
  if (schema === true || schema === undefined) return {};
  if (!isObject(schema) || steps.left-- <= 0) return null;
  const { $ref: reference, allOf: parts, ...rest } = schema;
  /** @type {Schema} */
  let found = rest;
  for (const other of [...(reference === undefined ? [] : [pointed(root, reference)]), ...list(parts)]) {
    const part = resolve(root, other, steps);
    if (!part) return null;
    const both = { properties: { ...properties(part), ...properties(found) } };
    const required = [...list(part.required), ...list(found.required)];
    found = { ...part, ...found, ...(Object.keys(both.properties).length && both), ...(required.length && { required }) };
  }
  return found;
}

/** @param {unknown} root @param {unknown} reference */
function pointed(root, reference) {
  if (typeof reference !== "string" || !/^#(\/|$)/.test(reference)) return null;
  const names = reference.split("/").slice(1).map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
  return names.reduce((/** @type {unknown} */ place, name) => list(place)[Number(name)] ?? member(place, name), root) ?? null;
}

/** The type of the values: the one that is named, or that other keywords tell. @param {Schema} schema */
export const typeOf = (schema) =>
  typeof schema.type === "string" ? schema.type
    : isObject(schema.properties) ? "object"
    : schema.items !== undefined || Array.isArray(schema.prefixItems) ? "array" : "any";

/** The values to choose from, if they are listed. @param {Schema | null} schema @returns {Choice[] | null} */
export function choices(schema) {
  if (!schema) return null;
  if ("const" in schema) return [{ value: schema.const, label: word(schema.const) }];
  const [titled, names] = [list(schema.oneOf ?? schema.anyOf), list(schema.enumNames)];
  if (Array.isArray(schema.enum) && schema.enum.length <= 1000)
    return schema.enum.map((value, index) => ({ value, label: word(names[index] ?? value) }));
  if (!titled.length || titled.length > 1000 || !titled.every((one) => member(one, "const") !== undefined)) return null;
  return titled.map((one) => ({ value: member(one, "const"), label: word(member(one, "title") ?? member(one, "const")) }));
}

/** The kinds of values that are possible, each a schema. @param {unknown} root @param {Schema} schema @returns {Schema[]} */
export function kindsOf(root, schema) {
  const { anyOf, oneOf, title: _title, description: _description, default: _default, ...base } = schema;
  const several = anyOf ?? oneOf;
  if (Array.isArray(schema.type)) return schema.type.map((type) => ({ ...schema, type }));
  if (!Array.isArray(several) || !several.length || several.length > 100) return [schema];
  return several.map((one) => {
    const reference = words(isObject(one) ? one : {}, "$ref"); // the name of what it points to, where nothing has a title
    return { title: reference.split("/").at(-1), ...(resolve(root, { ...base, allOf: [one] }) ?? {}) };
  });
}

/** What one of several kinds is called. @param {Schema} kind */
export function nameOf(kind) {
  const mark = Object.entries(properties(kind)).find(([, one]) => member(one, "const") !== undefined);
  const marked = mark ? `${mark[0]}: ${word(member(mark[1], "const"))}` : "const" in kind ? word(kind.const) : "";
  return words(kind, "title") || marked || words(kind, "format") || typeOf(kind);
}

/** Whether a form has a place for a value. @param {unknown} root @param {unknown} raw @param {unknown} value @returns {boolean} */
export function fits(root, raw, value, depth = 0, steps = { left: MOST_STEPS }) {
  const schema = resolve(root, raw);
  if (!schema || depth > 3 || steps.left-- <= 0) return true;
  const listed = choices(schema);
  if (listed) return listed.some((one) => write(one.value) === write(value));
  const kinds = kindsOf(root, schema);
  if (kinds.length > 1) return kinds.some((kind) => fits(root, kind, value, depth + 1, steps));
  const { additionalProperties: more, required, items } = kinds[0] ?? {};
  const known = properties(kinds[0] ?? {});
  switch (typeOf(kinds[0] ?? {})) {
    case "object":
      if (!isObject(value)) return false;
      if (more === false && Object.keys(value).some((name) => !Object.hasOwn(known, name))) return false;
      if (!depth) return true; // each member shows for itself whether it fits
      if (list(required).some((name) => !Object.hasOwn(value, String(name)))) return false;
      return Object.entries(known).every(([name, one]) => !Object.hasOwn(value, name) || fits(root, one, value[name], depth + 1, steps));
    case "array":
      return Array.isArray(value) && (!depth || value.slice(0, 20).every((one) => fits(root, items, one, depth + 1, steps)));
    case "integer":
      return isNumber(value) && /^-?\d+(\.0+)?$/.test(write(value));
    case "number":
      return isNumber(value);
    case "null":
      return value === null;
    case "any":
      return true;
    default:
      return typeof value === typeOf(kinds[0] ?? {});
  }
}

/** What a form begins with: defaults, and what is needed and can be empty. @param {unknown} root @param {unknown} raw @param {boolean} needed @returns {unknown} */
export function initial(root, raw, needed, depth = 0, steps = { left: MOST_STEPS }) {
  const schema = depth > 4 || steps.left-- <= 0 ? null : resolve(root, raw);
  if (schema && "default" in schema && (needed || schema.default !== null)) return schema.default;
  if (!schema || !needed) return undefined;
  const listed = choices(schema);
  if (listed) return listed.length === 1 ? listed[0]?.value : undefined;
  const [kind = schema] = kindsOf(root, schema).filter((one) => one.type !== "null");
  if (kind !== schema) return initial(root, kind, true, depth + 1, steps);
  if (typeOf(schema) === "object") {
    const all = Object.entries(properties(schema)).slice(0, 400);
    const given = all.map(([name, one]) => [name, initial(root, one, list(schema.required).includes(name), depth + 1, steps)]);
    return Object.fromEntries(given.filter(([, value]) => value !== undefined));
  }
  if (schema.format || schema.contentEncoding) return undefined;
  return { string: "", boolean: false, array: [], null: null }[typeOf(schema)];
}

const LIMITS = { minimum: "≥", maximum: "≤", exclusiveMinimum: ">", exclusiveMaximum: "<", multipleOf: "multiple of",
  minLength: "length ≥", maxLength: "length ≤", minItems: "items ≥", maxItems: "items ≤", pattern: "matches" };

/** What a value must be, in a few words. @param {unknown} root @param {Schema} schema */
export function hint(root, schema) {
  const kinds = kindsOf(root, schema).filter((one) => one.type !== "null");
  const [kind = schema] = kinds;
  const type = choices(schema) ? "choice" : kinds.length > 1 ? "one of several" : words(kind, "format") || typeOf(kind);
  const limits = Object.entries(LIMITS).filter(([key]) => key in kind && word(kind[key]).length < 50).map(([key, sign]) => `${sign} ${word(kind[key])}`);
  const preset = schema.default === undefined || schema.default === null ? [] : [`default ${write(schema.default)}`];
  return [type === "any" ? "any JSON" : type, ...limits, ...preset].join(" · ").slice(0, 200);
}
