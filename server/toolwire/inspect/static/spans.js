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
 * @typedef {ReturnType<typeof axisOf>} Axis
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
 * Where times are on an axis from 0 to 1 on which times without any span are short, and which time is at a place.
 * @param {Span[]} list @param {number} now The end of open spans.
 */
export function axisOf(list, now) {
  const busy = /** @type {{ start: number, end: number }[]} */ ([]);
  for (const span of [...list].sort((one, other) => one.start - other.start)) {
    const [last, end] = [busy.at(-1), span.end ?? now];
    if (last && span.start <= last.end) last.end = Math.max(last.end, end);
    else busy.push({ start: span.start, end });
  }
  const sum = busy.reduce((total, { start, end }) => total + end - start, 0);
  const longest = Math.max(1, sum / 20); // of what an idle time takes on the axis
  /** Times and where they are; between two of them, both grow evenly. */
  const points = /** @type {{ time: number, on: number }[]} */ ([]);
  const pauses = /** @type {{ on: number, seconds: number }[]} */ ([]);
  let length = 0;
  for (const { start, end } of busy) {
    const idle = start - (points.at(-1)?.time ?? start);
    length += Math.min(idle, longest);
    if (idle > longest) pauses.push({ on: length, seconds: idle / 1e3 });
    points.push({ time: start, on: length });
    length += end - start;
    points.push({ time: end, on: length });
  }
  /** @param {number} value @param {"time" | "on"} from @param {"time" | "on"} to */
  const convert = (value, from, to) => {
    let [low, high] = [0, points.length]; // the point is before high, and not before low
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((points[middle]?.[from] ?? 0) <= value) low = middle;
      else high = middle;
    }
    const [one, next] = [points[low], points[low + 1]];
    if (!one || !next) return one?.[to] ?? 0;
    const part = Math.max(0, value - one[from]) / Math.max(Number.EPSILON, next[from] - one[from]);
    return one[to] + part * (next[to] - one[to]);
  };
  const whole = Math.max(1, length);
  return {
    place: (/** @type {number} */ time) => convert(time, "time", "on") / whole,
    timeAt: (/** @type {number} */ place) => convert(place * whole, "on", "time"),
    idle: pauses.map(({ on, seconds }) => ({ at: on / whole, seconds })),
    length,
  };
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
