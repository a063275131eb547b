// A list of records as a table: sorted by a click on a column, filtered, and copied as CSV. Few rows are made at once.
import { button, hint, make, put, visible } from "./dom.js";
import { member, parse, worded } from "./json.js";

/** @typedef {Record<string, unknown>} Row */

const ROWS_AT_FIRST = 100;
const ROWS_MORE = 500;
const MOST_CHARACTERS = 300; // in a cell
const FORMULA = /^(?:[=@\t\r]|[+-](?![\d.]))/; // what a spreadsheet would run

const ordered = new Intl.Collator(undefined, { numeric: true }).compare;
const textOf = (/** @type {Row} */ row, /** @type {string} */ column) =>
  Object.hasOwn(row, column) ? worded(row[column]) : "";
const isNumber = (/** @type {unknown} */ value) => typeof value === "number" || value instanceof Number;

/** @param {Row} one @param {Row} other @param {string} column */
function compared(one, other, column) {
  const [left, right] = [member(one, column), member(other, column)];
  if (isNumber(left) && isNumber(right)) return Number(left) - Number(right);
  return ordered(textOf(one, column), textOf(other, column));
}

/** A cell as RFC 4180 has it; what a spreadsheet would run is marked as text. @param {unknown} value */
function csvOf(value) {
  const text = typeof value === "string" && FORMULA.test(value) ? `'${value}` : worded(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @param {Row[]} rows @param {string[]} columns */
export function toCsv(rows, columns) {
  const lines = rows.map((row) => columns.map((column) => csvOf(member(row, column))));
  return [columns.map(csvOf), ...lines].map((cells) => cells.join(",")).join("\r\n");
}

/** @param {Row[]} rows @param {string} name */
export function recordsTable(rows, name) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const numeric = new Set(columns.filter((column) => rows.every((row) => isNumber(row[column] ?? 0))));
  const texts = new Map(rows.map((row) => [row, ""]));
  let sorted = { column: "", isDown: false };
  let most = ROWS_AT_FIRST;
  const search = make("input", { type: "search", placeholder: "Filter", "aria-label": `Filter ${name}` });
  const count = make("span", { class: "hint", role: "status" });
  const body = make("tbody");
  const rest = make("div", { class: "controls" });

  const found = () => {
    const wanted = search.value.toLowerCase();
    const matches = wanted ? rows.filter((row) => searched(row).includes(wanted)) : [...rows];
    if (!sorted.column) return matches;
    matches.sort((one, other) => compared(one, other, sorted.column));
    return sorted.isDown ? matches.reverse() : matches;
  };
  const searched = (/** @type {Row} */ row) => {
    const text = texts.get(row) || columns.map((column) => textOf(row, column)).join("\n").toLowerCase();
    texts.set(row, text);
    return text;
  };
  const cellOf = (/** @type {Row} */ row, /** @type {string} */ column) =>
    make("td", { class: numeric.has(column) && "number" }, visible(textOf(row, column), MOST_CHARACTERS));
  const draw = () => {
    const matches = found();
    put(body, ...matches.slice(0, most).map((row) => make("tr", {}, ...columns.map((column) => cellOf(row, column)))));
    put(count, matches.length === rows.length ? `${rows.length} rows` : `${matches.length} of ${rows.length} rows`);
    const more = matches.length - most;
    put(rest, more > 0 && button(`Show ${Math.min(more, ROWS_MORE)} more of ${more}`, showMore));
    for (const head of heads) {
      const isSorted = sorted.column === head.title;
      head.ariaSort = isSorted ? (sorted.isDown ? "descending" : "ascending") : "none";
    }
  };
  const showMore = () => {
    most += ROWS_MORE;
    draw();
  };
  const heads = columns.map((column) => {
    const sort = () => {
      sorted = { column, isDown: sorted.column === column && !sorted.isDown };
      draw();
    };
    const look = numeric.has(column) && "number";
    return make("th", { scope: "col", title: column, class: look }, button(column, sort, { class: "sort" }));
  });
  const copy = button("Copy as CSV", () => {
    const copied = () => put(count, "Copied");
    navigator.clipboard.writeText(toCsv(found(), columns)).then(copied, (error) => put(count, String(error)));
  });
  search.addEventListener("input", draw);
  draw();
  const controls = make("div", { class: "controls" }, name && hint(name), search, copy, count);
  const table = make("table", { class: "rows" }, make("thead", {}, make("tr", {}, ...heads)), body);
  return make("div", { class: "records" }, controls, make("div", { class: "wide", tabindex: 0 }, table), rest);
}

/** The value to which members and indexes lead, also in JSON texts. @param {unknown} value @param {unknown[]} path */
export function valueAt(value, path) {
  let place = value;
  for (const step of path) {
    if (typeof place === "string") place = parse(place);
    place = Array.isArray(place) ? place[Number(step)] : member(place, String(step));
  }
  return typeof place === "string" ? parse(place) : place;
}
