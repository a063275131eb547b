// What a JSON Schema asks for. A server may send anything in its place, so each keyword is looked at before it is used,
// and all work is bounded. Where `resolve` gives null, no form fits.
import { isObject, member, worded, write } from "./json.js";

/** @typedef {Record<string, unknown>} Schema */

const MOST_STEPS = 500;
const MOST_DEPTH = 100;
const MOST_CHOICES = 1000;
const MOST_KINDS = 100;

/** @param {unknown} value @returns {unknown[]} */
export const list = (value) => (Array.isArray(value) ? value : []);
/** @param {Schema} schema @param {string} keyword */
export const words = (schema, keyword) => (typeof schema[keyword] === "string" ? schema[keyword] : "");
/** @param {Schema} schema @returns {Schema} */
export const properties = (schema) => (isObject(schema.properties) ? schema.properties : {});

/**
 * A schema with its references followed and its `allOf` merged, or null if that takes more than some steps.
 * @param {unknown} root @param {unknown} schema @returns {Schema | null}
 */
export function resolve(root, schema, steps = { left: MOST_STEPS }, depth = 0) {
  if (schema === true || schema === undefined) return {};
  if (!isObject(schema) || steps.left-- <= 0 || depth > MOST_DEPTH) return null;
  const { $ref: reference, allOf: parts, ...rest } = schema;
  let found = /** @type {Schema} */ (rest);
  for (const other of [...(reference === undefined ? [] : [pointed(root, reference)]), ...list(parts)]) {
    const part = resolve(root, other, steps, depth + 1);
    if (!part) return null;
    const both = { properties: { ...properties(part), ...properties(found) } };
    const required = [...list(part.required), ...list(found.required)];
    found = { ...part, ...found, ...(Object.keys(both.properties).length && both), required };
  }
  return found;
}

/** @param {unknown} root @param {unknown} reference */
function pointed(root, reference) {
  if (typeof reference !== "string" || !/^#(\/|$)/.test(reference)) return null;
  const steps = [...reference.matchAll(/\/([^/]*)/g)];
  const names = steps.map(([, name = ""]) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
  return names.reduce((place, name) => list(place)[Number(name)] ?? member(place, name), root) ?? null;
}

/** What the values are: their type, or that of what shows them. @param {Schema} schema */
export function typeOf(schema) {
  if (choices(schema)) return "choice";
  if (Array.isArray(schema.type) || list(schema.anyOf ?? schema.oneOf).length) return "union";
  const format = (schema.type ?? "string") === "string" ? (schema.contentEncoding ?? schema.format) : "";
  if (/^(base64|binary|byte)$/.test(String(format))) return "file";
  if (/^(date|time|date-time)$/.test(String(format))) return "time";
  if (typeof schema.type === "string") return schema.type;
  if (isObject(schema.properties)) return "object";
  return schema.items !== undefined || Array.isArray(schema.prefixItems) ? "array" : "any";
}

/** The values to choose from, if they are listed. @param {Schema} schema */
export function choices(schema) {
  const several = list(schema.oneOf ?? schema.anyOf);
  const titled = several.every((one) => member(one, "const") !== undefined) ? several : [];
  const listed = Array.isArray(schema.enum) ? schema.enum : titled.map((one) => member(one, "const"));
  const values = "const" in schema ? [schema.const] : listed;
  if (!values.length || values.length > MOST_CHOICES) return null;
  const names = titled.length ? titled.map((one) => member(one, "title")) : list(schema.enumNames);
  return values.map((value, index) => ({ value, label: worded(names[index] ?? value) || '""' }));
}

/** The possible kinds of values. @param {unknown} root @param {Schema} schema @returns {Schema[]} */
export function kindsOf(root, schema) {
  const { anyOf, oneOf, title: _title, description: _description, default: _default, ...base } = schema;
  const types = list(schema.type).slice(0, MOST_KINDS);
  if (types.length) return types.map((type) => ({ ...schema, default: undefined, type }));
  const several = list(anyOf ?? oneOf).slice(0, MOST_KINDS);
  const kinds = several.map((one) => {
    const title = String(member(one, "$ref") ?? "").replace(/.*\//, ""); // of what has no other
    return { title, ...resolve(root, { ...base, allOf: [one] }) };
  });
  return kinds.length ? kinds : [schema];
}

/** The only kind of values, which may be one besides null; else all. @param {unknown} root @param {Schema} schema */
export function narrowed(root, schema, withNull = false) {
  const [kind = schema, ...others] = kindsOf(root, schema).filter((one) => withNull || one.type !== "null");
  return others.length ? schema : kind;
}

/** What one of several kinds is called. @param {Schema} kind */
export function nameOf(kind) {
  const mark = Object.entries(properties(kind)).find(([, one]) => member(one, "const") !== undefined);
  const marked = mark && `${mark[0]}: ${worded(member(mark[1], "const"))}`;
  return words(kind, "title") || marked || worded(kind.const) || words(kind, "format") || typeOf(kind);
}

const LIMIT = /^(exclusiveM|m)(in|ax)imum$|^m(in|ax)(Length|Items|Properties)$|^(multipleOf|pattern)$/;

/** What a value must be, in a few words. @param {unknown} root @param {Schema} schema */
export function expected(root, schema) {
  const kind = narrowed(root, schema);
  const limits = Object.entries(kind).map(([key, limit]) => LIMIT.test(key) && `${key} ${worded(limit)}`);
  const preset = (schema.default ?? null) !== null && `default ${write(schema.default)}`;
  return [words(kind, "format") || typeOf(kind), ...limits, preset].filter(Boolean).join(" · ").slice(0, 200);
}
