// The tools, resources and prompts of the server: a list to search, and for each one its form and its result.
import { get } from "./api.js";
import { alerted, badge, button, byId, hint, make, put, tree } from "./dom.js";
import { definitionChange, edits, send } from "./edits.js";
import { fieldsOf } from "./form.js";
import { member, write } from "./json.js";
import { drawList, redraw, showServers } from "./list.js";
import { modelPanel } from "./model.js";
import { KINDS } from "./requests.js";

/**
 * @import { Finding, State } from "./api.js"
 * @import { Call } from "./edits.js"
 * @import { Request } from "./requests.js"
 * @typedef {{ name: string, title?: string, description?: string }} Named
 * @typedef {{ kind: string, href: string, one: Named, request: Request, findings: Finding[], tokens: number,
 *   server: string, panel?: Node,
 *   before?: Item, read?: () => unknown, fill?: (value: unknown) => void, output?: HTMLElement,
 *   last?: Call | undefined }} Item
 *   The panel is kept, with its form and what was called; before is the item until its definition changed.
 */

const MOST_FINDINGS = 500;
const SNIPPETS = { command: "Command", python: "Python", typescript: "TypeScript" };
const MARKS = { readOnlyHint: "good", destructiveHint: "bad", idempotentHint: "muted", openWorldHint: "muted" };

let items = /** @type {Item[]} */ ([]);
let chosen = "";
const [aside, list, detail] = ["aside", "list", "detail"].map(byId);

function show(/** @type {State} */ state) {
  const known = new Map(items.map((item) => [item.href, item]));
  const findingsOf = Map.groupBy(state.findings, (finding) => finding.tool);
  items = Object.entries(KINDS).flatMap(([kind, requestOf]) =>
    /** @type {any} */ (state)[`${kind}s`].map((/** @type {any} */ one, /** @type {number} */ index) => {
      const id = String(one.uri ?? one.uriTemplate ?? one.name).toWellFormed();
      const href = `#tools/${kind}/${encodeURIComponent(id)}`;
      const findings = (kind === "tool" && findingsOf.get(one.name)) || [];
      const before = known.get(href);
      const isSame = before && write([before.one, before.findings]) === write([one, findings]);
      if (isSame) return before;
      const request = requestOf(one, state.forms[index]);
      const tokens = (kind === "tool" && state.tokens[index]) || 0;
      const server = state.servers.find((name) => String(one.name).startsWith(name)) ?? "";
      return { kind, href, one, findings, request, tokens, server, before: before?.panel && before };
    }),
  );
  showServers(state.servers, state.unlisted);
  for (const item of items) if (item.before) item.panel = panelOf(item);
  choose(chosen);
  edits.take(state.edit, items);
}

/** Shows what the page's address names, or else what was shown last. @param {string} href */
function choose(href) {
  const before = chosen;
  if (!href || href.startsWith("#tools/")) chosen = href;
  if (!chosen && !matchMedia("(width <= 700px)").matches) chosen = items[0]?.href ?? "";
  const item = items.find((one) => one.href === chosen);
  aside.parentElement.classList.toggle("open", item !== undefined);
  const isFromList = list.contains(document.activeElement);
  drawList(items, chosen, item ? undefined : before);
  if (!item) put(detail, make("p", { class: "empty" }, "Nothing is chosen, or the server does not have it."));
  if (!item || item.panel?.parentNode === detail) return;
  put(detail, (item.panel ??= panelOf(item)));
  detail.scrollTop = document.documentElement.scrollTop = 0;
  list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  if (isFromList) detail.querySelector("h2").focus();
}

/** What an item is, its form, and the place of its result. @param {Item} item */
function panelOf(item) {
  const { one, request, findings, before } = item;
  const { verb, path, form: nodes, ref, uriOf, body } = request;
  /** @param {string} argument @param {string} value */
  const propose = async (argument, value) => (await get("complete", { name: ref, argument, value })).values;
  const model = /** @type {[string, HTMLElement][]} */ (
    item.kind === "tool" ? [["Model", modelPanel(item, () => items)]] : []
  );
  const fields = fieldsOf(nodes, ref === undefined ? undefined : propose, ["Definition", tree(one)], ...model);
  const address = make("input", { required: true });
  const fill = () => (address.value = uriOf?.(fields.read()) ?? "");
  fields.node.addEventListener("input", fill);
  fill();
  const given = () => (uriOf ? { uri: address.value } : { ...body, arguments: fields.read() });
  const output = before?.output ?? make("section", { class: "output", "aria-label": "Result", tabindex: -1 });
  if (!before) put(output, make("p", { class: "empty" }, "The result appears here."));
  if (before?.read) fields.fill(before.read());
  if (!before) output.addEventListener("state", redraw);
  Object.assign(item, { read: fields.read, fill: fields.fill, output, last: before?.last });
  const controls = make("div", { class: "controls execute" }, make("button", { class: "primary" }, verb));
  const parts = [fields.node, uriOf && make("label", {}, "URI", address), controls, path === "call" && copiesOf(given)];
  const form = make("form", { submit: () => send(item, path, given()) }, ...parts);
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  const back = make("a", { href: "#tools/", class: "button back" }, "← All");
  const change = before && definitionChange(before.one, one);
  delete item.before;
  return make("div", {}, back, headOf(one, findings), change, make("div", { class: "columns" }, form, output));
}

/** @param {Named} one @param {Finding[]} findings */
function headOf(one, findings) {
  const marks = Object.entries(MARKS).filter(([key]) => member(member(one, "annotations"), key) === true);
  const badges = marks.map(([key, look]) => badge(key.replace("Hint", ""), look));
  const description = one.description && make("p", { class: "description" }, one.description);
  const lint = findings.slice(0, MOST_FINDINGS).map(({ severity, where, problem, remedy, concerns }) => {
    const look = badge(severity, severity === "error" ? "bad" : "warn");
    return make("li", {}, look, ` ${problem}; ${remedy} `, make("code", {}, where), " ", hint(concerns));
  });
  const cut = lint.length < findings.length && `, the first ${lint.length} are listed`;
  const summary = make("summary", {}, `Findings: ${findings.length}`, cut);
  const folded = lint.length > 0 && make("details", { class: "findings" }, summary, make("ul", {}, ...lint));
  return make("header", {}, make("h2", { tabindex: -1 }, one.name), ...badges, description, folded);
}

/** Buttons that copy a call as code. @param {() => object} given */
function copiesOf(given) {
  const place = make("div");
  const buttons = Object.entries(SNIPPETS).map(([language, label]) => {
    const copy = async () => {
      const text = (await get("snippets", given()))[language];
      put(place, make("pre", {}, text));
      await navigator.clipboard.writeText(text);
      place.prepend("Copied");
    };
    return button(label, () => copy().catch((error) => place.prepend(alerted(error))), { class: "quiet" });
  });
  return make("div", { class: "copies" }, "Copy as ", ...buttons, place);
}

/**
 * Shows a tool with the arguments of a call, and makes that call at once if it is sent; false without such a tool.
 * @param {string} name @param {object} given @param {boolean} isSent
 */
function recall(name, given, isSent) {
  const item = items.find((one) => one.kind === "tool" && one.one.name === name);
  if (!item) return false;
  item.panel ??= panelOf(item);
  item.fill?.(given);
  location.hash = item.href;
  if (isSent) send(item, "call", { tool: name, arguments: given });
  return true;
}

export const tools = { show, choose, recall };
