// A result as our server has laid it out, with what only a page can do: tables, resources that open, copies.
import { button, fragment, make, put, tree } from "./dom.js";
import { member, parse, write } from "./json.js";
import { recordsTable, valueAt } from "./records.js";

/** @typedef {{ html: string, result: unknown }} ResultEvent */

const MOST_TEXT = 1_000_000; // characters that are copied

/** The texts of a result. @param {unknown} result */
function textOf(result) {
  const blocks = /** @type {unknown[]} */ ([member(result, "content"), member(result, "contents")].flat());
  const texts = blocks.map((block) => member(block, "text") ?? member(member(block, "resource"), "text"));
  return texts.filter((text) => typeof text === "string").join("\n");
}

/** @param {string} name @param {() => string} text */
function copyButton(name, text) {
  const copied = () => put(copy, "Copied");
  const copy = button(name, () => navigator.clipboard.writeText(text().slice(0, MOST_TEXT)).then(copied));
  copy.addEventListener("blur", () => put(copy, name));
  copy.classList.add("quiet");
  return copy;
}

/** @param {ResultEvent} event @param {(uri: string, place: HTMLElement) => unknown} read Shows a resource there. */
export function resultOf({ html, result }, read) {
  const shown = make("div", {}, fragment(html));
  for (const place of /** @type {NodeListOf<HTMLElement>} */ (shown.querySelectorAll("[data-at]"))) {
    const rows = valueAt(result, parse(place.dataset.at ?? ""));
    const name = place.querySelector("caption")?.textContent ?? "";
    if (Array.isArray(rows)) place.replaceWith(recordsTable(rows, name));
  }
  for (const link of /** @type {NodeListOf<HTMLElement>} */ (shown.querySelectorAll("[data-uri]"))) {
    const place = make("div", { class: "output", tabindex: -1 });
    link.append(
      button("Read", () => read(link.dataset.uri ?? "", place)),
      place,
    );
  }
  const raw = make("details", {}, make("summary", {}, "Raw message"));
  raw.addEventListener("toggle", () => raw.childElementCount > 1 || raw.append(tree(result, 3)), { once: true });
  const text = textOf(result);
  const copies = make("div", { class: "copies" });
  if (text) copies.append(copyButton("Copy text", () => text));
  copies.append(copyButton("Copy JSON", () => write(result, 2)));
  shown.append(copies, raw);
  return shown;
}
