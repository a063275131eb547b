// What a model reads of a tool: its name, description and input schema, with findings underlined where they are, and
// how many tokens that takes.
import { hint, make, put, visible } from "./dom.js";
import { isObject, member, write } from "./json.js";

/**
 * @import { Finding } from "./api.js"
 * @import { Item } from "./tools.js"
 */

const READ = ["name", "description", "inputSchema"];
const MOST_BARS = 500;
const MOST_LINES = 3000;

/** What hosts send to a model. @param {object} one */
const readBy = (one) =>
  Object.fromEntries(READ.flatMap((name) => (Object.hasOwn(one, name) ? [[name, member(one, name)]] : [])));

/** The value at a path such as inputSchema.properties["a b"]. @param {unknown} value @param {string} path */
function valueAt(value, path) {
  let place = value;
  for (const [step, quoted] of path.matchAll(/[^.[\]"]+|"((?:[^"\\]|\\.)*)"/g)) {
    const name = quoted ?? step;
    const next = Array.isArray(place) ? place[Number(name)] : member(place, name);
    if (next === undefined) return place;
    place = next;
  }
  return place;
}

/** The names in an object, at any depth, that a text mentions. @param {unknown} value @param {string} text */
function mentions(value, text, found = /** @type {Set<string>} */ (new Set())) {
  if (Array.isArray(value)) for (const each of value) mentions(each, text, found);
  if (!isObject(value)) return found;
  for (const [name, each] of Object.entries(value)) {
    if (name && text.split(/[^\p{L}\p{N}_$-]+/u).includes(name)) found.add(name);
    mentions(each, text, found);
  }
  return found;
}

/** @param {string} text @param {Finding[]} findings */
function underlined(text, findings) {
  const says = findings.map(({ problem, remedy, concerns }) => `${problem} (${concerns}); ${remedy}`).join("\n");
  const worst = findings.some(({ severity }) => severity === "error") ? "error" : "note";
  return make("mark", { class: `lint ${worst}`, title: says, tabindex: 0, "aria-description": says }, text);
}

/** @param {Item} item */
function textOf({ one, findings }) {
  const read = readBy(one);
  const places = findings.map((finding) => {
    const value = valueAt(read, finding.where);
    const names = mentions(value, finding.problem);
    return { value, names, finding };
  });
  const pre = make("pre", { class: "model" });
  let lines = 0;
  /** @param {unknown} value @param {string} indent @param {Finding[]} open Those of the object that names a member. */
  const append = (value, indent, open) => {
    const inside = [...open, ...places.filter((place) => place.value === value).map(({ finding }) => finding)];
    const members = isObject(value) || Array.isArray(value) ? Object.entries(value) : [];
    if (!members.length || lines > MOST_LINES) {
      pre.append(members.length ? "…" : visible(write(value)));
      return;
    }
    const [start, end] = Array.isArray(value) ? "[]" : "{}";
    pre.append(`${start}\n`);
    for (const [index, [name, each]] of members.entries()) {
      lines++;
      pre.append(`${indent}  `);
      const named = inside.filter((finding) => namesOf(finding).has(name));
      const whole = places.filter((place) => place.value === each && !place.names.size && isTree(each));
      const marked = [...named, ...whole.map(({ finding }) => finding)];
      const key = visible(write(name));
      if (!Array.isArray(value)) pre.append(marked.length ? underlined(key, marked) : key, ": ");
      append(each, `${indent}  `, inside);
      pre.append(index < members.length - 1 ? ",\n" : "\n");
    }
    pre.append(`${indent}${end ?? ""}`);
  };
  const isTree = (/** @type {unknown} */ value) => typeof value === "object" || typeof value === "string";
  const namesOf = (/** @type {Finding} */ finding) =>
    places.find((place) => place.finding === finding)?.names ?? new Set();
  append(read, "", []);
  return pre;
}

/** @param {Item[]} tools @param {Item} chosen */
function barsOf(tools, chosen) {
  const sorted = tools.toSorted((one, other) => other.tokens - one.tokens).slice(0, MOST_BARS);
  const max = Math.max(1, sorted[0]?.tokens ?? 1);
  const rows = sorted.map(({ href, one, tokens }) => {
    const name = make("a", { href, "aria-current": href === chosen.href && "true" }, visible(one.name, 100));
    const bar = make("meter", { min: 0, max, value: tokens, "aria-label": `Tokens of ${one.name}` });
    return make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, bar), make("td", {}, tokens));
  });
  return make("table", { class: "tokens" }, make("caption", {}, "Tokens of each tool"), make("tbody", {}, ...rows));
}

/** @param {Item} item @param {() => Item[]} all */
export function modelPanel(item, all) {
  const place = make("div", { class: "output" });
  const draw = () => {
    const tools = all().filter(({ kind }) => kind === "tool");
    const sum = tools.reduce((total, { tokens }) => total + tokens, 0);
    const share = `About ${item.tokens} tokens of ${sum} that the list of ${tools.length} takes.`;
    const bars = make("details", { open: tools.length <= 20 }, make("summary", {}, "Tokens of each tool"));
    bars.append(barsOf(tools, item));
    const marks = item.findings.length > 0 && hint("Underlined: findings of the check of the list.");
    put(place, make("p", {}, share), marks, textOf(item), bars);
  };
  new IntersectionObserver(([seen]) => seen?.isIntersecting && draw()).observe(place);
  place.append(" ");
  return place;
}
