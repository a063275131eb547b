// What the server is asked to do, and what comes of it, until its end: of a call, a reading, or a check.
import { get, stream } from "./api.js";
import { alerted, badge, button, formOf, fragment, make, put } from "./dom.js";
import { fieldsOf } from "./form.js";
import { bytes, duration, worded } from "./json.js";

const MOST_LOGS = 500;

/** Asks, unless the last time goes on. @param {string} path @param {object} body @param {HTMLElement} output */
export async function run(path, body, output) {
  if (output.querySelector("progress")) return;
  const abort = new AbortController();
  const start = performance.now();
  const state = make("p", { class: "hint", role: "status" }, "Waiting…");
  const bar = make("progress", { "aria-label": "Progress" });
  const cancel = button("Cancel", () => abort.abort());
  const cards = make("div", { class: "output", "aria-live": "assertive" });
  const logs = make("ol", { class: "logs", role: "log", "aria-label": "Log" });
  put(output, state, bar, cancel, cards, logs);
  /** @param {string} text @param {Node} [child] */
  const end = (text, child) => {
    if (output.contains(document.activeElement)) output.focus();
    put(state, text);
    put(output, state, logs, child);
  };
  /** @type {Record<string, (event: any) => unknown>} */
  const takers = {
    progress({ progress, total, message }) {
      if (total) Object.assign(bar, { max: total, value: progress });
      put(state, progress, total && ` of ${total}`, message && ` · ${message}`);
    },
    log({ level, logger, data }) {
      const look = /debug|info|notice/.test(level) ? "muted" : level === "warning" ? "warn" : "bad";
      logs.append(make("li", {}, badge(level, look), " ", logger && `${logger}: `, worded(data)));
      if (logs.childElementCount > MOST_LOGS) logs.firstElementChild?.remove();
      logs.scrollTop = logs.scrollHeight;
    },
    question(event) {
      const card = questionCard(event);
      cards.append(card);
      if (output.parentElement?.contains(document.activeElement)) card.focus();
    },
    withdrawn: ({ question }) => cards.querySelector(`[data-question="${CSS.escape(question)}"]`)?.remove(),
    verdict({ number, total, verdict, html }) {
      takers.progress?.({ progress: number, total, message: verdict.case });
      if (/fail|warn/.test(verdict.outcome)) cards.append(fragment(html));
    },
    report: ({ html }) => end("Checked", fragment(html)),
    result: (event) => end(`Result after ${duration(event.seconds)} · ${bytes(event.bytes)}`, fragment(event.html)),
    failure: ({ message, code }) => end("Failed", alerted(code ? `${message} (${code})` : message)),
  };
  try {
    for await (const event of stream(path, body, abort.signal)) takers[event.type]?.(event);
    if (bar.isConnected) end("Ended without a result");
  } catch (error) {
    if (abort.signal.aborted) end(`Cancelled after ${duration((performance.now() - start) / 1000)}`);
    else end("Failed", alerted(error));
  }
}

/** What a tool asks its user. @param {import("./api.js").Question} event */
function questionCard({ question, schema, message }) {
  const fields = fieldsOf(schema ?? {});
  const answer = (/** @type {unknown} The fields, or what is done instead. */ given) =>
    get("answer", { question, answer: given }).then(
      () => card.remove(),
      (error) => card.append(alerted(error)),
    );
  const accept = make("button", { class: "primary" }, "Accept");
  const decline = button("Decline", () => answer("decline"));
  const cancel = button("Cancel the question", () => answer("cancel"));
  const text = make("p", { class: "text" }, message);
  const controls = make("div", { class: "controls" }, accept, decline, cancel);
  const attributes = { class: "asking", tabindex: -1, "data-question": question };
  const card = formOf(attributes, () => answer(fields.read()), text, fields.node, controls);
  return card;
}
