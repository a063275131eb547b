// The tools, resources and prompts of the server: a list to search, and for each one its arguments, its call and its result.
import { get, reason, stream } from "./api.js";
import { arrows, badge, branch, button, byId, fragment, hint, make, put, tabs, tree, unique, visible } from "./dom.js";
import { form, ofJson } from "./form.js";
import { bytes, duration, isObject, member, write } from "./json.js";
import { initial } from "./schema.js";

/**
 * @import { Prompt, PromptArgument, Resource, ResourceTemplate } from "toolwire"
 * @import { CallEvent, Finding, ListedTool, Question, State } from "./api.js"
 * @typedef {{ key: string, name: string, about: string, definition: unknown, findings: Finding[], panel: () => HTMLElement }} Item
 */

const MOST_LISTED = 500;
const MOST_LOGS = 500;
const SNIPPETS = { command: "Command", python: "Python", typescript: "TypeScript" };

/** @type {Map<string, Item[]>} */
let sections = new Map();
/** What each item shows, kept while it is defined in the same way: a form that is filled, a call that runs. @type {Map<string, { text: string, node: HTMLElement }>} */
const panels = new Map();
let chosen = "";
const [search, listed, detail] = ["search", "list", "detail"].map(byId);

/** @param {State} state */
function show(state) {
  /** @param {string} kind @param {string} id @param {{ name: string, title?: string, description?: string }} one @param {() => HTMLElement} panel @param {Finding[]} findings @returns {Item} */
  const item = (kind, id, one, panel, findings = []) => ({
    key: `${kind}/${id}`, name: one.name, about: one.title ?? one.description ?? "", definition: [one, findings], findings, panel });
  sections = new Map([
    ["Tools", state.tools.map((one) => item("tool", one.tool.name, one.tool, () => toolPanel(one), one.findings))],
    ["Resources", state.resources.map((one) => item("resource", one.uri, one, () => resourcePanel(one, one.uri)))],
    ["Templates", state.templates.map((one) => item("template", one.uriTemplate, one, () => resourcePanel(one, one.uriTemplate)))],
    ["Prompts", state.prompts.map((one) => item("prompt", one.name, one, () => promptPanel(one)))],
  ]);
  if (!chosen && !matchMedia("(max-width: 700px)").matches) chosen = [...sections.values()].flat()[0]?.key ?? "";
  drawList();
  drawDetail();
}

function drawList() {
  const focused = document.activeElement?.getAttribute("data-key");
  put(listed, ...[...sections].flatMap(([section, items]) => {
    const found = items.filter((one) => `${one.name}\n${one.about}`.toLowerCase().includes(search.value.toLowerCase()));
    const rows = found.slice(0, MOST_LISTED).map((one) => {
      const mark = one.findings.length > 0 && badge(`${one.findings.length}`, "warn");
      if (mark) mark.title = `${one.findings.length} findings`;
      const current = { "aria-current": one.key === chosen && "page", "data-key": one.key, class: "listed" };
      const head = make("b", {}, visible(one.name, 200));
      return make("li", {}, make("button", { type: "button", ...current, click: () => select(one.key, true) },
        head, mark, make("small", {}, visible(one.about, 200))));
    });
    const more = found.length > MOST_LISTED && make("li", { class: "hint" }, `${found.length - MOST_LISTED} more: search for them`);
    return items.length ? [make("h2", {}, section, " ", hint(found.length)), make("ul", {}, ...rows, more)] : [];
  }));
  if (!listed.childElementCount) put(listed, make("p", { class: "empty" }, "No tools, resources or prompts."));
  for (const row of listed.querySelectorAll("button")) if (row.dataset.key === focused) row.focus();
}

/** @param {string} key */
function select(key, isClick = false) {
  chosen = key;
  drawList();
  drawDetail();
  if (isClick) location.hash = path();
}

