// Every message in both directions. Only the rows that are seen have elements, so that any number of them stays usable.
import { badge, button, byId, hint, make, put, tree } from "./dom.js";
import { bytes, clock, duration, isObject, member, worded, write } from "./json.js";

/**
 * @typedef {"client" | "server" | "stderr"} From
 * @typedef {{ at: number, from: From, kind: string, method: string, about: string, value: unknown, text: string,
 *   size: string, other?: Row | undefined }} Row The text is searched; the other is the request or the response.
 */

const ROW_PIXELS = 26;
const MOST_ROWS = 10_000;
const MOST_CHARACTERS = 32_000_000;
const MARKS = { client: "→", server: "←", stderr: "·" };

let rows = /** @type {Row[]} */ ([]);
let shown = rows;
let isStale = false; // whether what is shown has to be found anew: not when the list only scrolls
let characters = 0; // of the texts of all rows
let chosen = /** @type {Row | undefined} */ (undefined);
/** Requests without a response, by sender and id. @type {Map<string, Row>} */
const waiting = new Map();
let frame = 0;
const [list, sheet, search, direction] = ["rows", "sheet", "text", "direction"].map(byId);

/** @type {(from: From, at: number, kind: string, method: string, about: unknown, value: unknown) => Row} */
const rowOf = (from, at, kind, method, about, value) => {
  const json = write(value);
  const size = bytes(new TextEncoder().encode(json).length);
  return { at, from, kind, method, about: worded(about), value, text: `${method} ${json}`.toLowerCase(), size };
};

/** @param {"client" | "server"} from @param {number} at @param {unknown} value @returns {Row} */
function ofMessage(from, at, value) {
  const [id, method, params, error] = ["id", "method", "params", "error"].map((name) => member(value, name));
  if (typeof method === "string") {
    const abouts = ["name", "uri", "message", "data"].map((name) => member(params, name));
    const about = abouts.find((one) => one !== undefined);
    const request = rowOf(from, at, id === undefined ? "notification" : "request", method, about, value);
    if (id !== undefined) waiting.set(from + write(id), request);
    return request;
  }
  const key = (from === "client" ? "server" : "client") + write(id);
  const other = waiting.get(key);
  waiting.delete(key);
  const kind = error !== undefined || member(member(value, "result"), "isError") === true ? "error" : "response";
  const row = { ...rowOf(from, at, kind, other?.method ?? "", error ?? other?.about, value), other };
  if (other) other.other = row;
  return row;
}

/** @param {import("./api.js").PageEvent} event @returns {Row[]} */
function rowsOf(event) {
  if (event.type === "stderr") return [rowOf("stderr", Date.parse(event.at), "note", "stderr", event.text, event.text)];
  if (event.type === "gap") return [rowOf("stderr", NaN, "note", "dropped", `${event.dropped} older ones`, "")];
  if (event.type !== "message") return [];
  const { entry } = event;
  const at = Date.parse(entry.at);
  if (entry.type === "Message") return [entry.message].flat().map((one) => ofMessage(entry.sender, at, one));
  if (entry.type === "Noise") return [rowOf("server", at, "error", "no message", entry.text, entry)];
  if (entry.type === "Started") waiting.clear();
  const { command, reason } = /** @type {Record<string, any>} */ (entry);
  return [rowOf("stderr", at, "note", entry.type, command?.join(" ") ?? reason, entry)];
}

/** @param {import("./api.js").PageEvent} event */
function add(event) {
  for (const row of rowsOf(event)) {
    rows.push(row);
    characters += row.text.length;
  }
  let dropped = 0;
  while (traffic.isLive && (rows.length - dropped > MOST_ROWS || characters > MOST_CHARACTERS)) {
    characters -= rows[dropped++]?.text.length ?? characters;
  }
  rows.splice(0, dropped);
  isStale = true;
  draw();
}

function filter() {
  if (!isStale) return;
  const [text, from] = [search.value.toLowerCase(), direction.value];
  shown = rows.filter((row) => row.text.includes(text) && (!from || row.from === from));
  isStale = false;
}

