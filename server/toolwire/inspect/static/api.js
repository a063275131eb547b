// What the page asks of its server. All addresses are relative: the first part of the page's own is the token.
import { parse, write } from "./json.js";

/**
 * @import { Prompt, RecordingEntry, Resource, ResourceTemplate, Tool } from "toolwire"
 * @typedef {"starting" | "ready" | "ended"} Status
 * @typedef {{ rule: string, severity: string, message: string, applies_to: string[] }} Finding
 * @typedef {{ tool: Tool, findings: Finding[] }} ListedTool
 * @typedef {{ title: string, command: string[] | null, target: string | null, views: string[], status: Status, problem: string,
 *   server: { name: string, version: string, revision: string, pid?: number | null } | null,
 *   tools: ListedTool[], resources: Resource[], templates: ResourceTemplate[], prompts: Prompt[] }} State
 * @typedef {{ number: number } & ({ type: "status", status: Status, problem: string, stderr: string } | { type: "changed" }
 *   | { type: "message", entry: RecordingEntry } | { type: "stderr", at: string, text: string }
 *   | { type: "run", html: string } | { type: "gap", dropped: number })} PageEvent
 * @typedef {{ type: "question", question: string, message: string, schema?: object | null, url?: string | null }} Question
 * @typedef {{ type: "started", call: string } | Question | { type: "withdrawn", question: string }
 *   | { type: "progress", progress: number, total?: number | null, message?: string | null }
 *   | { type: "log", level: string, logger?: string | null, data: unknown }
 *   | { type: "result", seconds: number, bytes: number, html: string, result?: unknown, unreadable?: string }
 *   | { type: "failure", message: string, code?: number | null } | { type: "cancelled", seconds: number }} CallEvent
 * @typedef {{ type: "verdict", number: number, total: number, outcome: string, html: string }
 *   | { type: "report", html: string } | { type: "failure", message: string }} CheckEvent
 */

/** @param {string} path @param {object} [body] @param {AbortSignal} [signal] */
async function ask(path, body, signal) {
  const post = { method: "POST", headers: { "Content-Type": "application/json" }, body: write(body) };
  const response = await fetch(path, { ...(body && post), ...(signal && { signal }) });
  if (response.ok) return response;
  const said = await response.json().catch(() => ({}));
  throw new Error(String(said.error ?? `${response.status} ${response.statusText}`));
}

/** @param {string} path @param {object} [body] @returns {Promise<any>} */
export const get = async (path, body) => parse(await (await ask(path, body)).text());

/**
 * The JSON objects of a stream, one a line, as they arrive. Aborting the signal ends it, and what it reports.
 * @param {string} path @param {object} [body] @param {AbortSignal} [signal] @returns {AsyncGenerator<any, void, undefined>}
 */
export async function* stream(path, body, signal) {
  const reader = (await ask(path, body, signal)).body?.pipeThrough(new TextDecoderStream()).getReader();
  let parts = [""];
  for (let chunk = await reader?.read(); chunk && !chunk.done; chunk = await reader?.read()) {
    const [first = "", ...others] = chunk.value.split("\n");
    parts.push(first);
    for (const part of others) {
      const line = parts.join("");
      parts = [part];
      if (line.trim()) yield parse(line);
    }
  }
}

/** @param {unknown} error */
export const reason = (error) => // of the browser's own, a TypeError says that nothing answered
  error instanceof TypeError ? "`toolwire inspect` does not answer." : error instanceof Error ? error.message : String(error);
