/**
 * Plays contract cases against a tool server. What a case is, and what its steps mean, is said in `cases/README.md`.
 *
 * Strategy. Every case gets a process of its own and messages on lines. What is not played has a verdict that says why:
 * cases that judge a whole run, named rules, orphans, and the framing with headers belong to `toolwire check`. Schemas
 * are judged by the validator that the caller brings.
 */
import { Buffer } from "node:buffer";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { clearTimeout, setTimeout } from "node:timers";

type Members = Record<string, unknown>;
type Step = Members;

export interface Case {
  id: string;
  behaviour: string;
  source: string;
  severity: "must" | "should" | "advice";
  steps: Step[];
  era?: "any" | "each" | "legacy" | "modern" | "plain";
  revisions?: string[];
  framings?: string[];
  process?: "shared" | "opened" | "fresh" | "run";
  needs?: string[];
  ours?: boolean;
}

export interface Verdict {
  case: string;
  revision: string;
  severity: Case["severity"];
  outcome: "pass" | "fail" | "not applicable";
  /** What was expected and did not come, or why the case is not applicable. */
  why: string;
  /** What was sent (`-> `) and what came (`<- `). */
  exchange: string[];
}

export interface PlayOptions {
  /** Whether a value fits a schema, which may refer to published ones: `ajv.validate` of an ajv that was given them. */
  validate: (schema: object | boolean, value: unknown) => boolean;
  /** The revisions of MCP that the server speaks, the newest first. */
  revisions?: string[];
  /** Values that cases need, such as `call`; also what else they need and the server has: `tools: true`. */
  values?: Members;
  timeoutMs?: number;
  env?: Record<string, string>;
}

const MODERN = "2026-07-28";
const META = "io.modelcontextprotocol/";
const CLIENT = { name: "toolwire-contract", version: "1" };
const MORE_MS = 50; // how long a server that has answered two probes may still work on what came before
const MAX_PAGES = 100;
const SHOWN_LETTERS = 2_000;

/** The published schemas, to give to a validator. */
export function schemas(): { $id: string; [word: string]: unknown }[] {
  return read("../schemas/", ".schema.json");
}

/** All contract cases. */
export function cases(): Case[] {
  return read<Case[]>("../cases/", ".json").flat();
}

function read<T>(folder: string, suffix: string): T[] {
  const from = new URL(folder, import.meta.url);
  const files = readdirSync(from).filter((file) => file.endsWith(suffix));
  return files.sort().map((file) => JSON.parse(readFileSync(new URL(file, from), "utf8")) as T);
}

/** Plays cases one after the other and yields a verdict on each, in each revision that it is for. */
export async function* play(
  command: readonly string[],
  chosen: Iterable<Case>,
  options: PlayOptions,
): AsyncGenerator<Verdict> {
  for (const each of chosen) {
    const [revisions, why] = revisionsOf(each, options);
    const about = { case: each.id, severity: each.severity };
    if (why) yield { ...about, revision: "", outcome: "not applicable", why, exchange: [] };
    for (const revision of why ? [] : revisions) {
      const player = new Player(command, revision, options);
      try {
        const choice = each.process === "fresh" ? "" : await player.begin();
        const unmet = choice ? undefined : await player.play(each.steps);
        const outcome = choice ? "not applicable" : unmet ? "fail" : "pass";
        const severity = (unmet?.severity ?? each.severity) as Case["severity"];
        yield { ...about, severity, revision, outcome, why: choice || (unmet?.why ?? ""), exchange: player.exchange };
      } finally {
        await player.end();
      }
    }
  }
}

