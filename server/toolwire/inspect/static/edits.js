// Edit, save, see: the page says what a save has done, and makes the last call again.
import { badge, button, byId, hint, make, put } from "./dom.js";
import { comparison, textOf } from "./compare.js";
import { member, write } from "./json.js";
import { run } from "./run.js";

/**
 * @typedef {{ number: number, names: string, problem: string, trace: string }} Edit
 * @typedef {{ path: string, given: object, result?: unknown }} Call The result is undefined until there is one.
 * @typedef {{ href: string, one: object, output?: HTMLElement, last?: Call | undefined }} Called An item of the list.
 */

const NAMES = /** @type {[string, string]} */ (["Before the save", "Now"]);

let seen = -1; // the number of the last edit that the page has shown
let latest = ""; // the address of the item that was called last

/**
 * Makes a call of an item, and keeps its result for the next save.
 * @param {Called} item @param {string} path @param {object} given
 */
export async function send(item, path, given) {
  const call = { path, given };
  latest = item.href;
  const event = item.output && (await run(path, given, item.output));
  if (event) item.last = { ...call, result: event.result };
  return event;
}

/** Calls again with the arguments of the last call, and shows both results. @param {Called} item */
async function repeat(item) {
  const { last, output } = item;
  if (!last || !output) return;
  const event = await send(item, last.path, last.given);
  if (event) output.append(comparison("Result", textOf(last.result), textOf(event.result), NAMES));
}

/**
 * Shows the last edit, and repeats the last call, if it only reads.
 * @param {Edit | null} edit @param {Called[]} items
 */
function take(edit, items) {
  showProblem(edit);
  const isNew = edit !== null && seen >= 0 && edit.number > seen;
  seen = edit?.number ?? 0;
  if (!isNew || edit.problem) return;
  const item = items.find((one) => one.href === latest);
  if (!item?.last || !item.output || item.output.querySelector("progress")) return;
  const isReading = item.last.path !== "call" || member(member(item.one, "annotations"), "readOnlyHint") === true;
  if (isReading) {
    repeat(item);
    return;
  }
  const again = button("Call again", () => repeat(item), { class: "primary" });
  const words = `${edit.names} has changed. This tool may do more than read, so it is not called by itself. `;
  item.output.querySelector(".changed")?.remove();
  item.output.prepend(make("div", { class: "changed asking", role: "status" }, make("p", {}, words), again));
}

/** @param {Edit | null} edit */
function showProblem(edit) {
  const place = byId("edit");
  place.hidden = !edit?.problem;
  if (!edit?.problem) return;
  const said = make("p", {}, badge("not loaded", "bad"), ` ${edit.problem}`);
  const still = make("p", {}, hint(`${edit.names} was saved with an error: the last good version answers.`));
  put(place, said, edit.trace && make("pre", {}, edit.trace), still);
}

/** How the definition of an item differs since its last change. @param {object} before @param {object} now */
export const definitionChange = (before, now) =>
  comparison("Definition", write(before, 2), write(now, 2), NAMES);

export const edits = { take };
