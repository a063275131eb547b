// Every call that was made, with its arguments, its result and its time; and those that have a name.
import { get } from "./api.js";
import { comparison, textOf } from "./compare.js";
import { alerted, badge, button, byId, fragment, hint, make, put, tree } from "./dom.js";
import { bytes, duration, quoted, write } from "./json.js";
import { tools } from "./tools.js";

/**
 * @typedef {Record<string, unknown>} Arguments
 * @typedef {{ id: number, tool: string, at: string, seconds: number, outcome: string, size: number, isPinned: boolean,
 *   arguments: Arguments | null }} Row Long arguments are left out.
 * @typedef {{ name: string, tool: string, arguments: Arguments }} Saved
 * @typedef {{ saved: Saved[], calls: Row[], file: string, problem: string }} Listed
 * @typedef {{ html: string, result: unknown, arguments: Arguments, message: string }} Past
 */

const LOOKS = /** @type {Record<string, [string, string]>} */ ({
  success: ["✓ success", "good"],
  error: ["✗ error", "bad"],
  failure: ["✗ failed", "bad"],
  cancelled: ["– cancelled", "muted"],
});
const [list, detail] = ["past", "call"].map(byId);

let listed = /** @type {Listed} */ ({ saved: [], calls: [], file: "", problem: "" });
let chosen = ""; // the key of a row

const clock = (/** @type {string} */ at) => new Date(at).toLocaleTimeString("en-GB");
/** @param {Arguments | null} given */
const inShort = (given) => (given ? write(given).slice(0, 200) : "long arguments");

/** Reads the list again. */
async function load() {
  listed = /** @type {Listed} */ (await get("history", {}));
  draw();
}

function draw() {
  const pinned = listed.calls.filter((call) => call.isPinned);
  const others = listed.calls.filter((call) => !call.isPinned);
  const parts = [
    listed.problem && alerted(listed.problem),
    ...section("Saved", listed.saved.map(savedRow)),
    ...section("Pinned", pinned.map(rowOf)),
    ...section("Calls", others.map(rowOf)),
  ];
  const isFocused = list.contains(document.activeElement);
  put(list, ...parts, !list.length && !listed.saved.length && !listed.calls.length && EMPTY());
  const current = list.querySelector("[aria-current]");
  if (isFocused) current?.focus();
}

const EMPTY = () => make("p", { class: "empty" }, "No calls yet: make one, and it is kept here.");

/** @param {string} title @param {HTMLElement[]} rows */
const section = (title, rows) => (rows.length ? [make("h2", {}, `${title} `, hint(rows.length)), ...rows] : []);

/** @param {string} key @param {() => unknown} show @param {...import("./dom.js").Child} children */
function row(key, show, ...children) {
  const click = () => {
    chosen = key;
    for (const one of list.querySelectorAll("[aria-current]")) one.removeAttribute("aria-current");
    node.ariaCurrent = "true";
    byId("history").classList.add("open");
    Promise.resolve(show()).catch((error) => put(detail, alerted(error)));
  };
  const node = button(null, click, { class: "listed", "aria-current": chosen === key && "true" });
  put(node, ...children);
  return node;
}

/** @param {Row} call */
function rowOf(call) {
  const [word, look] = LOOKS[call.outcome] ?? [call.outcome, "muted"];
  const about = make("small", {}, `${clock(call.at)} · ${duration(call.seconds)} · ${inShort(call.arguments)}`);
  return row(`call ${call.id}`, () => showCall(call), make("b", {}, call.tool), badge(word, look), about);
}

/** @param {Saved} saved */
function savedRow(saved) {
  const about = make("small", {}, `${saved.tool} · ${inShort(saved.arguments)}`);
  return row(`saved ${saved.name}`, () => showSaved(saved), make("b", {}, saved.name), about);
}

/** Buttons that make a call again. @param {string} tool @param {Arguments} given */
function senders(tool, given) {
  const send = (/** @type {boolean} */ isSent) => {
    if (!tools.recall(tool, given, isSent)) detail.append(alerted(`The server does not have the tool ${tool}.`));
  };
  return [
    button("Send again", () => send(true), { class: "primary" }),
    button("Edit and send", () => send(false)),
  ];
}
const back = () => button("← All", () => byId("history").classList.remove("open"), { class: "back" });

/** Does what changes the list, and says why it could not. @param {string} path @param {object} body */
const change = (path, body) => get(path, body).then(load, (error) => detail.append(alerted(error)));

/** @param {Row} call */
async function showCall(call) {
  const past = /** @type {Past} */ (await get("past", { id: call.id }));
  if (chosen !== `call ${call.id}`) return;
  const [word, look] = LOOKS[call.outcome] ?? [call.outcome, "muted"];
  const head = make("h2", { tabindex: -1 }, call.tool, " ", badge(word, look));
  const at = new Date(call.at).toLocaleString("en-GB");
  const facts = hint(`${at} · ${duration(call.seconds)} · ${bytes(call.size)}`);
  const pin = button(call.isPinned ? "Unpin" : "Pin", async () => {
    await change("pin", { id: call.id, pinned: !call.isPinned });
    const fresh = listed.calls.find((one) => one.id === call.id);
    if (fresh) await showCall(fresh);
    detail.focus();
  });
  const name = make("input", { required: true, maxlength: 200, "aria-label": "Name", placeholder: "Name" });
  const save = () => change("keep", { id: call.id, name: name.value });
  const naming = make("form", { class: "controls", submit: save }, name, make("button", {}, "Save"));
  const controls = make("div", { class: "controls" }, ...senders(call.tool, past.arguments), pin);
  const shown = past.message ? alerted(past.message) : fragment(past.html);
  const before = listed.calls.find((one) => one.tool === call.tool && one.id < call.id);
  const place = make("div");
  const compare =
    before && button(`Compare with the call at ${clock(before.at)}`, () => compareWith(before, past, place));
  const where = hint(`Saved calls are in ${listed.file}.`);
  const parts = [tree(past.arguments), controls, naming, where, make("h3", {}, "Result"), shown, compare, place];
  put(detail, back(), head, facts, make("h3", {}, "Arguments"), ...parts);
}

/** @param {Row} before @param {Past} now @param {HTMLElement} place */
async function compareWith(before, now, place) {
  const past = /** @type {Past} */ (await get("past", { id: before.id }));
  const names = /** @type {[string, string]} */ ([`At ${clock(before.at)}`, "This call"]);
  const given = comparison("Arguments", write(past.arguments, 2), write(now.arguments, 2), names);
  const [one, other] = [past, now].map(({ message, result }) => message || textOf(result));
  put(place, given, comparison("Result", one ?? "", other ?? "", names));
}

/** @param {Saved} saved */
function showSaved(saved) {
  const remove = button("Remove", () => {
    put(detail, EMPTY());
    change("forget", { name: saved.name });
  });
  const controls = make("div", { class: "controls" }, ...senders(saved.tool, saved.arguments), remove);
  const command = make("pre", {}, `toolwire call --saved ${quoted(saved.name)}`);
  const head = [make("h2", { tabindex: -1 }, saved.name), hint(saved.tool), make("h3", {}, "Arguments")];
  put(detail, back(), ...head, tree(saved.arguments), controls, make("h3", {}, "In a terminal"), command);
}

list.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
  const rows = [...list.querySelectorAll(".listed")];
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const to = by && rows[rows.indexOf(document.activeElement) + by];
  if (!to) return;
  event.preventDefault();
  to.focus();
  to.click();
});

export const history = { load };
