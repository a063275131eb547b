// What the page asks of its server. All addresses are relative: the first part of the page's own is the token.
import { parse, write } from "./json.js";

/**
 * @import { Edit } from "./edits.js"
 * @import { FormNodes } from "./form.js"
 * @import { RunSpan } from "./spans.js"
 * @import { RunRecord } from "./steps.js"
 * @import { Prompt, RecordingEntry, Resource, ResourceTemplate, Tool } from "toolwire"
 * @typedef {"starting" | "ready" | "ended"} Status
 * @typedef {Record<"tool" | "where" | "problem" | "remedy" | "severity" | "concerns", string>} Finding
 * @typedef {{ prefix: string, problem: string }} Unlisted A mounted server that starts, or has a problem.
 * @typedef {{ name: string, version: string, revision: string, pid?: number | null }} Server
 * @typedef {{ title: string, replay: string, command: string[] | null, target: string | null, views: string[],
 *   status: Status, servers_of_run: string,
 *   problem: string, server: Server | null, tools: Tool[], forms: FormNodes[],
 *   findings: Finding[], tokens: number[], servers: string[], unlisted: Unlisted[],
 *   resources: Resource[], templates: ResourceTemplate[], prompts: Prompt[], edit: Edit | null }} State
 *   The forms are those of the tools.
 * @typedef {{ type: "message", entry: RecordingEntry } | { type: "stderr", at: string, text: string }
 *   | { type: "gap", dropped: number } | { type: "history" } | { type: "process", html: string }
 *   | { type: "run", html: string, span?: RunSpan, record?: RunRecord }
 *   | { type: "comparison", names: [string, string], texts: [string, string] }
 *   | { type: "status", status: Status, problem: string }} PageEvent
 * @typedef {{ question: string, message: string, form: FormNodes }} Question
 */

/** What a page in one file has in place of a server (one_file.py). */
const [state = "", ...events] = document.getElementById("session")?.textContent.split("\n") ?? [];
/** @type {{ state: State, events: string[] } | null} */
export const saved = state ? { state: parse(state), events } : null;

/** @param {string} path @param {object} [body] @param {AbortSignal} [signal] */
async function ask(path, body, signal) {
  const post = body && { method: "POST", headers: { "Content-Type": "application/json" }, body: write(body) };
  const response = await fetch(path, { ...post, signal: signal ?? null });
  if (response.ok) return response;
  const said = await response.json().catch(() => ({}));
  throw new Error(said.error ?? `${response.status} ${response.statusText}`);
}

/** @param {string} path @param {object} [body] @returns {Promise<any>} */
export async function get(path, body) {
  if (saved) return saved.state;
  return parse(await (await ask(path, body)).text());
}

/**
 * The JSON objects of a stream, one a line, as they arrive. Aborting the signal ends it, and what it reports.
 * @param {string} path @param {object} [body] @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<any, void, undefined>}
 */
export async function* stream(path, body, signal) {
  if (saved) {
    for (const [number, line] of saved.events.entries()) {
      yield parse(line);
      if (number % 2000 === 1999) await new Promise((later) => setTimeout(later)); // lets the page draw
    }
    await new Promise(() => {}); // no more will come
  }
  const reader = (await ask(path, body, signal)).body?.pipeThrough(new TextDecoderStream()).getReader();
  let parts = [""];
  for (let chunk = await reader?.read(); chunk && !chunk.done; chunk = await reader?.read()) {
    const [first = "", ...others] = chunk.value.split("\n");
    parts.push(first);
    for (const part of others) {
      yield parse(parts.join(""));
      parts = [part];
    }
  }
}
