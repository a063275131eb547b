// The tools, resources and prompts of the server: a list to search, and for each one its arguments, its call and its result.
import { get, stream } from "./api.js";
import { alerted, arrows, badge, branch, button, byId, controls, formOf, fragment, hint, make, put, tabs, tree, unique, visible } from "./dom.js";
import { form, ofJson } from "./form.js";
import { bytes, duration, isObject, member, write } from "./json.js";
import { initial } from "./schema.js";

/**
 * @import { Prompt, PromptArgument, Resource, ResourceTemplate } from "toolwire"
 * @import { CallEvent, Finding, ListedTool, Question, State } from "./api.js"
 * @typedef {{ name: string, title?: string, description?: string }} Named
 * @typedef {{ key: string, one: Named, findings: Finding[], panel: () => HTMLElement }} Item
 */

const [MOST_LISTED, MOST_LOGS] = [500, 500];
const SNIPPETS = { command: "Command", python: "Python", typescript: "TypeScript" };

/** @type {Map<string, Item[]>} */
let sections = new Map();
/** What each item shows, kept while its definition is the same: a filled form, a running call. @type {Map<string, { text: string, node: Node }>} */
const panels = new Map();
let chosen = "";
const [search, list, detail] = ["search", "list", "detail"].map(byId);

/** @param {State} state */
function show({ tools: listed, resources, templates, prompts }) {
  /** @param {string} key @param {Named} one @param {() => HTMLElement} panel @param {Finding[]} findings @returns {Item} */
  const item = (key, one, panel, findings = []) => ({ key, one, findings, panel });
  sections = new Map([
    ["Tools", listed.map((one) => item(`tool/${one.tool.name}`, one.tool, () => toolPanel(one), one.findings))],
    ["Resources", resources.map((one) => item(`resource/${one.uri}`, one, () => resourcePanel(one, one.uri)))],
    ["Templates", templates.map((one) => item(`template/${one.uriTemplate}`, one, () => resourcePanel(one, one.uriTemplate)))],
    ["Prompts", prompts.map((one) => item(`prompt/${one.name}`, one, () => promptPanel(one)))],
  ]);
  if (!chosen && !matchMedia("(max-width: 700px)").matches) chosen = [...sections.values()].flat()[0]?.key ?? "";
  drawList();
  drawDetail();
}

function drawList() {
  const focused = document.activeElement?.getAttribute("data-key");
  put(list, ...[...sections].flatMap(([section, items]) => {
    const matches = (/** @type {Item} */ { one }) =>
      [one.name, one.title, one.description].join("\n").toLowerCase().includes(search.value.toLowerCase());
    const found = items.filter(matches);
    const rows = found.slice(0, MOST_LISTED).map(({ key, one, findings }) => make("li", {}, button(
      make("b", {}, visible(one.name, 200)), () => select(key, true),
      { "aria-current": key === chosen && "page", "data-key": key, class: "listed" },
      findings.length > 0 && make("span", { class: "badge warn", title: "Findings" }, findings.length),
      make("small", {}, visible(one.title ?? one.description ?? "", 200)))));
    const more = found.length > MOST_LISTED && make("li", { class: "hint" }, `${found.length - MOST_LISTED} more: search for them`);
    return items.length ? [make("h2", {}, section, " ", hint(found.length)), make("ul", {}, ...rows, more)] : [];
  }));
  if (!list.childElementCount) put(list, make("p", { class: "empty" }, "No tools, resources or prompts."));
  for (const row of list.querySelectorAll("button")) if (row.dataset.key === focused) row.focus();
}

/** @param {string} key */
function select(key, isClick = false) {
  chosen = key;
  drawList();
  drawDetail();
  if (isClick) location.hash = path();
}

/** The part of the page's address that leads here. */
const path = () => ["tools", ...(chosen ? chosen.toWellFormed().split("/") : [])].map(encodeURIComponent).join("/");

function drawDetail() {
  const item = [...sections.values()].flat().find((one) => one.key === chosen);
  byId("tools").classList.toggle("open", item !== undefined);
  if (!item) return put(detail, make("p", { class: "empty" }, chosen ? "The server does not have this." : "Nothing is chosen."));
  const text = write([item.one, item.findings]);
  const known = panels.get(item.key);
  const { node } = known?.text === text ? known : { node: item.panel() };
  panels.set(item.key, { text, node });
  if (detail.lastChild !== node) put(detail, button("← All", () => select("", true), { class: "back" }), node);
}

