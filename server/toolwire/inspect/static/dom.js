// Elements, made so that nothing a server says becomes markup.
import { isObject, write } from "./json.js";

// Controls, invisible characters and those that turn text around; tabs, line ends and the joiners of emoji stay.
const UNSEEN = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--[\t\n\r\u200c\u200d]]/gv;

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, unknown>} Attributes A function is a listener. */

/** Text as a person may see it: unseen characters as escapes, a long one cut. @param {string} text */
export function visible(text, longest = 20_000) {
  const cut = text.length > longest ? `${text.slice(0, longest)}… ${text.length - longest} more characters` : text;
  return cut.replace(/\r\n/g, "\n").replace(UNSEEN, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`);
}

/**
 * An element with attributes, of which undefined and false are left out, and children.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name @param {Attributes} [attributes] @param {...Child} children
 */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, /** @type {EventListener} */ (value));
    else if (value === true) element.setAttribute(key, "");
    else if (value !== undefined && value !== false) element.setAttribute(key, visible(String(value)));
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
export const fragment = (html) => Object.assign(document.createElement("template"), { innerHTML: html }).content;

/** @param {Child} text @param {(event: any) => unknown} click @param {Attributes} [attributes] */
export const button = (text, click, attributes = {}) => make("button", { type: "button", click, ...attributes }, text);
/** @param {string} text @param {string} look One of good, warn, bad, muted. */
export const badge = (text, look) => make("span", { class: `badge ${look}` }, text);
/** @param {...Child} children */
export const hint = (...children) => make("span", { class: "hint" }, ...children);
/** The element of an id that index.html has. @param {string} id @returns {any} */
export const byId = (id) => document.getElementById(id);

/** @param {unknown} error A TypeError is how a browser says that nothing answered. */
export function alerted(error) {
  const text = error instanceof TypeError ? "`toolwire inspect` does not answer." : error;
  return make("p", { class: "bad text", role: "alert" }, text instanceof Error ? text.message : String(text));
}

/** A value, its members made when it opens. @param {unknown} value @param {string} [key] @returns {HTMLElement} */
export function branch(value, key, open = 2) {
  const label = key !== undefined && make("span", { class: "key" }, key);
  const members = isObject(value) || Array.isArray(value) ? Object.entries(value) : [];
  if (!members.length) {
    const look = typeof value === "string" ? "string" : "literal";
    return make("div", {}, label, " ", make("span", { class: look }, visible(write(value), 5000)));
  }
  const size = make("span", { class: "count" }, Array.isArray(value) ? `[${members.length}]` : `{${members.length}}`);
  const node = make("details", { open: open > 0 }, make("summary", {}, label, " ", size));
  node.addEventListener("toggle", () => {
    if (!node.open || node.childElementCount > 1) return;
    node.append(...members.slice(0, 500).map(([name, each]) => branch(each, name, open - 1)));
    if (members.length > 500) node.append(make("div", { class: "cut" }, `… ${members.length - 500} more`));
  });
  return node;
}
/** @param {unknown} value */
export const tree = (value, open = 2) => make("div", { class: "tree" }, branch(value, undefined, open));
