// Every message in both directions. Only the rows that are seen have elements, so that ten thousand of them stay usable.
import { badge, branch, button, byId, controls, hint, make, put, step, tree } from "./dom.js";
import { bytes, duration, isObject, member, write } from "./json.js";

/**
 * @typedef {"client" | "server" | "stderr"} From
 * @typedef {"request" | "response" | "error" | "notification" | "note"} Kind
 * @typedef {{ number: number, at: number, from: From, kind: Kind, method: string, about: string, value: unknown, size: string,
 *   other?: Row | undefined }} Row The other is the response of a request, and the request of a response.
 */

const [ROW_PIXELS, MOST_ROWS] = [26, 10_000];
const MARKS = { client: "→", server: "←", stderr: "·" };
const WORDS = { client: "client → server", server: "server → client", stderr: "" };

/** @type {Row[]} */
let rows = [];
/** @type {Row[]} */
let shown = [];
/** @type {Row | undefined} */
let chosen;
/** Requests without a response, by sender and id. @type {Map<string, Row>} */
const waiting = new Map();
const methods = new Set([""]);
let [count, isDue] = [0, false];
const [list, sheet, ...filters] = ["rows", "sheet", "text", "direction", "method"].map(byId);

/** @param {From} from @param {number} at @param {Kind} kind @param {string} method @param {unknown} about @param {unknown} value @returns {Row} */
const rowOf = (from, at, kind, method, about, value) =>
  ({ number: ++count, at, from, kind, method, about: typeof about === "string" ? about : write(about), value, size: bytes(value) });

/** @param {"client" | "server"} from @param {number} at @param {unknown} message */
function ofMessage(from, at, message) {
  const [id, method, params, error] = ["id", "method", "params", "error"].map((name) => member(message, name));
  if (typeof method === "string") {
    const about = ["name", "uri", "message", "data"].map((name) => member(params, name)).find((one) => one !== undefined);
    const row = rowOf(from, at, id === undefined ? "notification" : "request", method, about ?? "", message);
    if (id !== undefined) waiting.set(from + write(id), row);
    return row;
  }
  const key = (from === "client" ? "server" : "client") + write(id);
  const request = waiting.get(key);
  const isError = error !== undefined || member(member(message, "result"), "isError") === true;
  const about = error === undefined ? request?.about : `${write(member(error, "code"))} ${member(error, "message")}`;
  const row = { ...rowOf(from, at, isError ? "error" : "response", request?.method ?? "", about ?? "", message), other: request };
  if (request) request.other = row;
  waiting.delete(key);
  return row;
}

/** @param {import("./api.js").PageEvent} event @returns {Row[]} */
function rowsOf(event) {
  if (event.type === "stderr") return [rowOf("stderr", Date.parse(event.at), "note", "stderr", event.text, event.text)];
  if (event.type === "gap") return [rowOf("stderr", NaN, "note", "dropped", `${event.dropped} older ones`, "")];
  if (event.type !== "message") return [];
  const { entry } = event;
  const at = Date.parse(entry.at);
  switch (entry.type) {
    case "Message":
      return [entry.message].flat().map((one) => ofMessage(entry.sender, at, one));
    case "Started":
      waiting.clear();
      return [rowOf("stderr", at, "note", "server started", entry.command.join(" "), entry)];
    case "Noise":
      return [rowOf("server", at, "error", "no message", entry.text, entry)];
    case "Ended":
      return [rowOf("stderr", at, "note", "server ended", `${entry.reason}\n${entry.stderr}`, entry)];
    default:
      return [rowOf("stderr", at, "note", "recording ended", `after ${entry.max_bytes} bytes`, entry)];
  }
}

/** @param {import("./api.js").PageEvent} event */
function add(event) {
  const added = rowsOf(event);
  rows.push(...added);
  shown.push(...added.filter(passes()));
  for (const row of added) {
    if (methods.has(row.method) || methods.size > 200) continue;
    methods.add(row.method);
    filters[2].append(make("option", { value: row.method }, row.method));
  }
  if (traffic.isLive && rows.length > MOST_ROWS * 1.1) {
    rows = rows.slice(-MOST_ROWS);
    shown = shown.filter((row) => row.number >= (rows[0]?.number ?? 0));
  }
  if (added.length) draw();
}

/** Whether a row passes the filters. @returns {(row: Row) => boolean} */
function passes() {
  const [text, from, name] = filters.map((filter) => filter.value);
  const words = text.toLowerCase();
  return (row) => (!from || row.from === from) && (!name || row.method === name) &&
    (!words || row.method.toLowerCase().includes(words) || write(row.value).toLowerCase().includes(words));
}