/**
 * An item: what it is, its form, and the place of its result.
 * @param {Named} one @param {Node[]} marks @param {Node | false} below @param {HTMLElement} entry @param {Node} output
 */
const panelOf = (one, marks, below, entry, output) => make("div", {},
  make("header", {}, make("h2", {}, one.name), one.title && one.title !== one.name && hint(one.title), ...marks,
    one.description && make("p", { class: "description" }, one.description), below),
  make("div", { class: "columns" }, entry, output));

const outputOf = () =>
  make("section", { class: "output", "aria-label": "Result" }, make("p", { class: "empty" }, "The result appears here."));
/** @param {...(string | number | undefined | false | null)} texts */
const said = (...texts) => make("p", { class: "hint", role: "status" }, ...texts);
/** @param {{ html: string, result?: unknown, unreadable?: string }} event */
const shown = ({ html, result, unreadable }) => make("div", { class: "output" }, fragment(html), unreadable && alerted(unreadable),
  result !== undefined && make("details", {}, make("summary", { class: "hint" }, "JSON"), tree(branch(result))));

/**
 * Fields for the members of a schema, and the same as JSON, each in step with the other.
 * @param {unknown} schema @param {...[string, HTMLElement]} others More tabs.
 */
function fieldsOf(schema, ...others) {
  const first = initial(schema, schema, true);
  let value = isObject(first) ? first : {};
  const place = make("fieldset");
  const text = ofJson(value, (next = {}) => {
    if (!isObject(next)) throw new Error("Arguments are an object.");
    value = next;
    draw();
  }, { rows: 8, "aria-label": "Arguments as JSON" });
  const draw = () => put(place, form(schema, value, (next) => {
    value = isObject(next) ? next : {};
    text.value = write(value, 2);
    text.setCustomValidity("");
  }));
  draw();
  const panels = /** @type {[string, HTMLElement][]} */ ([["Form", place], ["JSON", make("div", {}, text)], ...others]);
  const { list } = tabs("Arguments", panels, (name) => {
    [place.disabled, text.disabled] = [name !== "Form", name !== "JSON"]; // a field that is not seen blocks no call
  });
  return { node: make("div", { class: "fields" }, list, ...panels.map(([, panel]) => panel)), value: () => value };
}

/** @param {ListedTool} listed */
function toolPanel({ tool, findings }) {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = tool.annotations ?? {};
  const marks = [readOnlyHint && badge("read-only", "good"), destructiveHint && !readOnlyHint && badge("destructive", "bad"),
    idempotentHint && badge("idempotent"), openWorldHint && badge("open world")].filter((mark) => mark instanceof Node);
  const lint = findings.length > 0 && make("details", { class: "findings" }, make("summary", {}, `Findings: ${findings.length}`),
    make("ul", {}, ...findings.map(({ severity, message, rule, applies_to: hosts }) => make("li", {},
      badge(severity, severity === "error" ? "bad" : "warn"), ` ${message} `, make("code", {}, rule), " ", hint(hosts.join(", "))))));
  const schemas = tree(branch(tool.inputSchema, "inputSchema"), branch(tool.outputSchema ?? null, "outputSchema", 1));
  const [fields, output, snippet] = [fieldsOf(tool.inputSchema, ["Schema", schemas]), outputOf(), make("div")];
  /** @param {string} language */
  const copy = async (language) => {
    const text = (await get("snippets", { tool: tool.name, arguments: fields.value() }))[language];
    const done = await navigator.clipboard.writeText(text).then(() => "Copied", () => "Copy it from here:");
    put(snippet, said(done), make("pre", {}, text));
  };
  const copies = Object.entries(SNIPPETS).map(([language, label]) =>
    button(label, () => copy(language).catch((error) => put(snippet, alerted(error))), { class: "quiet" }));
  const [call, cancel] = [make("button", { class: "primary" }, "Call"), button("Cancel", () => {}, { hidden: true })];
  const keydown = (/** @type {KeyboardEvent} */ event) =>
    event.key === "Enter" && (event.ctrlKey || event.metaKey) && !call.disabled && entry.requestSubmit();
  const entry = formOf({ keydown }, async () => {
    [call.disabled, cancel.hidden] = [true, false];
    await run(tool.name, fields.value(), output, cancel);
    const hadFocus = document.activeElement === cancel;
    [call.disabled, cancel.hidden] = [false, true];
    if (hadFocus) call.focus();
  }, fields.node, controls(call, cancel, make("span", { class: "copies" }, "Copy as ", ...copies)), snippet);
  return panelOf(tool, marks, lint, entry, output);
}

