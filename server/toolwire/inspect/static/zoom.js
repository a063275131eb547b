// Which part of the time axis is shown: all of it, or what buttons, keys, Ctrl with the wheel or a click chose.
import { button, byId, hint, put } from "./dom.js";
import { clock } from "./json.js";

/**
 * @import { Axis, Span } from "./spans.js"
 * @typedef {{ start: number, end: number }} Part Times in milliseconds: the axis of a live page grows.
 */

const LEAST_MILLISECONDS = 0.1;
const STEPS = /** @type {Record<string, () => void>} */ ({
  "+": () => zoom(0.5),
  "=": () => zoom(0.5), // the same key without Shift
  "-": () => zoom(2),
  0: showAll,
  ArrowLeft: () => move(-0.25),
  ArrowRight: () => move(0.25),
});

let shown = /** @type {Part | undefined} */ (undefined); // all of it
let axis = /** @type {Axis | undefined} */ (undefined);
let redraw = () => {};
const counted = hint();
const all = button("All", showAll);
put(byId("zoom"), button("Zoom in", () => zoom(0.5)), button("Zoom out", () => zoom(2)), all, counted);

/** The places on the axis between which it is shown. @returns {[number, number]} */
function places() {
  if (!shown || !axis) return [0, 1];
  return [axis.place(shown.start), axis.place(shown.end)];
}

/** Shows what is between two places of the axis. @param {number} from @param {number} to */
function show(from, to) {
  if (!axis) return;
  if (from <= 0 && to >= 1) return showAll();
  const part = { start: axis.timeAt(Math.max(0, from)), end: axis.timeAt(Math.min(1, to)) };
  if (part.end - part.start >= LEAST_MILLISECONDS) shown = part;
  redraw();
}

function showAll() {
  shown = undefined;
  redraw();
}

/** @param {number} by Less than 1 shows less. @param {number} [at] What stays where it is: from 0, left, to 1. */
function zoom(by, at = 0.5) {
  const [from, to] = places();
  const still = from + at * (to - from);
  show(still - (still - from) * by, still + (to - still) * by);
}

/** @param {number} by In widths of what is shown. */
function move(by) {
  const [from, to] = places();
  const wanted = by * (to - from);
  const step = Math.max(-from, Math.min(wanted, 1 - to)); // stops at the ends
  if (shown) show(from + step, to + step);
}

/** Shows a span, and a little of what is around it. @param {Span} span @param {number} now */
function showSpan(span, now) {
  if (!axis) return;
  const [from, to] = [axis.place(span.start), axis.place(span.end ?? now)];
  const margin = (to - from) / 10;
  show(from - margin, to + margin);
}

/**
 * The spans of what is shown, and where a time is in it: from 0 to 1, also for what starts before or ends after.
 * @param {Span[]} spans @param {Axis} drawn @param {number} now The end of open spans.
 */
function view(spans, drawn, now) {
  axis = drawn;
  const { start, end } = shown ?? { start: -Infinity, end: Infinity };
  const seen = shown ? spans.filter((span) => span.start < end && (span.end ?? now) > start) : spans;
  const [from, to] = places();
  const width = Math.max(Number.EPSILON, to - from);
  const place = (/** @type {number} */ at) => Math.max(0, Math.min(1, (drawn.place(at) - from) / width));
  all.disabled = !shown;
  put(counted, shown && `${seen.length} of ${spans.length} spans, ${clock(start)} to ${clock(end)}`);
  return { seen, place, from, width };
}

/**
 * Takes the keys and the wheel of a list. @param {HTMLElement} list @param {() => void} draw
 * @param {(x: number) => number} placeOf Where, from 0 to 1, so many pixels from the left of the list are.
 */
function watch(list, draw, placeOf) {
  redraw = draw;
  list.addEventListener("keydown", (event) => {
    const step = event.ctrlKey || event.metaKey || event.altKey ? undefined : STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    step();
  });
  const turn = (/** @type {WheelEvent} */ event) => {
    if (!event.ctrlKey) return; // the list scrolls
    event.preventDefault();
    zoom(2 ** (event.deltaY / 200), placeOf(event.clientX - list.getBoundingClientRect().left));
  };
  list.addEventListener("wheel", turn, { passive: false });
}

export const zooming = { view, showSpan, watch };