function revisionsOf(each: Case, { revisions = [MODERN, "2025-11-25"], values = {} }: PlayOptions): [string[], string] {
  const lacking = each.needs?.find((need) => !(need in values));
  if (lacking) return [[], `needs ${lacking}`];
  if (each.process === "run") return [[], "judges a whole run"];
  if (each.framings && !each.framings.includes("lines")) return [[], "needs a framing with headers"];
  const words = JSON.stringify(each.steps);
  if (/"(rule|orphans)":/.test(words)) return [[], "needs a named rule, or sight of all processes"];
  const era = each.era ?? "any";
  const found = each.revisions
    ? each.revisions.filter((revision) => revisions.includes(revision))
    : era === "plain"
      ? [""]
      : revisions.filter((revision) => era === "any" || era === "each" || (revision === MODERN) === (era === "modern"));
  return [era === "any" && !each.revisions ? found.slice(0, 1) : found, found.length > 0 ? "" : "not of this revision"];
}

type Unmet = { why: string; severity?: unknown };

class Player {
  readonly exchange: string[] = [];
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #revision: string;
  readonly #options: PlayOptions;
  readonly #values: Members;
  readonly #probes = new Set<unknown>();
  #received: unknown[] = [];
  #isQuiet = true;
  #isSettled = false;
  #status: number | string | undefined;
  #rest = Buffer.alloc(0);
  #look = () => {};

  constructor([program = "", ...words]: readonly string[], revision: string, options: PlayOptions) {
    const meta = {
      [`${META}protocolVersion`]: MODERN,
      [`${META}clientInfo`]: CLIENT,
      [`${META}clientCapabilities`]: {},
    };
    const probe = revision === MODERN ? "server/discover" : revision ? "ping" : "tools/list";
    this.#values = { ...options.values, revision, probe, meta: revision === MODERN ? meta : {} };
    [this.#revision, this.#options] = [revision, options];
    const env = { ...process.env, ...options.env };
    this.#child = spawn(program, words, { env, stdio: "pipe", detached: process.platform !== "win32" });
    this.#child.stderr.resume();
    this.#child.stdin.on("error", () => {});
    this.#child.stdout.on("data", (chunk: Buffer) => this.#hear(chunk));
    const end = (status: number | string) => {
      this.#status ??= status;
      this.#look();
    };
    this.#child.on("error", (error) => end(error.message));
    this.#child.on("exit", (status, signal) => end(status ?? `${signal}`));
  }

  /** Does the handshake of the revision; returns why there can be none. */
  async begin(): Promise<string> {
    if (!this.#revision || this.#revision === MODERN) return "";
    const params = { protocolVersion: this.#revision, capabilities: {}, clientInfo: CLIENT };
    const answer = await this.#ask({ id: "open", method: "initialize", params });
    const { protocolVersion: spoken } = isObject(answer?.result) ? answer.result : {};
    if (spoken !== this.#revision) return `offered ${this.#revision}, the server speaks ${spoken ?? "none"}`;
    this.#send({ method: "notifications/initialized" });
    this.#received = [];
    return "";
  }

  async end(): Promise<void> {
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, "SIGKILL");
    } catch {
      this.#child.kill("SIGKILL");
    }
    await this.#until(() => this.#status !== undefined);
  }

  async play(steps: Step[]): Promise<Unmet | undefined> {
    for (const step of steps) {
      const unmet = await this.#take(step);
      if (unmet) return { ...unmet, severity: unmet.severity ?? step.severity };
    }
    return undefined;
  }

  async #take(step: Step): Promise<Unmet | undefined> {
    const { send, raw, bytes, close, signal, times, steps, list, settle, exit } = step;
    if (typeof times === "number" && Array.isArray(steps)) {
      for (let n = 1; n <= times; n++) {
        this.#values.n = n;
        const unmet = await this.play(steps);
        if (unmet) return unmet;
      }
      return undefined;
    }
    if (list !== undefined) return this.#list();
    if (settle !== undefined) return this.#settle();
    if (isObject(exit)) return this.#exit(Number(exit.within_seconds), exit.status);
    const isAction = [send, raw, bytes, close, signal].some((part) => part !== undefined);
    if (!isAction) return this.#expect(this.#filled(step) as Step);
    this.#isSettled = false;
    if (isObject(send)) this.#send(this.#filled(send) as Members);
    else if (raw !== undefined) this.#write(Buffer.concat([this.#text(raw), Buffer.from("\n")]));
    else if (bytes !== undefined) this.#write(this.#text(bytes));
    else if (close !== undefined) this.#child.stdin.end();
    else this.#child.kill(signal as NodeJS.Signals);
    return undefined;
  }

  async #list(): Promise<Unmet | undefined> {
    const why = "expected all pages of a list of tools";
    for (let page = 0, params = {}; page < MAX_PAGES; page++) {
      const answer = await this.#ask({ id: `list-${this.exchange.length}`, method: "tools/list", params });
      const { tools, nextCursor } = isObject(answer?.result) ? answer.result : {};
      if (!Array.isArray(tools)) return { why };
      if (typeof nextCursor !== "string") return undefined;
      params = { cursor: nextCursor };
    }
    return { why };
  }

