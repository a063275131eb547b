// What the page asks of its server. All addresses are relative: the first part of the page's own is the token.
import { parse, write } from "./json.js";

/**
 * @import { Prompt, RecordingEntry, Resource, ResourceTemplate, Tool } from "toolwire"
 * @typedef {"starting" | "ready" | "ended"} Status
 * @typedef {{ rule: string, severity: string, message: string, applies_to: string[] }} Finding
 * @typedef {{ tool: Tool, findings: Finding[] }} ListedTool
 * @typedef {{ name: string, version: string, revision: string, instructions?: string | null, pid?: number | null }} Server
 * @typedef {{ title: string, command: string[] | null, target: string | null, views: string[], status: Status,
 *   problem: string, stderr?: string, server: Server | null, tools: ListedTool[], resources: Resource[],
 *   templates: ResourceTemplate[], prompts: Prompt[] }} State
 *
 * @typedef {{ number: number } & ({ type: "status", status: Status, problem: string, stderr: string } | { type: "changed" }
 *   | { type: "message", entry: RecordingEntry } | { type: "stderr", at: string, text: string }
 *   | { type: "run", html: string } | { type: "gap", dropped: number })} PageEvent
 * @typedef {{ type: "question", question: string, message: string, schema?: object | null, url?: string | null }} Question
 * @typedef {{ type: "started", call: string } | Question | { type: "withdrawn", question: string }
 *   | { type: "progress", progress: number, total?: number | null, message?: string | null }
 *   | { type: "log", level: string, logger?: string | null, data: unknown }
 *   | { type: "result", seconds: number, bytes: number, html: string, result: unknown, problems: string[] }
 *   | { type: "failure", message: string, code?: number | null, seconds?: number }
 *   | { type: "cancelled", seconds: number }} CallEvent
 * @typedef {{ type: "report", html: string, counts: Record<string, number> } | { type: "failure", message: string }
 *   | { type: "verdict", number: number, total: number, case: string, outcome: string, html: string }} CheckEvent
 */

/** Why something was not done, in words for the user. */
export class Refused extends Error {}

/** @param {string} path @param {object} [body] @param {AbortSignal} [signal] */
async function ask(path, body, signal) {
  const post = { method: "POST", headers: { "Content-Type": "application/json" }, body: write(body) };
  const response = await fetch(path, { ...(body && post), ...(signal && { signal }) });
  if (response.ok) return response;
  const said = await response.json().catch(() => ({}));
  throw new Refused(String(said.error ?? `${response.status} ${response.statusText}`));
}

/** @param {string} path @param {object} [body] @returns {Promise<any>} */
export const get = async (path, body) => parse(await (await ask(path, body)).text());

/**
 * The JSON objects of a stream, one a line, as they arrive. Aborting the signal ends it, and what it reports.
 * @param {string} path @param {object} [body] @param {AbortSignal} [signal] @returns {AsyncGenerator<any, void, undefined>}
 */
export async function* stream(path, body, signal) {
  const reader = (await ask(path, body, signal)).body?.pipeThrough(new TextDecoderStream()).getReader();
  /** @type {string[]} */
  let parts = [];
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
export const reason = (error) =>
  error instanceof Refused ? error.message : error instanceof TypeError ? "`toolwire inspect` does not answer." : String(error);