/**
 * Calls a tool and shows what comes of it, until its end.
 * @param {string} tool @param {object} args @param {HTMLElement} output @param {HTMLButtonElement} cancel
 */
async function run(tool, args, output, cancel) {
  const [state, bar] = [said("Calling…"), make("progress", { "aria-label": "Progress" })];
  const logs = make("ol", { role: "log", "aria-label": "Log", class: "logs", hidden: true });
  const [questions, abort] = [make("div", { class: "output", "aria-live": "assertive" }), new AbortController()];
  cancel.onclick = () => abort.abort();
  put(output, state, bar, questions, logs);
  /** @param {string} words @param {Node | false} [child] */
  const end = (words, child = false) => {
    put(state, words);
    put(output, state, logs, child);
  };
  /** @param {CallEvent} event */
  const take = (event) => {
    switch (event.type) {
      case "started":
        cancel.onclick = () => get("cancel", { call: event.call }).catch(() => abort.abort());
        break;
      case "progress":
        if (event.total) [bar.max, bar.value] = [event.total, event.progress];
        put(state, event.progress, event.total && ` of ${event.total}`, event.message && ` · ${event.message}`);
        break;
      case "log": {
        const look = /debug|info|notice/.test(event.level) ? "muted" : event.level === "warning" ? "warn" : "bad";
        const text = typeof event.data === "string" ? event.data : write(event.data);
        logs.append(make("li", {}, badge(event.level, look), " ", event.logger && `${event.logger}: `, text));
        logs.hidden = false;
        if (logs.childElementCount > MOST_LOGS) logs.firstElementChild?.remove();
        logs.scrollTop = logs.scrollHeight;
        break;
      }
      case "question": {
        const card = questionCard(event);
        questions.append(card);
        if (output.parentElement?.contains(document.activeElement)) card.focus();
        break;
      }
      case "withdrawn":
        return questions.querySelector(`[data-question="${CSS.escape(event.question)}"]`)?.remove();
      case "result": {
        const word = member(event.result, "isError") === true ? "Error" : "Result";
        return end(`${word} after ${duration(event.seconds)} · ${bytes(event.bytes)}`, shown(event));
      }
      case "failure":
        return end("Failed", alerted(event.code ? `${event.message} (${event.code})` : event.message));
      case "cancelled":
        return end(`Cancelled after ${duration(event.seconds)}`);
    }
  };
  try {
    for await (const event of stream("call", { tool, arguments: args }, abort.signal)) take(event);
    if (bar.isConnected) end("The call ended without a result.");
  } catch (error) {
    end(abort.signal.aborted ? "Cancelled" : "Failed", !abort.signal.aborted && alerted(error));
  }
}