/** Draws the rows that are seen, at the next frame. */
function draw() {
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(() => {
    if (!list.offsetParent) return;
    filter();
    const wasAtEnd = list.scrollTop + list.clientHeight > sheet.offsetHeight - ROW_PIXELS;
    sheet.style.height = `${shown.length * ROW_PIXELS}px`;
    if (wasAtEnd && !chosen && traffic.isLive) list.scrollTop = list.scrollHeight;
    const first = Math.max(0, Math.floor(list.scrollTop / ROW_PIXELS) - 10);
    const seen = shown.slice(first, first + Math.ceil(list.clientHeight / ROW_PIXELS) + 20);
    put(sheet, ...seen.map((row, index) => element(row, first + index)));
    put(byId("count"), shown.length === rows.length ? `${rows.length} messages` : `${shown.length} of ${rows.length}`);
    list.setAttribute("aria-activedescendant", sheet.querySelector("[aria-selected=true]")?.id ?? "");
  });
}

const latency = (/** @type {Row} */ { at, other, kind }) =>
  other ? duration(Math.abs(at - other.at) / 1000) : kind === "request" ? "…" : "";

/** @param {Row} row @param {number} index */
function element(row, index) {
  const node = make("div", { id: `row-${index}`, class: `row ${row.from} ${row.kind}`, role: "option" });
  node.ariaSelected = String(row === chosen);
  node.ariaPosInSet = String(index + 1);
  node.ariaSetSize = String(shown.length);
  const what = [make("b", {}, row.method || row.kind), " ", row.about.slice(0, 300)];
  const cells = { time: [clock(row.at)], mark: [MARKS[row.from]], what, took: [latency(row)], size: [row.size] };
  node.append(...Object.entries(cells).map(([name, parts]) => make("span", { class: name }, ...parts)));
  node.addEventListener("click", () => choose(index));
  node.style.top = `${index * ROW_PIXELS}px`;
  return node;
}

function choose(/** @type {number} */ wanted) {
  const at = Math.max(0, Math.min(wanted, shown.length - 1));
  chosen = shown[at];
  if (!chosen) return;
  const { value, other } = chosen;
  const focused = /** @type {HTMLElement} */ (document.activeElement);
  const isFocused = byId("message").contains(focused);
  list.scrollTop = Math.max((at + 1) * ROW_PIXELS - list.clientHeight, Math.min(list.scrollTop, at * ROW_PIXELS));
  const copy = button("Copy JSON", () => navigator.clipboard.writeText(write(value, 2)));
  const controls = make("div", { class: "controls" }, previous, next, hint(`${at + 1} of ${shown.length}`), copy);
  const go = other && button(`Go to the ${other.kind === "request" ? "request" : "response"}`, () => goTo(other));
  put(byId("message"), controls, detailOf(chosen), go, other && detailOf(other));
  if (isFocused) (focused.isConnected ? focused : list).focus();
  draw();
}

const step = (/** @type {number} */ by) => choose((chosen ? shown.indexOf(chosen) : -1) + by);
const previous = button("← Previous", () => step(-1));
const next = button("Next →", () => step(1));

function goTo(/** @type {Row} */ row) {
  if (!shown.includes(row)) search.value = direction.value = "";
  isStale = true;
  filter();
  choose(shown.indexOf(row));
}

function detailOf(/** @type {Row} */ row) {
  const took = row.kind !== "request" && row.other && `after ${latency(row)}`;
  const facts = [row.from !== "stderr" && `from the ${row.from}`, clock(row.at), row.size, took].filter(Boolean);
  const body = isObject(row.value) ? tree(row.value, 4) : make("pre", {}, row.about);
  const kind = badge(row.kind, row.kind === "error" ? "bad" : "muted");
  return make("section", {}, make("h2", {}, row.method, " ", kind), hint(facts.join(" · ")), body);
}

list.addEventListener("scroll", draw);
new ResizeObserver(draw).observe(list);
const refilter = () => {
  isStale = true;
  draw();
};
for (const input of [search, direction]) input.addEventListener("input", refilter);
byId("traffic").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
  const page = Math.floor(list.clientHeight / ROW_PIXELS);
  const steps = { Down: 1, Right: 1, Up: -1, Left: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
  const by = member(steps, event.key.replace("Arrow", ""));
  const isTyping = event.target instanceof Element && event.target.closest("input, select");
  if (typeof by !== "number" || isTyping || event.altKey || event.metaKey) return;
  event.preventDefault();
  step(by);
});

export const traffic = { add, draw, isLive: false };
