// Two texts or values side by side: equal lines share a row, and a line that only one side has is marked by a sign.
import { hint, make } from "./dom.js";
import { member, write } from "./json.js";

/** @typedef {{ before?: string | undefined, after?: string | undefined }} Row A side that has no line is undefined. */

const MOST_CHARACTERS = 200_000;
const MOST_LINES = 600; // of each side that are compared with each other; more differences stand in their order
const MOST_ROWS = 2000;
const CONTEXT = 3; // equal lines that are shown next to a difference

/** @param {string} text */
const linesOf = (text) => text.slice(0, MOST_CHARACTERS).split("\n");

/** How many lines both sides have in common from each place on. @param {string[]} one @param {string[]} other */
function commonFrom(one, other) {
  const width = other.length + 1;
  const counts = new Uint16Array((one.length + 1) * width);
  for (let i = one.length - 1; i >= 0; i--) {
    for (let j = other.length - 1; j >= 0; j--) {
      const skipped = Math.max(counts[(i + 1) * width + j] ?? 0, counts[i * width + j + 1] ?? 0);
      counts[i * width + j] = one[i] === other[j] ? (counts[(i + 1) * width + j + 1] ?? 0) + 1 : skipped;
    }
  }
  return (/** @type {number} */ i, /** @type {number} */ j) => counts[i * width + j] ?? 0;
}

/** The rows of the lines between a common start and a common end. @param {string[]} one @param {string[]} other */
function middleRows(one, other) {
  const common = one.length > MOST_LINES || other.length > MOST_LINES ? () => 0 : commonFrom(one, other);
  const rows = /** @type {Row[]} */ ([]);
  let [i, j] = [0, 0];
  let [gone, come] = /** @type {[string[], string[]]} */ ([[], []]);
  const flush = () => {
    const longer = gone.length > come.length ? gone : come;
    for (const at of longer.keys()) rows.push({ before: gone[at], after: come[at] });
    [gone, come] = [[], []];
  };
  while (i < one.length || j < other.length) {
    if (i < one.length && j < other.length && one[i] === other[j]) {
      flush();
      rows.push({ before: one[i++], after: other[j++] });
    } else if (j >= other.length || (i < one.length && common(i + 1, j) >= common(i, j + 1))) {
      gone.push(one[i++] ?? "");
    } else {
      come.push(other[j++] ?? "");
    }
  }
  flush();
  return rows;
}

/** @param {string} before @param {string} after @returns {Row[]} */
export function rowsOf(before, after) {
  const [one, other] = [linesOf(before), linesOf(after)];
  const shorter = Math.min(one.length, other.length);
  let start = 0;
  while (start < shorter && one[start] === other[start]) start++;
  let end = 0;
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end++;
  const same = (/** @type {string} */ line) => ({ before: line, after: line });
  const middle = middleRows(one.slice(start, one.length - end), other.slice(start, other.length - end));
  return [...one.slice(0, start).map(same), ...middle, ...one.slice(one.length - end).map(same)];
}

/** @param {Row} row */
const isEqual = ({ before, after }) => before === after;

/** A cell of a line, with a sign if the other side differs. @param {string | undefined} line @param {string} mark */
const cellOf = (line, mark) =>
  line === undefined
    ? make("td", { class: "nothing" })
    : make("td", { class: mark && (mark === "+" ? "come" : "gone") }, make("span", { class: "sign" }, mark), line);

/**
 * A table of both texts; null if they are equal.
 * @param {string} before @param {string} after @param {[string, string]} names
 */
export function compared(before, after, names = ["Before", "After"]) {
  if (before === after) return null;
  const rows = rowsOf(before, after);
  const isNear = (/** @type {number} */ at) =>
    rows.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some((row) => !isEqual(row));
  const shown = /** @type {HTMLElement[]} */ ([]);
  let skipped = 0;
  const flush = () => {
    if (skipped) shown.push(make("tr", {}, make("td", { colspan: 2, class: "cut" }, `… ${skipped} equal lines`)));
    skipped = 0;
  };
  for (const [at, row] of rows.entries()) {
    if (shown.length > MOST_ROWS || (isEqual(row) && !isNear(at))) {
      skipped++;
      continue;
    }
    flush();
    const [gone, come] = isEqual(row) ? ["", ""] : ["−", "+"];
    shown.push(make("tr", {}, cellOf(row.before, gone), cellOf(row.after, come)));
  }
  flush();
  const head = make("tr", {}, ...names.map((name) => make("th", { scope: "col" }, name)));
  return make("table", { class: "compare" }, make("thead", {}, head), make("tbody", {}, ...shown));
}

/** The result of a call as text to compare: its data, or else its texts as they are. @param {unknown} result */
export function textOf(result) {
  const data = member(result, "structuredContent");
  const error = member(result, "isError") === true ? "The tool reports an error.\n" : "";
  if (data !== undefined) return error + write(data, 2);
  const content = member(result, "content");
  if (!Array.isArray(content)) return error + write(result, 2);
  return error + content.map((block) => member(block, "text") ?? write(block, 2)).join("\n");
}

/**
 * What differs, under a heading; that nothing does, if so.
 * @param {string} what @param {string} before @param {string} after @param {[string, string]} [names]
 */
export function comparison(what, before, after, names) {
  const table = compared(before, after, names);
  if (!table) return make("p", { class: "hint" }, `${what}: no difference`);
  const title = make("summary", {}, `${what} `, hint("differs"));
  return make("details", { class: "comparison", open: true }, title, make("div", { class: "wide" }, table));
}