/** The part of the page's address that leads here. */
const path = () => ["tools", ...(chosen ? chosen.split("/") : [])].map(encodeURIComponent).join("/");

function drawDetail() {
  const item = [...sections.values()].flat().find((one) => one.key === chosen);
  byId("tools").classList.toggle("open", item !== undefined);
  if (!item) return put(detail, make("p", { class: "empty" }, chosen ? "The server does not have this (any more)." : "Nothing chosen."));
  const text = write(item.definition);
  const known = panels.get(item.key);
  const panel = known?.text === text ? known : { text, node: item.panel() };
  panels.set(item.key, panel);
  if (detail.lastChild !== panel.node) put(detail, button("← All", () => select("", true), { class: "back" }), panel.node);
}

/** What all items begin with. @param {{ name: string, title?: string, description?: string }} one @param {...(Node | false | undefined)} marks */
const intro = (one, ...marks) =>
  make("header", {}, make("h2", {}, one.name), one.title && one.title !== one.name && hint(one.title), ...marks.slice(0, -1),
    one.description && make("p", { class: "description" }, one.description), ...marks.slice(-1));

/** Where results appear. */
const outputOf = () => make("section", { class: "output", "aria-label": "Result" }, make("p", { class: "empty" }, "The result appears here."));
/** @param {unknown} error */
const problem = (error) => make("p", { class: "bad", role: "alert" }, reason(error));
/** @param {...(string | undefined | false)} texts */
const said = (...texts) => make("p", { class: "hint", role: "status" }, texts.filter(Boolean).join(" · "));
/** @param {unknown} result */
const raw = (result) => make("details", { class: "raw" }, make("summary", {}, "JSON"), tree(branch(result)));

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

/** @param {ListedTool} listedTool */
function toolPanel({ tool, findings }) {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = tool.annotations ?? {};
  const marks = [readOnlyHint && badge("read-only", "good"), destructiveHint && !readOnlyHint && badge("destructive", "bad"),
    idempotentHint && badge("idempotent"), openWorldHint && badge("open world")];
  const lint = findings.length > 0 && make("details", { class: "findings" },
    make("summary", {}, findings.length === 1 ? "1 finding" : `${findings.length} findings`),
    make("ul", {}, ...findings.map(({ severity, message, rule, applies_to: hosts }) => make("li", {},
      badge(severity, severity === "error" ? "bad" : "warn"), ` ${message} `, make("code", {}, rule), " ", hint(hosts.join(", "))))));
  const schemas = tree(branch(tool.inputSchema, "inputSchema"), branch(tool.outputSchema ?? null, "outputSchema", 1));
  const [fields, output, snippet] = [fieldsOf(tool.inputSchema, ["Schema", schemas]), outputOf(), make("div")];
  /** @param {keyof typeof SNIPPETS} language */
  const copy = async (language) => {
    try {
      const text = (await get("snippets", { tool: tool.name, arguments: fields.value() }))[language];
      const done = await navigator.clipboard.writeText(text).then(() => "Copied", () => "Copy it from here:");
      put(snippet, said(done), make("pre", {}, text));
    } catch (error) {
      put(snippet, problem(error));
    }
  };
  const languages = /** @type {(keyof typeof SNIPPETS)[]} */ (Object.keys(SNIPPETS));
  const copies = languages.map((language) => button(SNIPPETS[language], () => copy(language), { class: "quiet" }));
  const [call, cancel] = [make("button", { class: "primary" }, "Call"), button("Cancel", () => {}, { hidden: true })];
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    [call.disabled, cancel.hidden] = [true, false];
    await run(tool.name, fields.value(), output, cancel);
    if (document.activeElement === cancel) queueMicrotask(() => call.focus());
    [call.disabled, cancel.hidden] = [false, true];
  };
  const keydown = (/** @type {KeyboardEvent} */ event) =>
    event.key === "Enter" && (event.ctrlKey || event.metaKey) && !call.disabled && entry.requestSubmit();
  const controls = make("div", { class: "controls" }, call, cancel, make("span", { class: "copies" }, "Copy as ", ...copies));
  const entry = make("form", { submit, keydown }, fields.node, controls, snippet);
  const header = intro(tool, ...marks.map((mark) => mark ?? false), lint);
  return make("div", {}, header, make("div", { class: "columns" }, entry, output));
}

