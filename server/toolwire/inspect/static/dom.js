// Elements, made so that nothing a server says becomes markup.
import { reason } from "./api.js";
import { isNumber, write } from "./json.js";

// Controls, invisible characters and those that turn text around; tabs, line ends and the joiners of emoji stay.
const UNSEEN =
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, unknown>} Attributes A function is a listener. */

/** Text as a person may see it: unseen characters as escapes, a long one cut. @param {string} text */
export function visible(text, longest = 20_000) {
  const cut = text.length > longest ? `${text.slice(0, longest)}… ${text.length - longest} more characters` : text;
  return cut.replace(/\r\n/g, "\n").replace(UNSEEN, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`);
}

/**
 * An element with attributes, of which undefined and false are left out, and children.
 * @template {keyof HTMLElementTagNameMap} Name @param {Name} name @param {Attributes} [attributes] @param {...Child} children
 */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, /** @type {EventListener} */ (value));
    else if (value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : visible(String(value)));
  }
  put(element, ...children);
  return element;
}

/** Replaces what is in an element. @param {Element} element @param {...Child} children */
export function put(element, ...children) {
  const kept = children.filter((child) => child !== null && child !== undefined && child !== false);
  element.replaceChildren(...kept.map((child) => (child instanceof Node ? child : visible(String(child)))));
}

/** The markup that our own server made and escaped: the only text that becomes markup. @param {string} html */
export function fragment(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

/** @param {Child} text @param {(event: any) => unknown} click @param {Attributes} [attributes] @param {...Child} more */
export const button = (text, click, attributes = {}, ...more) => make("button", { type: "button", click, ...attributes }, text, ...more);
/** @param {string} text @param {"good" | "warn" | "bad" | "muted"} [look] */
export const badge = (text, look = "muted") => make("span", { class: `badge ${look}` }, text);
/** @param {...Child} children */
export const hint = (...children) => make("span", { class: "hint" }, ...children);
/** @param {...Child} children */
export const controls = (...children) => make("div", { class: "controls" }, ...children);
/** @param {unknown} error */
export const alerted = (error) => make("p", { class: "bad", role: "alert" }, typeof error === "string" ? error : reason(error));
/** A form whose submission does something. @param {Attributes} attributes @param {() => unknown} act @param {...Child} children */
export const formOf = (attributes, act, ...children) => make("form", { ...attributes, submit: (/** @type {Event} */ event) => {
  event.preventDefault();
  act();
} }, ...children);
/** The element of an id that index.html has. @param {string} id @returns {any} */
export const byId = (id) => document.getElementById(id);

let made = 0;
/** An id that no other element has. */
export const unique = () => `made-${++made}`;

/** A value as a tree whose branches are made when they open. @param {unknown} value @param {string} [key] @returns {HTMLElement} */
export function branch(value, key, open = 2) {
  const label = key !== undefined && make("span", { class: "key" }, key);
  if (typeof value !== "object" || value === null || isNumber(value)) {
    const look = typeof value === "string" ? "string" : "literal";
    return make("div", {}, label, " ", make("span", { class: look }, visible(write(value), 5000)));
  }
  const members = Object.entries(value);
  const size = make("span", { class: "count" }, Array.isArray(value) ? `[${members.length}]` : `{${members.length}}`);
  if (!members.length) return make("div", {}, label, " ", size);
  const node = make("details", { open: open > 0, toggle: () => {
    if (!node.open || node.childElementCount > 1) return;
    node.append(...members.slice(0, 500).map(([name, each]) => branch(each, name, open - 1)));
    if (members.length > 500) node.append(make("div", { class: "cut" }, `… ${members.length - 500} more`));
  } }, make("summary", {}, label, " ", size));
  return node;
}
/** @param {...HTMLElement} branches */
export const tree = (...branches) => make("div", { class: "tree" }, ...branches);

/** Where a key leads from a place in a list. @param {string} key @param {number} here @param {number} page @param {number} length */
export const step = (key, here, page, length) => here + (new Map([["ArrowDown", 1], ["ArrowRight", 1], ["ArrowUp", -1],
  ["ArrowLeft", -1], ["PageDown", page], ["PageUp", -page], ["Home", -here], ["End", length - 1 - here]]).get(key) ?? 0);

/** Keys move the focus among the elements of a selector. @param {HTMLElement} box @param {string} selector @param {(to: any) => void} [moved] */
export function arrows(box, selector, moved = () => {}) {
  box.addEventListener("keydown", (event) => {
    const all = /** @type {HTMLElement[]} */ ([...box.querySelectorAll(selector)]);
    const here = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const to = all.at(step(event.key, here, 10, all.length) % all.length);
    if (here < 0 || !to || to === all[here]) return;
    event.preventDefault();
    to.focus();
    moved(to);
  });
}

/** Tabs over panels, one of which is shown. @param {string} label @param {[string, HTMLElement][]} panels @param {(name: string) => void} [chosen] */
export function tabs(label, panels, chosen = () => {}) {
  const pairs = panels.map(([name, panel]) => {
    panel.id ||= unique();
    const tab = button(name, () => choose(name), { role: "tab", "aria-controls": panel.id, id: unique() });
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    return { name, panel, tab };
  });
  const list = make("div", { role: "tablist", "aria-label": label }, ...pairs.map(({ tab }) => tab));
  /** @param {string} wanted */
  const choose = (wanted) => {
    for (const { name, panel, tab } of pairs) {
      panel.hidden = name !== wanted;
      tab.setAttribute("aria-selected", String(name === wanted));
      tab.tabIndex = name === wanted ? 0 : -1;
    }
    chosen(wanted);
  };
  arrows(list, "[role=tab]", (to) => to.click());
  choose(panels[0]?.[0] ?? "");
  return { list, choose };
}
