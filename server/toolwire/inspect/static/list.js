// The list of tools, resources and prompts: searched, sorted and in groups. Marks say what runs, and how it ended.
import { byId, hint, make, put, visible } from "./dom.js";
import { member, write } from "./json.js";

/**
 * @import { Unlisted } from "./api.js"
 * @import { Item } from "./tools.js"
 * @typedef {{ texts: [string, number][], text: string }} Words Texts with how much a match counts, and all of them.
 */

const MOST_LISTED = 500;
const MOST_UNGROUPED = 12; // items that are seen at once: no group, no order to choose
const LEAST_GROUP = 3;
const MARKS = /** @type {Record<string, [string, string]>} */ ({
  running: ["⋯", "running"],
  good: ["✓", "succeeded"],
  bad: ["✗", "failed"],
  muted: ["–", "cancelled"],
});

const [search, server, order, list] = ["search", "server", "order", "list"].map(byId);
/** @type {WeakMap<Item, Words>} */
const known = new WeakMap();
/** The groups that the user has opened or closed. @type {Map<string, boolean>} */
const openings = new Map();
let items = /** @type {Item[]} */ ([]);
let unlisted = /** @type {Unlisted[]} */ ([]);
let chosen = "";

/** @param {Item} item @returns {Words} */
function wordsOf(item) {
  const found = known.get(item);
  if (found) return found;
  const { name, title, description } = item.one;
  const parameters = member(member(item.one, "inputSchema"), "properties") ?? member(item.one, "arguments");
  const parts = [name, title, description, parameters && write(parameters)];
  const weights = [8, 6, 4, 1];
  const texts = parts.map((part, index) => /** @type {[string, number]} */ ([
    String(part ?? "").toLowerCase(),
    weights[index] ?? 1,
  ]));
  const made = { texts, text: texts.map(([text]) => text).join("\n") };
  known.set(item, made);
  return made;
}

/** How well an item fits all of the words; 0 if it does not. @param {Item} item @param {string[]} words */
function scoreOf(item, words) {
  const { texts, text } = wordsOf(item);
  if (!words.every((word) => text.includes(word))) return 0;
  let score = 1;
  for (const word of words) {
    for (const [part, weight] of texts) {
      const at = part.indexOf(word);
      if (at < 0) continue;
      const isStart = at === 0 || /[^\p{L}\p{N}]/u.test(part[at - 1] ?? "");
      score += weight * (part === word ? 4 : isStart ? 2 : 1);
    }
  }
  return score;
}

/** The items to show, in order. @param {Item[]} all */
function found(all) {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length) {
    const scored = all.map((item) => ({ item, score: scoreOf(item, words) })).filter(({ score }) => score > 0);
    return scored.sort((one, other) => other.score - one.score).map(({ item }) => item);
  }
  if (order.value === "name") return all.toSorted((one, other) => one.one.name.localeCompare(other.one.name));
  if (order.value === "tokens") return all.toSorted((one, other) => other.tokens - one.tokens);
  if (order.value === "findings") return all.toSorted((one, other) => other.findings.length - one.findings.length);
  return all;
}

/** The first word of a name, which often is its server or its toolkit. @param {Item} item */
const prefixOf = ({ one }) => /^([^\s_./:-]+)[_./:-]+./.exec(one.name)?.[1] ?? "";

/** Rows, those with a common prefix in groups that open and close. @param {Item[]} shown @param {string} kind */
function grouped(shown, kind) {
  const isFlat = shown.length <= MOST_UNGROUPED || search.value.trim() || order.value !== "listed";
  if (isFlat) return shown.map(rowOf);
  const groups = Map.groupBy(shown, prefixOf);
  const singles = shown.filter((item) => (groups.get(prefixOf(item))?.length ?? 0) < LEAST_GROUP || !prefixOf(item));
  const large = [...groups].filter(([prefix, members]) => prefix && members.length >= LEAST_GROUP);
  if (large.length < 2 && !singles.length) return shown.map(rowOf);
  const folds = large.map(([prefix, members]) => {
    const key = `${kind} ${prefix}`;
    const hasChosen = members.some(({ href }) => href === chosen);
    const open = openings.get(key) ?? (hasChosen || shown.length <= 40);
    const rows = open ? members.map(rowOf) : [];
    const summary = make("summary", {}, visible(prefix, 100), " ", hint(members.length));
    const fold = make("details", { open }, summary, ...rows);
    fold.addEventListener("toggle", () => {
      if (fold.open && fold.childElementCount === 1) fold.append(...members.map(rowOf));
      if (fold.open !== open) openings.set(key, fold.open);
    });
    return fold;
  });
  return [...folds, ...singles.map(rowOf)];
}

