// Time: a waterfall of calls, questions and model replies on one axis, and the latency of each tool.
import { byId, hint, make, put, visible } from "./dom.js";
import { duration } from "./json.js";
import { axisOf, latencies, recorded } from "./spans.js";
import { zooming } from "./zoom.js";

/** @import { Span } from "./spans.js" */

const ROW_PIXELS = 24;
const BINS = 16; // of a histogram: each is twice as long as the one before, from 0.1 ms on
const NAMES = { call: "tool", question: "question", model: "model", other: "request" };
const [view, list, sheet, facts] = ["time", "waterfall", "bars", "latency"].map(byId);

let drawn = { count: -1, ended: -1 };
let axis = axisOf([], 0);
let frame = 0;
let isLive = false;

/**
 * An element of a picture. @param {string} name @param {Record<string, string | number>} attributes
 * @param {...(Node | string)} children
 */
function svg(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children.map((child) => (child instanceof Node ? child : visible(child, 300))));
  return element;
}

/** Draws what is seen, at the next frame. */
function draw() {
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(() => {
    if (!view.offsetParent) return;
    const spans = recorded.spans();
    const ended = spans.reduce((count, span) => count + (span.end === undefined ? 0 : 1), 0);
    const last = spans.at(-1);
    const end = spans.reduce((latest, span) => Math.max(latest, span.end ?? span.start), 0);
    const now = isLive && last ? Math.max(Date.now(), end) : end;
    const isNew = drawn.count !== spans.length || drawn.ended !== ended;
    if (isNew) showFacts(spans);
    if (isNew || isLive) axis = axisOf(spans, now);
    drawn = { count: spans.length, ended };
    drawBars(spans, now);
    if (isLive && ended < spans.length) setTimeout(draw, 250); // what runs grows
  });
}

/** Where bars begin, and how much room they have. */
function sizes() {
  const left = Math.min(220, list.clientWidth * 0.36);
  return { left, room: list.clientWidth - left - 76 }; // the last is for the duration next to a bar
}

/** @param {Span[]} spans @param {number} now */
function drawBars(spans, now) {
  const width = list.clientWidth;
  const { left, room } = sizes();
  const { seen, place, from, width: part } = zooming.view(spans, axis, now);
  const height = (seen.length + 1) * ROW_PIXELS;
  sheet.style.height = `${height}px`;
  const first = Math.max(0, Math.floor(list.scrollTop / ROW_PIXELS) - 5);
  const inView = seen.slice(first, first + Math.ceil(list.clientHeight / ROW_PIXELS) + 10);
  const x = (/** @type {number} */ at) => left + place(at) * room;
  const rows = inView.map((span, index) => rowOf(span, (first + index) * ROW_PIXELS, x, left, now));
  const pauses = axis.idle.filter(({ at }) => at > from && at <= from + part);
  const idle = pauses.slice(0, 200).map(({ at, seconds }) => {
    const title = svg("title", {}, `${duration(seconds)} without a call`);
    const x = left + ((at - from) / part) * room - 3;
    return svg("line", { x1: x, x2: x, y1: 0, y2: height, class: "idle" }, title);
  });
  const label = `${spans.length} spans in ${duration(axis.length / 1e3)}, without idle times`;
  const picture = svg("svg", { width, height, role: "img", "aria-label": label }, ...idle, ...rows);
  put(sheet, picture);
}

/** @param {Span} span @param {number} y @param {(at: number) => number} x @param {number} left @param {number} now */
function rowOf(span, y, x, left, now) {
  const [start, end] = [x(span.start), x(span.end ?? now)];
  const took = duration(((span.end ?? now) - span.start) / 1e3);
  const sign = span.kind === "question" ? "? " : "";
  const words = `${span.isError ? "✗ " : sign}${span.name}`;
  const letters = Math.floor(left / 8) - 1;
  const name = words.length > letters ? `${words.slice(0, letters - 1)}…` : words;
  const look = `${span.kind} ${span.isError ? "failed" : ""} ${span.end === undefined ? "open" : ""}`;
  const bar = { x: start, y: y + 5, width: Math.max(2, end - start), height: ROW_PIXELS - 10, rx: 2, class: look };
  const marks = span.marks.map(({ at, text }) =>
    svg("circle", { cx: x(at), cy: y + ROW_PIXELS / 2, r: 3, class: "mark" }, svg("title", {}, text)),
  );
  const title = svg("title", {}, `${NAMES[span.kind]} ${span.name}: ${took}${span.isError ? ", failed" : ""}`);
  const text = svg("text", { x: 12, y: y + 16 }, name);
  const time = svg("text", { x: Math.max(2, end - start) + start + 6, y: y + 16, class: "took" }, took);
  const row = svg("g", {}, title, text, svg("rect", bar), ...marks, time);
  row.addEventListener("click", () => zooming.showSpan(span, now));
  return row;
}