  async #settle(): Promise<Unmet | undefined> {
    for (const name of ["settle", "settle-again"]) {
      const id = `${name}-${this.exchange.length}`;
      this.#probes.add(id);
      const answer = await this.#ask({ id, method: this.#values.probe });
      if (!answer) return { why: `expected an answer to ${this.#values.probe} afterwards; ${this.#silence()}` };
    }
    await this.#until(() => false, MORE_MS);
    this.#isSettled = true;
    return undefined;
  }

  async #exit(seconds: number, statuses: unknown): Promise<Unmet | undefined> {
    const patience = Math.max(seconds * 1000, this.#options.timeoutMs ?? 0);
    if (!(await this.#until(() => this.#status !== undefined, patience)))
      return { why: "the process is still running" };
    const isRight = !Array.isArray(statuses) || statuses.includes(this.#status);
    return isRight ? undefined : { why: `expected it to end with ${statuses}, not with ${this.#status}` };
  }

  async #expect(step: Step): Promise<Unmet | undefined> {
    const mayCome = ["answer", "refused", "some"].some((word) => word in step);
    const isMet = () => this.#isMet(step);
    const isDecided = () => isMet() || (mayCome && this.#isRefuted(step));
    if (mayCome && !this.#isSettled) await this.#until(isDecided);
    return isMet()
      ? undefined
      : { why: `expected ${JSON.stringify(step).slice(0, SHOWN_LETTERS)}; ${this.#silence()}` };
  }

  #isRefuted(step: Step): boolean {
    return "answer" in step && this.#answers(step.answer).length > 0;
  }

  #isMet(step: Step): boolean {
    const { answer, refused, unanswered, order, some, none, every, among = true } = step;
    const fits = (schema: unknown) => (value: unknown) => this.#fits(schema, value);
    const messages = this.#messages();
    if ("answer" in step) return this.#answers(answer).some((message) => this.#isAccepted(step, message));
    if ("unanswered" in step) return this.#answers(unanswered).length === 0;
    if ("some" in step) return [...messages, ...this.#received].some(fits(some));
    if ("none" in step) return !messages.some(fits(none));
    if ("every" in step) return messages.filter(fits(among)).every(fits(every));
    if ("quiet" in step) return this.#isQuiet;
    if ("refused" in step) return messages.some(({ error }) => isObject(error) && isOneOf(refused, error.code));
    if (!Array.isArray(order)) throw new Error(`a step that this runner does not know: ${JSON.stringify(step)}`);
    const came = messages.filter((message) => message.method === undefined && order.includes(message.id));
    return JSON.stringify(came.map(({ id }) => id)) === JSON.stringify(order);
  }

  #isAccepted(step: Step, { result, error }: Members): boolean {
    const narrows = ["result", "error", "tool_error"].some((word) => word in step);
    if (!narrows) return result !== undefined || error !== undefined;
    if ("error" in step && isObject(error)) {
      return isOneOf(step.error, error.code) && (!("data" in step) || this.#fits(step.data, error.data));
    }
    if (step.tool_error && isObject(result) && result.isError === true) {
      return Array.isArray(result.content) && result.content.length > 0;
    }
    return "result" in step && result !== undefined && this.#fits(step.result, result);
  }

  #fits(schema: unknown, value: unknown): boolean {
    return this.#options.validate(schema as object | boolean, value);
  }

  /** The messages since the first step, those of batches too, without the answers to probes. */
  #messages(): Members[] {
    return this.#received.flat().filter((message) => isObject(message) && !this.#probes.has(message.id)) as Members[];
  }

  #answers(id: unknown): Members[] {
    return this.#messages().filter((message) => message.method === undefined && (message.id ?? null) === id);
  }

  async #ask(message: Members): Promise<Members | undefined> {
    this.#send(message);
    const find = () =>
      this.#received.flat().find((found) => isObject(found) && !found.method && found.id === message.id);
    await this.#until(() => find() !== undefined);
    return find() as Members | undefined;
  }

  #send(message: Members): void {
    const { params = {} } = message;
    const isRequest = this.#revision === MODERN && "id" in message && isObject(params);
    const { _meta = {} } = isObject(params) ? params : {};
    const whole = isRequest
      ? { params: { ...params, _meta: { ...(this.#values.meta as object), ...(_meta as object) } } }
      : {};
    this.#write(Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", ...message, ...whole })}\n`));
  }

  #write(data: Buffer): void {
    this.exchange.push(`-> ${data.toString("utf8", 0, SHOWN_LETTERS).trimEnd()}`);
    this.#child.stdin.write(data);
  }

  #hear(chunk: Buffer): void {
    const lines = Buffer.concat([this.#rest, chunk]).toString("latin1").split("\n");
    this.#rest = Buffer.from(lines.pop() ?? "", "latin1");
    for (const line of lines) {
      const text = Buffer.from(line, "latin1").toString();
      this.exchange.push(`<- ${text.slice(0, SHOWN_LETTERS)}`);
      try {
        this.#received.push(JSON.parse(text));
      } catch {
        this.#isQuiet = false;
      }
    }
    this.#look();
  }

  /** Waits until a condition holds, the time is over, or the process has ended. Returns whether it holds. */
  #until(holds: () => boolean, limitMs = this.#options.timeoutMs ?? 10_000): Promise<boolean> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#look = () => {};
        resolve(holds());
      };
      const timer = setTimeout(done, limitMs);
      this.#look = () => {
        if (holds() || this.#status !== undefined) done();
      };
      this.#look();
    });
  }

  #silence(): string {
    return this.#status === undefined ? "nothing else came" : `the server ended with ${this.#status}`;
  }

  #filled(value: unknown): unknown {
    if (typeof value === "string") {
      const [, path] = /^\$\{([\w.]+)\}$/.exec(value) ?? [];
      return path ? this.#named(path) : value;
    }
    if (Array.isArray(value)) return value.map((item) => this.#filled(item));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, this.#filled(item)]));
  }

  #text(text: unknown): Buffer {
    if (Array.isArray(text)) return Buffer.concat(text.map((part) => this.#text(part)));
    if (typeof text === "string") {
      return Buffer.from(text.replace(/\$\{([\w.]+)\}/g, (_, path) => JSON.stringify(this.#named(path))));
    }
    const { base64, repeat, times } = text as { base64?: string; repeat?: unknown; times?: number };
    if (base64 !== undefined) return Buffer.from(base64, "base64");
    const part = this.#text(repeat);
    return Buffer.alloc(part.length * (times ?? 1), part);
  }

  #named(path: string): unknown {
    return path.split(".").reduce<unknown>((value, name) => (value as Members)[name], this.#values);
  }
}

function isOneOf(codes: unknown, code: unknown): boolean {
  return codes === true || (Array.isArray(codes) && codes.includes(code));
}

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
