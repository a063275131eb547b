// What the server is asked to do, and what comes of it, until its end: of a call, a reading, or a check.
import { get, stream } from "./api.js";
import { alerted, badge, button, fragment, make, put } from "./dom.js";
import { fieldsOf } from "./form.js";
import { bytes, duration, member, worded } from "./json.js";
import { resultOf } from "./results.js";

const MOST_LOGS = 500;
/** How it ended: a sign and a word, so that it is seen without colour. */
const OUTCOMES = { good: "✓ succeeded", bad: "✗ failed", muted: "– done" };

/**
 * Asks, unless the last time goes on; the value is the event of the result, if there is one.
 * @param {string} path @param {object} body @param {HTMLElement} output
 */
export async function run(path, body, output) {
  if (output.querySelector("progress")) return undefined;
  let result;
  const abort = new AbortController();
  const start = performance.now();
  const state = make("p", { class: "hint", role: "status" }, "Waiting…");
  const bar = make("progress", { "aria-label": "Progress" });
  const cancel = button("Cancel", () => abort.abort());
  const cards = make("div", { class: "output" });
  const working = make("div", { class: "output" }, bar, cancel, cards);
  const lines = make("ol");
  put(output, state, working, make("div", { class: "logs", role: "log", "aria-label": "Log" }, lines));
  output.scrollIntoView({ block: "nearest" });
  const remove = (/** @type {Element} */ one) => {
    if (one.contains(document.activeElement)) output.focus();
    one.remove();
  };
  const mark = (/** @type {string} */ how) => {
    output.dataset.state = how;
    output.dispatchEvent(new Event("state"));
  };
  /** @param {keyof typeof OUTCOMES} how @param {string} text @param {Node} [child] */
  const end = (how, text, child) => {
    remove(working);
    put(state, badge(OUTCOMES[how], how), ` ${text}`);
    output.append(child ?? "");
    mark(how);
  };
  mark("running");
  const takers = /** @type {Record<string, (event: any) => unknown>} */ ({
    progress({ progress, total, message }) {
      if (total) Object.assign(bar, { max: total, value: progress });
      put(state, progress, total && ` of ${total}`, message && ` · ${message}`);
    },
    log({ level, logger, data }) {
      const look = /debug|info|notice/.test(level) ? "muted" : level === "warning" ? "warn" : "bad";
      lines.append(make("li", {}, badge(level, look), " ", logger && `${logger}: `, worded(data)));
      if (lines.childElementCount > MOST_LOGS) lines.firstElementChild?.remove();
    },
    question(event) {
      const card = questionCard(event, remove);
      cards.append(card);
      if (output.parentElement?.contains(document.activeElement)) card.focus();
    },
    withdrawn: ({ question }) => cards.querySelectorAll(`[data-question="${CSS.escape(question)}"]`).forEach(remove),
    verdict({ number, total, verdict, html }) {
      takers.progress?.({ progress: number, total, message: verdict.case });
      if (/fail|warn/.test(verdict.outcome)) cards.append(fragment(html));
    },
    report: ({ html }) => end("muted", "Checked", fragment(html)),
    result(event) {
      const read = (/** @type {string} */ uri, /** @type {HTMLElement} */ place) => run("read", { uri }, place);
      const isBad = event.problems.length > 0 || member(event.result, "isError") === true;
      const text = `Result after ${duration(event.seconds)} · ${bytes(event.bytes)}`;
      end(isBad ? "bad" : "good", text, resultOf(event, read));
    },
    failure: ({ message }) => end("bad", "No result", alerted(message)),
  });
  try {
    for await (const event of stream(path, body, abort.signal)) {
      takers[event.type]?.(event);
      if (event.type === "result") result = event;
    }
    if (bar.isConnected) end("bad", "Ended without a result");
  } catch (error) {
    if (abort.signal.aborted) end("muted", `Cancelled after ${duration((performance.now() - start) / 1000)}`);
    else end("bad", "No result", alerted(error));
  }
  return result;
}

/** What a tool asks its user. @param {import("./api.js").Question} event @param {(card: Element) => void} remove */
function questionCard({ question, form, message }, remove) {
  const fields = fieldsOf(form);
  const answer = (/** @type {unknown} The fields, or what is done instead. */ given) =>
    get("answer", { question, answer: given }).then(
      () => remove(card),
      (error) => card.append(alerted(error)),
    );
  const decline = button("Decline", () => answer("decline"));
  const cancel = button("Cancel the question", () => answer("cancel"));
  const controls = make("div", { class: "controls" }, make("button", { class: "primary" }, "Accept"), decline, cancel);
  const submit = () => answer(fields.read());
  const attributes = { class: "asking", tabindex: -1, "aria-label": "Question", "data-question": question, submit };
  const card = make("form", attributes, make("p", { class: "text", role: "alert" }, message), fields.node, controls);
  return card;
}