/** @param {number[]} times */
function histogram(times) {
  const bins = new Array(BINS).fill(0);
  for (const time of times) bins[Math.max(0, Math.min(BINS - 1, Math.floor(Math.log2(time / 0.1))))]++;
  const most = Math.max(...bins);
  const bars = bins.map((count, index) => {
    const height = count ? Math.max(2, (count / most) * 18) : 0;
    const range = `${duration(0.0001 * 2 ** index)} to ${duration(0.0001 * 2 ** (index + 1))}: ${count}`;
    return svg("rect", { x: index * 6, y: 18 - height, width: 5, height }, svg("title", {}, range));
  });
  const label = `Histogram of ${times.length} times`;
  return svg("svg", { width: BINS * 6, height: 18, class: "histogram", role: "img", "aria-label": label }, ...bars);
}

/** The table of latencies, and the sums of a run. @param {Span[]} spans */
function showFacts(spans) {
  const rows = latencies(spans).map(({ name, times, errors, p50, p99, most }) => {
    const numbers = [p50, p99, most].map((time) => make("td", {}, duration(time / 1e3)));
    const counts = [make("td", {}, times.length), make("td", { class: errors > 0 && "bad" }, errors)];
    return make("tr", {}, make("th", { scope: "row" }, name), ...counts, ...numbers, make("td", {}, histogram(times)));
  });
  const head = ["Name", "calls", "errors", "p50", "p99", "longest", "distribution"];
  const heads = make("tr", {}, ...head.map((one) => make("th", { scope: "col" }, one)));
  const table = make("table", { class: "numbers" }, make("thead", {}, heads), make("tbody", {}, ...rows.slice(0, 100)));
  const empty = make("p", { class: "empty" }, "No calls yet: make one, and its time is shown here.");
  put(facts, sumsOf(spans), rows.length ? make("div", { class: "wide", tabindex: 0 }, table) : empty);
}

/** Times by kind, tokens, and their cost. @param {Span[]} spans */
function sumsOf(spans) {
  const { read, written, cached } = recorded.tokens();
  const sums = Object.entries(NAMES).flatMap(([kind, name]) => {
    const found = spans.filter((span) => span.kind === kind && span.end !== undefined);
    const time = found.reduce((sum, span) => sum + (span.end ?? 0) - span.start, 0);
    return found.length ? [`${found.length} × ${name}, ${duration(time / 1e3)}`] : [];
  });
  if (!read && !written) return hint(sums.join(" · "));
  const cost = make("output", {});
  const prices = ["read", "written"].map((name) =>
    make("input", { type: "number", min: 0, step: "any", "aria-label": `Price of a million tokens ${name}` }),
  );
  const count = () => {
    const [one, other] = prices.map((price) => Number(price.value));
    put(cost, `cost ${((read * (one ?? 0) + written * (other ?? 0)) / 1e6).toFixed(6)}`);
  };
  for (const price of prices) price.addEventListener("input", count);
  const words = `${read} tokens read${cached ? ` (${cached} from a cache)` : ""}, ${written} written`;
  const label = hint("Price of a million tokens: read");
  const asked = make("span", { class: "controls" }, label, prices[0], hint("written"), prices[1], cost);
  return make("div", { class: "sums" }, hint([...sums, words].join(" · ")), asked);
}

/** @param {import("./api.js").PageEvent} event @param {boolean} live */
function add(event, live) {
  isLive = live;
  recorded.add(event, live);
  draw();
}

list.addEventListener("scroll", draw);
zooming.watch(list, draw, (x) => (x - sizes().left) / sizes().room);
new ResizeObserver(draw).observe(list);

export const time = { add, draw };