/** What a tool asks its user: to fill in a form, or to open a page. @param {Question} question */
function questionCard({ question, schema, message, url = "" }) {
  const [fields, problem] = [schema ? fieldsOf(schema) : null, make("div")];
  /** @param {"accept" | "decline" | "cancel"} action */
  const answer = (action) =>
    get("answer", { question, action, content: (action === "accept" && fields?.value()) || {} })
      .then(() => card.remove(), (error) => put(problem, alerted(error)));
  const link = url && /^https?:/.test(url) && make("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, "Open it");
  const card = formOf({ class: "asking", tabindex: "-1", "data-question": question }, () => answer("accept"),
    make("h3", {}, "The tool asks"), make("p", { class: "text" }, message), url && make("p", {}, make("code", {}, url), " ", link),
    fields && fields.node, problem, controls(make("button", { class: "primary" }, "Accept"),
      button("Decline", () => answer("decline")), button("Cancel the question", () => answer("cancel"))));
  return card;
}

/**
 * An item whose form asks for one thing and shows it.
 * @param {Named} one @param {string} facts @param {Node[]} fields @param {string} verb @param {string} path @param {() => object} body
 */
function readPanel(one, facts, fields, verb, path, body) {
  const output = outputOf();
  const entry = formOf({}, async () => {
    put(output, said("Reading…"));
    const answer = await get(path, body()).catch((error) => ({ failure: error }));
    if (answer.failure !== undefined) put(output, alerted(answer.failure));
    else put(output, said(`Result after ${duration(answer.seconds)} · ${bytes(answer.result)}`), shown(answer));
  }, ...fields, controls(make("button", { class: "primary" }, verb)));
  return panelOf(one, [hint(facts)], false, entry, output);
}

/**
 * Fields of text, with the values that the server proposes.
 * @param {PromptArgument[]} names @param {object} ref @param {(values: Record<string, string>) => void} change
 */
function textFields(names, ref, change) {
  /** @type {Map<string, HTMLInputElement>} */
  const inputs = new Map();
  return names.map(({ name, title, description, required }) => {
    const proposals = make("datalist", { id: unique() });
    let timer = 0;
    const propose = async () => {
      const { values } = await get("complete", { ref, argument: name, value: input.value }).catch(() => ({ values: [] }));
      put(proposals, ...values.slice(0, 100).map((/** @type {string} */ value) => make("option", { value })));
    };
    const input = make("input", { list: proposals.id, required: required === true, focus: propose, input: () => {
      change(Object.fromEntries([...inputs].map(([key, one]) => [key, one.value]).filter(([, value]) => value)));
      clearTimeout(timer);
      timer = setTimeout(propose, 150);
    } });
    inputs.set(name, input);
    const label = make("label", {}, make("span", { class: required && "needed" }, title ?? name), input);
    return make("div", { class: "field" }, label, proposals, description && make("p", { class: "description" }, description));
  });
}

/** @param {Prompt} prompt */
function promptPanel(prompt) {
  let values = {};
  const fields = textFields(prompt.arguments ?? [], { type: "ref/prompt", name: prompt.name }, (next) => (values = next));
  return readPanel(prompt, "", fields, "Get", "prompt", () => ({ name: prompt.name, arguments: values }));
}

const VARIABLES = /\{([+#./;?&]?)([^{}]*)\}/g;
/** @param {string} inside */
const namesIn = (inside) => inside.split(",").map((name) => name.replace(/\*$|:\d+$/, ""));

/** A URI template with texts in it (RFC 6570). @param {string} template @param {Record<string, string>} values */
const expand = (template, values) => template.replace(VARIABLES, (_all, operator, inside) => {
  const encode = /[+#]/.test(operator) ? encodeURI : encodeURIComponent;
  const parts = namesIn(inside).filter((name) => Object.hasOwn(values, name))
    .map((name) => (/[;?&]/.test(operator) ? `${name}=` : "") + encode(values[name] ?? ""));
  return parts.length ? operator.replace("+", "") + parts.join(operator.replace("?", "&").replace(/[+#]/, "") || ",") : "";
});

/** @param {Resource | ResourceTemplate} one @param {string} uri */
function resourcePanel(one, uri) {
  const address = make("input", { required: true, value: uri });
  const names = "uriTemplate" in one ? [...uri.matchAll(VARIABLES)].flatMap(([, , inside = ""]) => namesIn(inside)) : [];
  const fill = (/** @type {Record<string, string>} */ values) => (address.value = expand(uri, values));
  const fields = textFields(names.map((name) => ({ name })), { type: "ref/resource", uri }, fill);
  const label = make("div", { class: "field" }, make("label", {}, "URI", address));
  const facts = [one.mimeType, "size" in one && typeof one.size === "number" && bytes(one.size)].filter(Boolean).join(" · ");
  return readPanel(one, facts, [...fields, label], "Read", "read", () => ({ uri: address.value }));
}

search.addEventListener("input", drawList);
search.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
  const first = list.querySelector("button");
  if (!first || !["ArrowDown", "Enter"].includes(event.key)) return;
  event.preventDefault();
  first.focus();
  if (event.key === "Enter") first.click();
});
arrows(list, "button");

export const tools = { show, select, path };
