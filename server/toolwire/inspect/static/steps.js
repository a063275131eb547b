// A run step by step: its events are gone through with keys, it is forked at one, and a result can be changed.
import { alerted, button, byId, fragment, hint, make, put } from "./dom.js";
import { member, parse, quoted, write } from "./json.js";

/** @typedef {{ node: HTMLElement, at: number }} Step The number of its record, from 0. */
/** @typedef {{ line: number | null, text: string }} RunRecord A line of the transcript; a run may have none. */

const [list, bar] = ["events", "step"].map(byId);
const shown = /** @type {Step[]} */ ([]);
const records = /** @type {RunRecord[]} */ ([]);
let chosen = -1;
let [file, isLive, servers] = ["", false, ""];

/** Adds an event of a run. @param {{ html: string, record?: RunRecord | null }} event */
function add({ html, record }) {
  if (record) records.push(record);
  const view = list.parentElement;
  const isAtEnd = view.scrollTop > view.scrollHeight - view.clientHeight - 50;
  for (const node of /** @type {HTMLElement[]} */ ([...fragment(html).children])) {
    const index = shown.push({ node, at: records.length - 1 }) - 1;
    node.addEventListener("click", () => choose(index));
    list.append(node);
  }
  if (isAtEnd && isLive) view.scrollTop = view.scrollHeight;
  if (record && chosen < 0) draw();
}

/** @param {number} wanted */
function choose(wanted) {
  shown[chosen]?.node.removeAttribute("aria-current");
  chosen = Math.max(0, Math.min(wanted, shown.length - 1));
  const node = shown[chosen]?.node;
  node?.setAttribute("aria-current", "step");
  node?.scrollIntoView({ block: "nearest" });
  draw();
}

function draw() {
  const step = shown[chosen];
  const record = step && records[step.at];
  const previous = button("← Previous", () => choose(chosen - 1));
  const next = button("Next →", () => choose(chosen + 1));
  const place = make("div", { class: "forking" });
  const fork = record && button("Fork here", () => forkAt(place, step.at));
  const isResult = record && member(parse(record.text), "type") === "CallFinished";
  const edit = step && isResult && button("Change the result", () => showChange(place, step.at));
  const words = step ? `step ${chosen + 1} of ${shown.length}` : `${shown.length} steps`;
  put(bar, previous, next, hint(words, record?.line && ` · line ${record.line}`), fork, edit, place);
}

/** Without a transcript, the run is saved first. @param {Element} place @param {number} at */
function forkAt(place, at) {
  const line = records[at]?.line;
  if (line) return showFork(place, file, line);
  download("run.jsonl", records.map(({ text }) => `${text}\n`));
  showFork(place, "run.jsonl", at + 1);
}

/**
 * The command that goes on from a line another way.
 * @param {Element} place @param {string} name @param {number} line
 */
function showFork(place, name, line) {
  const command = `toolwire ask --fork ${quoted(name)} --at ${line} ${servers}`;
  const copied = hint("Paste it in a terminal, which asks before a tool changes something: the page starts no model.");
  const copy = button("Copy", () => navigator.clipboard.writeText(command).then(() => put(copied, "Copied")));
  put(place, make("pre", {}, command), make("div", { class: "controls" }, copy, copied));
  copy.focus();
}

/** A field for another result of a call. @param {Element} place @param {number} at */
function showChange(place, at) {
  const event = parse(records[at]?.text ?? "null");
  const field = make("textarea", { class: "json", "aria-label": "Result as JSON" });
  field.value = write(event.result, 2);
  const said = make("div");
  const save = () => {
    try {
      const changed = { ...event, result: parse(field.value) };
      const name = (records[at]?.line ? file : "run").replace(/^.*[\\/]/, "").replace(/(\.jsonl)?$/, "-changed.jsonl");
      download(name, records.map(({ text }, index) => `${index === at ? write(changed) : text}\n`));
      showFork(said, name, at + 1); // the new file has this session only
    } catch (error) {
      put(said, alerted(error));
    }
  };
  put(place, field, make("div", { class: "controls" }, button("Save the changed run", save)), said);
  field.focus();
}

/** @param {string} name @param {string[]} parts */
function download(name, parts) {
  const href = URL.createObjectURL(new Blob(parts, { type: "application/x-ndjson" }));
  make("a", { href, download: name }).click();
}

list.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
  const by = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key];
  if (by === undefined || event.altKey || event.metaKey) return;
  event.preventDefault();
  choose(chosen + by);
});

/** @param {string} title @param {boolean} goesOn @param {string} words Those that name the servers of the run. */
const name = (title, goesOn, words) => ([file, isLive, servers] = [title, goesOn, words]);
export const steps = { add, name };
