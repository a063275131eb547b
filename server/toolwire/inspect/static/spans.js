// What took time, from messages of a server or from events of a run: calls, questions, the model, other requests.
import { isObject, member, write } from "./json.js";

/**
 * @typedef {"call" | "question" | "model" | "other"} SpanKind
 * @typedef {{ kind: SpanKind, name: string, start: number, end?: number, isError: boolean,
 *   marks: { at: number, text: string }[] }} Span
 *   Times are in milliseconds; an open one has no end; marks are its progress.
 * @typedef {{ read: number, written: number, cached: number }} Tokens
 * @typedef {{ kind: SpanKind, name: string, start: string, end: string, isError: boolean, read: number,
 *   written: number, cached: number }} RunSpan A span of a run (run_times.py).
 */

const MOST_MARKS = 1000; // of a call
const MOST_LIVE = 10_000;

/** @type {Record<string, SpanKind>} */
const KINDS = { "tools/call": "call", "elicitation/create": "question", "sampling/createMessage": "model" };
const ENDLESS = "subscriptions/listen"; // its response comes with the end of the connection

let spans = /** @type {Span[]} */ ([]);
let tokens = /** @type {Tokens} */ ({ read: 0, written: 0, cached: 0 });
/** Open spans by the sender and the id of their request. @type {Map<string, Span>} */
const open = new Map();
/** Open spans by the token of their progress. @type {Map<string, Span>} */
const reporting = new Map();
/** Questions of calls that will be made again with the answers (2026-07-28). @type {Map<string, Span>} */
const asking = new Map();

/** @param {SpanKind} kind @param {string} name @param {number} start @returns {Span} */
function begin(kind, name, start) {
  const span = { kind, name, start, isError: false, marks: [] };
  spans.push(span);
  return span;
}

/** @param {Span | undefined} span @param {number} at */
function finish(span, at, isError = false) {
  if (span) Object.assign(span, { end: at, isError });
}

/** @param {string} sender @param {number} at @param {unknown} message */
function addMessage(sender, at, message) {
  const [id, method, params] = ["id", "method", "params"].map((name) => member(message, name));
  if (typeof method === "string" && id !== undefined) {
    if (method === ENDLESS) return;
    const name = member(params, "name") ?? member(params, "uri") ?? method;
    if (member(params, "inputResponses") !== undefined) finish(asking.get(write(name)), at);
    const span = begin(KINDS[method] ?? "other", KINDS[method] === "call" ? String(name) : method, at);
    open.set(sender + write(id), span);
    const token = member(member(params, "_meta"), "progressToken");
    if (token !== undefined) reporting.set(write(token), span);
  } else if (method === "notifications/progress") {
    const [token, progress, total, text] = ["progressToken", "progress", "total", "message"].map((name) =>
      member(params, name),
    );
    const span = reporting.get(write(token));
    const words = [progress, total !== undefined && `of ${total}`, text].filter(Boolean).join(" ");
    if (span && span.marks.length < MOST_MARKS) span.marks.push({ at, text: words });
  } else if (method === undefined) {
    const key = (sender === "client" ? "server" : "client") + write(id);
    const span = open.get(key);
    open.delete(key);
    const result = member(message, "result");
    finish(span, at, !isObject(result) || result.isError === true);
    if (span && member(result, "resultType") === "input_required") {
      asking.set(write(span.name), begin("question", span.name, at));
    }
  }
}

/** @param {import("./api.js").PageEvent} event @param {boolean} isLive */
function add(event, isLive) {
  if (event.type === "run" && event.span) {
    const { kind, name, start, end, isError, read, written, cached } = event.span;
    finish(begin(kind, name, Date.parse(start)), Date.parse(end), isError);
    tokens = { read: tokens.read + read, written: tokens.written + written, cached: tokens.cached + cached };
  }
  if (event.type !== "message") return;
  const { entry } = event;
  if (entry.type === "Message") {
    for (const one of [entry.message].flat()) addMessage(entry.sender, Date.parse(entry.at), one);
  } else if (entry.type === "Started") {
    for (const map of [open, reporting, asking]) map.clear();
  }
  if (isLive && spans.length > 1.2 * MOST_LIVE) spans = spans.slice(-MOST_LIVE);
}

/**
 * Where times are on an axis from 0 to 1 on which times without any span are short.
 * @param {Span[]} list @param {number} now The end of open spans.
 */
export function axisOf(list, now) {
  const busy = /** @type {{ start: number, end: number, before: number }[]} */ ([]);
  for (const span of [...list].sort((one, other) => one.start - other.start)) {
    const [last, end] = [busy.at(-1), span.end ?? now];
    if (last && span.start <= last.end) last.end = Math.max(last.end, end);
    else busy.push({ start: span.start, end, before: 0 });
  }
  const sum = busy.reduce((total, { start, end }) => total + end - start, 0);
  const longest = Math.max(1, sum / 20); // of what an idle time takes on the axis
  let length = 0;
  for (const [index, part] of busy.entries()) {
    const idle = index > 0 ? part.start - (busy[index - 1]?.end ?? 0) : 0;
    length += Math.min(idle, longest);
    part.before = length;
    length += part.end - part.start;
  }
  const place = (/** @type {number} */ at) => {
    let [low, high] = [0, busy.length]; // the part is before high, and not before low
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((busy[middle]?.start ?? 0) <= at) low = middle;
      else high = middle;
    }
    const part = busy[low];
    if (!part) return 0;
    return Math.min(1, (part.before + Math.min(at, part.end) - part.start) / Math.max(1, length));
  };
  const idle = busy.slice(1).flatMap((part, index) => {
    const pause = part.start - (busy[index]?.end ?? 0);
    return pause > longest ? [{ at: place(part.start), seconds: pause / 1e3 }] : [];
  });
  return { place, idle, length };
}

/** Times of calls, by tool: the slowest first. @param {Span[]} list */
export function latencies(list) {
  const ended = list.filter((span) => (span.kind === "call" || span.kind === "model") && span.end !== undefined);
  const groups = [...Map.groupBy(ended, (span) => span.name)].map(([name, calls]) => {
    const times = calls.map((span) => (span.end ?? span.start) - span.start).sort((one, other) => one - other);
    const rank = (/** @type {number} */ part) => times[Math.ceil(part * times.length) - 1] ?? 0;
    const errors = calls.filter((span) => span.isError).length;
    return { name, kind: calls[0]?.kind, times, errors, p50: rank(0.5), p99: rank(0.99), most: rank(1) };
  });
  return groups.sort((one, other) => other.p50 - one.p50);
}

export const recorded = { add, spans: () => spans, tokens: () => tokens };