/**
 * Calls a tool and shows what comes of it, until its end.
 * @param {string} tool @param {object} args @param {HTMLElement} output @param {HTMLButtonElement} cancel
 */
async function run(tool, args, output, cancel) {
  const [state, bar] = [said("Calling…"), make("progress", { "aria-label": "Progress" })];
  const logs = make("ol", { role: "log", "aria-label": "Log", class: "logs", hidden: true });
  const questions = make("div", { class: "output", "aria-live": "assertive" });
  const [result, abort] = [make("div"), new AbortController()];
  cancel.onclick = () => abort.abort();
  put(output, state, bar, questions, logs, result);
  /** @param {string} words @param {...(Node | false)} children */
  const end = (words, ...children) => {
    put(state, words);
    put(result, ...children);
    for (const each of [bar, questions]) each.remove();
  };
  /** @param {CallEvent} event */
  const take = (event) => {
    if (event.type === "started") cancel.onclick = () => get("cancel", { call: event.call }).catch(() => abort.abort());
    if (event.type === "progress") {
      if (event.total) [bar.max, bar.value] = [event.total, event.progress];
      put(state, event.progress, event.total && ` of ${event.total}`, event.message && ` · ${event.message}`);
    }
    if (event.type === "log") {
      const look = /debug|info|notice/.test(event.level) ? "muted" : event.level === "warning" ? "warn" : "bad";
      const text = typeof event.data === "string" ? event.data : write(event.data);
      logs.hidden = false;
      logs.append(make("li", {}, badge(event.level, look), " ", event.logger && `${event.logger}: `, text));
      if (logs.childElementCount > MOST_LOGS) logs.firstElementChild?.remove();
      logs.scrollTop = logs.scrollHeight;
    }
    if (event.type === "question") {
      const card = questionCard(event);
      questions.append(card);
      if (output.parentElement?.contains(document.activeElement)) card.focus();
    }
    if (event.type === "withdrawn") questions.querySelector(`[data-question="${CSS.escape(event.question)}"]`)?.remove();
    if (event.type === "result")
      end(`${member(event.result, "isError") === true ? "Error" : "Result"} after ${duration(event.seconds)} · ${bytes(event.bytes)}`,
        fragment(event.html), raw(event.result));
    if (event.type === "failure") end("Failed", make("p", { class: "bad", role: "alert" }, event.message, event.code ? ` (${event.code})` : ""));
    if (event.type === "cancelled") end(`Cancelled after ${duration(event.seconds)}`);
  };
  try {
    for await (const event of stream("call", { tool, arguments: args }, abort.signal)) take(event);
    if (bar.isConnected) end("The call ended without a result.");
  } catch (error) {
    end(abort.signal.aborted ? "Cancelled" : "Failed", !abort.signal.aborted && problem(error));
  }
}

/** What a tool asks its user: to fill a form, or to open a page. @param {Question} question */
function questionCard(question) {
  const fields = question.schema && fieldsOf(question.schema);
  /** @param {"accept" | "decline" | "cancel"} action */
  const answer = async (action) => {
    const content = (action === "accept" && fields && fields.value()) || {};
    await get("answer", { question: question.question, action, content }).then(() => card.remove(), (error) => card.append(problem(error)));
  };
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    event.stopPropagation();
    answer("accept");
  };
  const url = question.url ?? "";
  const link = /^https?:/.test(url) && make("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, "Open it");
  const buttons = make("div", { class: "controls" }, make("button", { class: "primary" }, "Accept"),
    button("Decline", () => answer("decline")), button("Cancel the question", () => answer("cancel")));
  const card = make("form", { class: "asking", tabindex: "-1", "data-question": question.question, submit },
    make("h3", {}, "The tool asks"), make("p", { class: "text" }, question.message),
    url && make("p", {}, make("code", {}, url), " ", link), fields && fields.node, buttons);
  return card;
}

