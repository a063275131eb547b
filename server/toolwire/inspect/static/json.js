// JSON in which no number changes: one that a browser would write differently, as 2.0 or an integer beyond 2^53, is an
// object that counts as the number and keeps its text, where the browser can do that (ES2025).
const { rawJSON } = /** @type {{ rawJSON?: (text: string) => unknown }} */ (JSON);

// Text that may have such a number: at its start, or after a name or in a list; a reviver takes ten times as long.
const UNUSUAL = /(?:":|[[,])\s*(?:-?\d+(?:\.|\d{15}|e)|-0)|^\s*-?\d/i;

/** @param {string} text @returns {any} */
export const parse = (text) => (rawJSON && UNUSUAL.test(text) ? parseExactly(text) : JSON.parse(text));

const parseExactly = (/** @type {string} */ text) =>
  JSON.parse(text, (/** @type {[string, unknown, { source?: string }?]} */ ...[, value, context]) => {
    const source = typeof value === "number" ? context?.source : undefined;
    if (source === undefined || source === String(value) || !rawJSON) return value;
    return Object.assign(Object(value), { toString: () => source, toJSON: () => rawJSON(source) });
  });
/** @param {unknown} value @param {number} [indent] */
export const write = (value, indent) => JSON.stringify(value, null, indent) ?? "";
/** A text as it is, anything else as JSON. @param {unknown} value */
export const worded = (value) => (typeof value === "string" ? value : write(value));
/** @param {unknown} value @returns {value is Record<string, unknown>} */
export const isObject = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Number);
/** The member of an object, never one that it inherits. @param {unknown} object @param {string} name */
export const member = (object, name) => (isObject(object) && Object.hasOwn(object, name) ? object[name] : undefined);

/** A text as a word of a shell. @param {string} text */
export const quoted = (text) => (/^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`);

export const bytes = (/** @type {number} */ count) =>
  count < 1e3 ? `${count} B` : count < 1e6 ? `${(count / 1e3).toFixed(1)} kB` : `${(count / 1e6).toFixed(1)} MB`;
export const duration = (/** @type {number} */ seconds) =>
  seconds < 1 ? `${(seconds * 1e3).toFixed(seconds < 0.01 ? 1 : 0)} ms` : `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
/** @param {number} at In milliseconds; nothing for none. */
export const clock = (at) =>
  at ? `${new Date(at).toLocaleTimeString("en-GB")}.${String(Math.floor(at % 1000)).padStart(3, "0")}` : "";
