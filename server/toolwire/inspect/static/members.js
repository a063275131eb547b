// The members of an object or an array in a form: each with its name, its control and a button that removes it.
import { button, hint, make, put } from "./dom.js";
import { isObject } from "./json.js";
import { MOST_PARTS, nodeAt } from "./nodes.js";

/**
 * @import { Control, Maker, Propose } from "./form.js"
 * @typedef {{ key: string, value?: unknown, isSent: boolean }} Entry What is not sent shows the default.
 * @typedef {{ box: HTMLElement, name: HTMLInputElement, inner: Control, isSent: boolean }} Member
 */

const MOST_ITEMS = 200;
const LAST_MEMBER = ":scope > .field:nth-last-child(2) :is(input, select, textarea, .add)";
const FIRST_ADDER = ":scope > :last-child > .add";

/** @param {unknown} value @returns {unknown[]} */
const list = (value) => (Array.isArray(value) ? value : []);

/** @type {Maker} */
export function ofMembers(form, { control: kind, properties = {}, required, first = [], ...rest }, value) {
  const { other, isClosed, maxItems } = rest;
  const isArray = kind === "array";
  const known = new Map(Object.entries(properties).slice(0, MOST_PARTS / 20));
  const needed = new Set(required);
  const most = Math.min(Number(maxItems ?? MOST_ITEMS), isClosed ? first.length : MOST_ITEMS);
  const node = make("div", { class: "members", role: "group" });
  let members = /** @type {Member[]} */ ([]);
  const entries = () =>
    members.map(({ name, inner, isSent }) => ({ key: name.value, value: isSent ? inner.read() : undefined, isSent }));
  /** @param {Entry} entry @param {number} index @returns {Member} */
  const memberOf = ({ key, value: given, isSent }, index) => {
    const number = known.get(key) ?? first[index] ?? other;
    const one = nodeAt(form, number);
    const isNeeded = needed.has(key);
    const inner = form.draw({ ...form, depth: form.depth + 1 }, number, given, isNeeded);
    const label = isArray ? `Item ${index + 1}` : known.has(key) ? one?.title || key || '""' : "";
    const about = one?.description;
    const field = inner.field ?? inner.node;
    field.id ||= crypto.randomUUID();
    field.ariaLabel = label || "Value";
    field.ariaDescription = about ?? "";
    const name = make("input", { "aria-label": "Name", required: true });
    name.value = key;
    name.addEventListener("input", () => {
      const isTaken = members.some((member) => member.name !== name && member.name.value === name.value);
      name.setCustomValidity(isTaken ? "Another entry has this name." : "");
    });
    const remove = button("×", () => edit(entries().toSpliced(index, 1), FIRST_ADDER), { class: "quiet" });
    remove.ariaLabel = `Remove ${label || key}`;
    const shown = label ? make("label", { for: field.id, class: isNeeded && "needed" }, label) : name;
    const code = !isArray && label && key !== label && make("code", {}, key);
    const head = make("div", { class: "head" }, shown, code, hint(one?.hint ?? "any"), !isNeeded && remove);
    const proposed = field instanceof HTMLInputElement && proposals(field, key, form.propose);
    const parts = [head, about && make("p", { class: "description" }, about), inner.node, proposed];
    const box = make("div", { class: isSent ? "field" : "field untouched" }, ...parts);
    const member = { box, name, inner, isSent };
    inner.node.addEventListener("input", () => {
      member.isSent = true;
      box.classList.remove("untouched");
    });
    return member;
  };
  const draw = (/** @type {Entry[]} */ next) => {
    members = next.map(memberOf);
    const absent = [...known.keys()].filter((name) => !next.some(({ key }) => key === name));
    form.counts.left -= absent.length;
    const adders = absent.concat(next.length < most ? [""] : []).map((name) => {
      const add = () => edit([...entries(), { key: name, isSent: true }], LAST_MEMBER);
      return button(`Add ${name || "item"}`, add, { class: "add" });
    });
    put(node, ...members.map(({ box }) => box), make("div", { class: "controls" }, ...adders));
    return absent;
  };
  /** @param {Entry[]} next @param {string} focused */
  const edit = (next, focused) => {
    form.counts.left = MOST_PARTS;
    draw(next);
    node.dispatchEvent(new Event("input", { bubbles: true }));
    /** @type {HTMLElement | null} */ (node.querySelector(focused))?.focus();
  };
  const begins = [...known].filter(([name, at]) => needed.has(name) || (nodeAt(form, at)?.default ?? null) !== null);
  const fresh = begins.map(([key]) => ({ key, isSent: needed.has(key) }));
  const given = Object.entries(isArray ? list(value) : isObject(value) ? value : {}).slice(0, MOST_ITEMS);
  const whole = given.map(([key, each]) => ({ key, value: each, isSent: true }));
  const absent = draw(value === undefined ? fresh : whole);
  form.counts.misfits += absent.filter((name) => needed.has(name)).length;
  const sent = () => entries().filter(({ isSent }) => isSent);
  if (isArray) return { node, read: () => sent().map((one) => one.value) };
  return { node, read: () => Object.fromEntries(sent().map((one) => [one.key, one.value])) };
}

/** @param {HTMLInputElement} node @param {string} name @param {Propose | undefined} propose */
function proposals(node, name, propose) {
  if (!propose) return null;
  const proposed = make("datalist", { id: crypto.randomUUID() });
  const ask = async () => {
    const { value } = node;
    await new Promise((later) => setTimeout(later, 150)); // while a user types on
    const values = node.value === value ? await propose(name, value).catch(() => []) : [];
    if (node.value === value) put(proposed, ...values.slice(0, 100).map((each) => make("option", { value: each })));
  };
  node.setAttribute("list", proposed.id);
  for (const type of ["focus", "input"]) node.addEventListener(type, ask);
  return proposed;
}