/** Draws the rows that are seen, at the next frame. */
function draw() {
  if (isDue || !list.offsetParent) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    const wasAtEnd = list.scrollTop + list.clientHeight > sheet.offsetHeight - ROW_PIXELS;
    sheet.style.height = `${shown.length * ROW_PIXELS}px`;
    if (wasAtEnd && !chosen && traffic.isLive) list.scrollTop = list.scrollHeight;
    const first = Math.max(0, Math.floor(list.scrollTop / ROW_PIXELS) - 10);
    const seen = shown.slice(first, first + Math.ceil(list.clientHeight / ROW_PIXELS) + 20);
    put(sheet, ...seen.map((row, index) => element(row, first + index)));
    put(byId("count"), shown.length === rows.length ? `${rows.length} messages` : `${shown.length} of ${rows.length}`);
    list.setAttribute("aria-activedescendant", chosen && seen.includes(chosen) ? `row-${chosen.number}` : "");
  });
}

/** @param {number} at */
const clock = (at) =>
  Number.isNaN(at) ? "" : new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(11, 23);
/** @param {Row} row */
const latency = (row) => (row.other ? duration(Math.abs(row.at - row.other.at) / 1000) : row.kind === "request" ? "…" : "");

/** @param {Row} row @param {number} index */
function element(row, index) {
  const aria = { role: "option", "aria-selected": row === chosen ? "true" : "false", "aria-posinset": index + 1, "aria-setsize": shown.length };
  const what = make("span", { class: "what" }, make("b", {}, row.method || row.kind), " ", row.about.slice(0, 300));
  const cells = { time: clock(row.at), mark: MARKS[row.from], what, took: latency(row), size: row.size };
  const made = make("div", { id: `row-${row.number}`, ...aria, class: `row ${row.from} ${row.kind}`, click: () => choose(index) },
    ...Object.entries(cells).map(([name, cell]) => (cell instanceof Node ? cell : make("span", { class: name }, cell))));
  made.style.top = `${index * ROW_PIXELS}px`;
  return made;
}

/** @param {number} wanted */
function choose(wanted) {
  const at = Math.max(0, Math.min(wanted, shown.length - 1));
  const row = shown[at];
  if (!row) return;
  chosen = row;
  const [top, bottom] = [at * ROW_PIXELS, (at + 1) * ROW_PIXELS - list.clientHeight];
  list.scrollTop = Math.max(bottom, Math.min(list.scrollTop, top));
  const { other } = row;
  const goTo = (/** @type {Row} */ to) => {
    if (!shown.includes(to)) for (const filter of filters) filter.value = "";
    refilter();
    choose(shown.indexOf(to));
  };
  const go = other && button(`Go to the ${other.kind === "request" ? "request" : "response"}`, () => goTo(other));
  put(byId("message"), controls(button("← Previous", () => choose(at - 1), { disabled: at === 0 }),
    button("Next →", () => choose(at + 1), { disabled: at === shown.length - 1 }), hint(`${at + 1} of ${shown.length}`),
    button("Copy JSON", () => navigator.clipboard.writeText(write(row.value, 2)))), detailOf(row), go, other && detailOf(other));
  draw();
}

/** @param {Row} row */
function detailOf(row) {
  const took = row.other && row.kind !== "request" && `after ${latency(row)}`;
  const facts = [WORDS[row.from], clock(row.at), row.size, took].filter(Boolean).join(" · ");
  const body = isObject(row.value) && row.kind !== "note" ? tree(branch(row.value, undefined, 4)) : make("pre", {}, row.about);
  return make("section", {}, make("h3", {}, row.method, " ", badge(row.kind, row.kind === "error" ? "bad" : "muted")), hint(facts), body);
}

function refilter() {
  shown = rows.filter(passes());
  draw();
}

list.addEventListener("scroll", draw);
new ResizeObserver(draw).observe(list);
for (const filter of filters) filter.addEventListener("input", refilter);
byId("traffic").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
  const here = chosen ? shown.indexOf(chosen) : -1;
  const to = step(event.key, here, Math.floor(list.clientHeight / ROW_PIXELS), shown.length);
  if (to === here || (event.target instanceof Element && event.target.closest("input, select"))) return;
  event.preventDefault();
  choose(to);
});

export const traffic = { add, draw, isLive: false };