/**
 * A form of texts whose submission asks for one thing and shows it.
 * @param {HTMLElement} header @param {Node[]} fields @param {string} verb @param {string} path @param {() => object} body
 */
function readPanel(header, fields, verb, path, body) {
  const output = outputOf();
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    put(output, said("Reading…"));
    try {
      const { seconds, html, result, failure } = await get(path, body());
      if (failure !== undefined) put(output, make("p", { class: "bad", role: "alert" }, failure));
      else put(output, said(`Result after ${duration(seconds)}`, bytes(result)), fragment(html), raw(result));
    } catch (error) {
      put(output, problem(error));
    }
  };
  const entry = make("form", { submit }, ...fields, make("div", { class: "controls" }, make("button", { class: "primary" }, verb)));
  return make("div", {}, header, make("div", { class: "columns" }, entry, output));
}

/**
 * Fields of text, with the values that the server proposes.
 * @param {PromptArgument[]} names @param {object} ref @param {(values: Record<string, string>) => void} change
 */
function textFields(names, ref, change) {
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
  const fields = textFields(prompt.arguments ?? [], { type: "ref/prompt", name: prompt.name }, (next) => {
    values = next;
  });
  return readPanel(intro(prompt), fields, "Get", "prompt", () => ({ name: prompt.name, arguments: values }));
}

const VARIABLES = /\{([+#./;?&]?)([^{}]*)\}/g;
const STARTS = new Map([["", ["", ","]], ["+", ["", ","]], ["#", ["#", ","]], [".", [".", "."]], ["/", ["/", "/"]],
  [";", [";", ";"]], ["?", ["?", "&"]], ["&", ["&", "&"]]]);
/** @param {string} inside */
const namesIn = (inside) => inside.split(",").map((name) => name.replace(/\*$|:\d+$/, ""));

/** A URI template with texts in it (RFC 6570). @param {string} template @param {Record<string, string>} values */
const expand = (template, values) => template.replace(VARIABLES, (_all, operator, inside) => {
  const [start = "", between] = STARTS.get(operator) ?? [];
  const encode = operator === "+" || operator === "#" ? encodeURI : encodeURIComponent;
  const known = namesIn(inside).filter((name) => Object.hasOwn(values, name));
  const parts = known.map((name) => (";?&".includes(operator || "_") ? `${name}=` : "") + encode(values[name] ?? ""));
  return parts.length ? start + parts.join(between) : "";
});

/** @param {Resource | ResourceTemplate} one @param {string} uri */
function resourcePanel(one, uri) {
  const address = make("input", { required: true, value: uri });
  const names = "uriTemplate" in one ? [...uri.matchAll(VARIABLES)].flatMap(([, , inside = ""]) => namesIn(inside)) : [];
  const fields = textFields(names.map((name) => ({ name })), { type: "ref/resource", uri }, (values) => {
    address.value = expand(uri, values);
  });
  const label = make("div", { class: "field" }, make("label", {}, "URI", address));
  const facts = hint([one.mimeType, "size" in one && typeof one.size === "number" && bytes(one.size)].filter(Boolean).join(" · "));
  return readPanel(intro(one, facts), [...fields, label], "Read", "read", () => ({ uri: address.value }));
}

search.addEventListener("input", drawList);
search.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
  const first = listed.querySelector("button");
  if (!first || !["ArrowDown", "Enter"].includes(event.key)) return;
  event.preventDefault();
  first.focus();
  if (event.key === "Enter") first.click();
});
arrows(listed, "button");

export const tools = { show, select, path };