/** @param {Item} item */
function rowOf({ href, one, findings, output }) {
  const state = output?.dataset.state ?? "";
  const [sign, says] = MARKS[state] ?? [];
  const look = { class: `mark ${state}`, title: says, role: "img", "aria-label": says };
  const mark = sign && make("span", look, sign);
  const words = findings.length === 1 ? "1 finding" : `${findings.length} findings`;
  const count = findings.length > 0 && make("span", { class: "finding", title: words }, `△ ${findings.length}`);
  const name = make("b", {}, visible(one.name, 200));
  const about = make("small", {}, visible(one.title ?? one.description ?? "", 200));
  const marks = make("span", { class: "marks" }, mark, count);
  return make("a", { href, class: "listed", "aria-current": href === chosen && "page" }, name, marks, about);
}

/** @param {Item[]} all @param {string} current The address of the chosen one. @param {string | null} [focused] */
export function drawList(all, current, focused = document.activeElement?.getAttribute("href")) {
  [items, chosen] = [all, current];
  const place = list.parentElement.scrollTop;
  order.hidden = items.length <= MOST_UNGROUPED;
  const drawn = [...new Set(items.map((item) => item.kind))].flatMap((kind) => {
    const here = items.filter((item) => item.kind === kind && (!server.value || item.server === server.value));
    const matches = found(here);
    const hidden = Math.max(0, matches.length - MOST_LISTED);
    const more = hidden > 0 && make("p", { class: "hint" }, `${hidden} more: search for them`);
    const heading = make("h2", {}, `${kind}s `, hint(matches.length));
    return [heading, ...grouped(matches.slice(0, MOST_LISTED), kind), more];
  });
  const shown = unlisted.filter(({ prefix }) => !server.value || prefix === server.value);
  const missing = shown.map(({ prefix, problem }) => {
    const says = problem ? `✗ ${problem}` : `⋯ the mounted server ${prefix} is starting`;
    return make("p", { class: problem ? "unlisted bad" : "unlisted" }, visible(says, 500));
  });
  put(list, ...missing, ...drawn, !drawn.length && make("p", { class: "empty" }, "No tools, resources or prompts."));
  list.parentElement.scrollTop = place;
  for (const row of list.querySelectorAll("a")) if (row.getAttribute("href") === focused) row.focus();
}

/**
 * The servers of which one can be chosen, by the beginnings of the names of their tools.
 * @param {string[]} names @param {Unlisted[]} missing
 */
export function showServers(names, missing) {
  const now = server.value;
  unlisted = missing;
  server.hidden = names.length < 2;
  const options = names.map((name) => {
    const one = missing.find(({ prefix }) => prefix === name);
    return make("option", { value: name }, name.replace(/_$/, ""), one && (one.problem ? " – failed" : " – starting"));
  });
  put(server, make("option", { value: "" }, `all ${names.length} servers`), ...options);
  server.value = names.includes(now) ? now : "";
}

export const redraw = () => drawList(items, chosen);

for (const control of [search, server, order]) control.addEventListener("input", redraw);
byId("aside").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
  if (event.target instanceof HTMLSelectElement) return;
  const stops = [search, ...list.querySelectorAll("a, summary")].filter((stop) => stop.checkVisibility());
  const here = stops.indexOf(document.activeElement);
  const to = event.key === "ArrowDown" ? stops[here + 1] : event.key === "ArrowUp" ? stops[here - 1] : undefined;
  if (!to) return;
  event.preventDefault();
  to.focus();
});
