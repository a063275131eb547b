/**
 * A client of any MCP server that is a program: starts it, calls its tools, and ends it with all its descendants.
 *
 * Strategy. `ServerProcess` knows processes, bytes and lines; `Client` knows messages. Every request is one promise in
 * a map by its id, and every way in which it can end (a response, an abort, a time limit, the end of the server) takes
 * it out of the map first, so that it ends once. Nothing here polls. The server's process group is killed in the tick
 * in which Node reports its end, before its id can belong to another group.
 */
import { Buffer } from "node:buffer";
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import process from "node:process";
import { clearTimeout, setTimeout } from "node:timers";

const MODERN = "2026-07-28";
const LEGACY = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]; // the newest is offered
const META = "io.modelcontextprotocol/";
const TASKS = `${META}tasks`;

const START_MS = 120_000;
const PROBE_MS = 10_000; // this and the next three as in the official clients
const RECOVERY_MS = 30_000;
const PATIENCE_MS = 2_000;
const MAX_ROUNDS = 10;
const PAUSE_MS = 100; // before a round without questions
const LAST_WORDS_MS = 500; // for output that a server leaves behind, and for the end of one without output
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const MAX_UNSENT_BYTES = 256 * 1024 * 1024;
const MAX_QUESTIONS = 100;
const MAX_PAGES = 1_000;
const POLL_MS = 1_000; // where the server names no interval, as in the official client
const [SHORTEST_POLL_MS, LONGEST_POLL_MS] = [50, 300_000];
const MAX_TASK_QUESTIONS = 100;
const FINAL = ["completed", "failed", "cancelled"];
const KEPT_BYTES = 1024; // of each end of a line that is too long
const STDERR_BYTES = 16 * 1024;

// Where servers put the id of a response that cannot be read: first or last.
const ID_FIRST = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*"?(\d{1,15})"?\s*,/;
const ID_LAST = /,\s*"id"\s*:\s*"?(\d{1,15})"?\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;

const IS_WINDOWS = process.platform === "win32";
// What official clients pass on: a server must not see the keys in our environment. `env` adds what it needs.
const PASSED_ON = IS_WINDOWS
  ? `APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PATHEXT PROCESSOR_ARCHITECTURE PROGRAMDATA SYSTEMDRIVE
     SYSTEMROOT TEMP USERNAME USERPROFILE WINDIR`
  : "HOME LOGNAME PATH SHELL TERM USER";

// --- values ----------------------------------------------------------------------------------------------------------

type Members = Record<string, unknown>;

export type Progress = { progress: number; total?: number; message?: string };

export interface CallOptions {
  /** Cancels the call: its promise is rejected at once with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** How long the server may take, starting anew after each question. No limit by default. */
  timeoutMs?: number | undefined;
  /** Reports progress. If it throws, the call is cancelled and fails with that error. */
  onProgress?: ((progress: Progress) => void) | undefined;
}

/** A tool's question to the user. `signal` is aborted when the answer is no longer wanted. */
export interface Question {
  message: string;
  /** The JSON Schema of a flat form. */
  schema: Members;
  /** The tool that asks; servers before MCP 2026-07-28 do not say. */
  tool?: string;
  signal: AbortSignal;
}

/** The fields of the form; or the user says no, or closes it without a decision. */
export type Answer = Record<string, string | number | boolean | string[]> | "decline" | "cancel";

export interface ConnectOptions {
  /** The server's environment, in addition to the few variables that every server gets. */
  env?: Record<string, string> | undefined;
  /** Passes on the whole environment of this process. */
  inheritEnv?: boolean | undefined;
  cwd?: string | undefined;
  /** Copies the server's stderr to that of this process. Errors quote its end in any case. */
  showStderr?: boolean | undefined;
  /** The family of MCP revisions; by default the modern one is tried first. */
  era?: "auto" | "modern" | "legacy" | undefined;
  /** Answers the questions of tools. Without it, servers learn that this client cannot ask. */
  onAsk?: ((question: Question) => Answer | Promise<Answer>) | undefined;
  /** Receives log messages, and lines of output that are not messages. */
  onLog?: ((level: string, text: string) => void) | undefined;
  /** Cancels the start. */
  signal?: AbortSignal | undefined;
  startTimeoutMs?: number | undefined;
  maxMessageBytes?: number | undefined;
  /** The client, as the server sees it. */
  clientInfo?: { name: string; version: string } | undefined;
}

type About = { annotations?: Members; _meta?: Members };

export type ContentBlock =
  | ({ type: "text"; text: string } & About)
  | ({ type: "image" | "audio"; data: string; mimeType: string } & About)
  | ({ type: "resource"; resource: { uri: string; mimeType?: string; text?: string; blob?: string } } & About)
  | ({ type: "resource_link"; uri: string; name: string; title?: string; mimeType?: string } & About);

/** The result of a tool: content for people and models, the text in it, and the same as data if there is any. */
export type CallResult = { content: ContentBlock[]; text: string; structured: unknown };

/** The state of a task at one moment. */
export type TaskStatus = {
  taskId: string;
  status: "working" | "input_required" | "completed" | "failed" | "cancelled";
  statusMessage?: string;
};

/** A tool, as its server describes it. */
export type ToolDescription = { name: string; description?: string; inputSchema: Members; outputSchema?: Members };

// --- errors ----------------------------------------------------------------------------------------------------------

/** The base of all errors of a client; the message is safe to print. */
export class ClientError extends Error {
  constructor(message: string) {
    super(printable(message));
    this.name = new.target.name;
  }
}
/** The command cannot be run. */
export class NotStarted extends ClientError {}
/** The server broke the protocol, or asks for what this client did not offer. */
export class BrokenRules extends ClientError {}
/** No response in time; the request was cancelled. */
export class TimedOut extends ClientError {}
/** The server does not turn calls into tasks. */
export class NoTasks extends ClientError {}
/** The client was closed. */
export class Closed extends ClientError {}

/** The tool failed: `text` says why, `content` and `structured` are its whole result. */
export class ToolFailed extends ClientError implements CallResult {
  readonly content: ContentBlock[];
  readonly text: string;
  readonly structured: unknown;
  constructor(tool: string, result: CallResult) {
    super(result.text || `the tool ${tool} failed and does not say why`);
    ({ content: this.content, text: this.text, structured: this.structured } = result);
  }
}

/** The response is a JSON-RPC error. */
export class RequestFailed extends ClientError {
  readonly code: number;
  readonly data: unknown;
  constructor({ code, message, data }: Members) {
    const known = typeof code === "number" ? code : 0;
    super(`${typeof message === "string" ? message : "an error without a message"} (error ${known})`);
    [this.code, this.data] = [known, data];
  }
}

/** The server ended, or closed its output, before it answered. `stderr` is the end of what it wrote there. */
export class ServerGone extends ClientError {
  readonly exitStatus: number | null;
  readonly signal: string | null;
  readonly stderr: string;
  constructor(exitStatus: number | null, signal: string | null, stderr: string) {
    const how = signal ? `was ended by ${signal}` : `ended with exit status ${exitStatus}`;
    super(withStderr(`the server ${(signal ?? exitStatus === null) ? "closed its output" : how}`, stderr));
    [this.exitStatus, this.signal, this.stderr] = [exitStatus, signal, stderr];
  }
}

function withStderr(reason: string, stderr: string): string {
  return stderr.trim() ? `${reason}; the end of its stderr:\n${stderr.trimEnd()}` : reason;
}

/** The text with escapes in place of what controls a terminal. */
function printable(text: string): string {
  return text.replace(/[^\P{C}\n\t]|[\u2028\u2029]/gu, (letter) => `\\u{${letter.codePointAt(0)?.toString(16)}}`);
}

// --- the process -----------------------------------------------------------------------------------------------------

const running = new Set<ServerProcess>();
const killAll = () => {
  for (const server of running) server.kill("SIGKILL");
};

interface Receiver {
  /** Receives a line of output; of one that is too long, only both ends. */
  receive(line: string, isWhole: boolean): void;
  /** Receives the end, once or more. */
  fail(error: ClientError): void;
}

class ServerProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #exited: Promise<void>;
  readonly #maxBytes: number;
  readonly #receiver: Receiver;
  #line: Buffer[] = [];
  #lineBytes = 0;
  #unsent = "";
  #isHeld = true;
  #stderr = Buffer.alloc(0);
  #closing: Promise<number | null> | undefined;

  constructor([program = "", ...words]: readonly string[], options: ConnectOptions, receiver: Receiver) {
    const { cwd, inheritEnv, showStderr, maxMessageBytes = MAX_MESSAGE_BYTES } = options;
    this.#maxBytes = maxMessageBytes;
    this.#receiver = receiver;
    const names = inheritEnv ? Object.keys(process.env) : PASSED_ON.split(/\s+/);
    const env = { ...Object.fromEntries(names.map((name) => [name, process.env[name]])), ...options.env };
    const notStarted = (error: unknown) => new NotStarted(`cannot run ${program || "no command"}: ${messageOf(error)}`);
    try {
      // Detached, it has a process group of its own; on Windows it would have a console of its own.
      this.#child = spawn(program, words, { cwd, env, detached: !IS_WINDOWS, stdio: "pipe", windowsHide: true });
    } catch (error) {
      throw notStarted(error);
    }
    this.#exited = new Promise((resolve) => {
      this.#child.once("exit", resolve);
      this.#child.on("error", (error) => {
        if (this.#child.pid === undefined) receiver.fail(notStarted(error)); // else it could not be signalled
        if (this.#child.pid === undefined) resolve();
      });
    });
    if (this.#child.pid !== undefined) this.#watch(showStderr);
  }

  #watch(showStderr = false): void {
    const child = this.#child;
    let timer: NodeJS.Timeout | undefined;
    const lost = () => {
      clearTimeout(timer);
      if (this.#lineBytes > 0) this.#read(Buffer.from("\n")); // the last line may lack it
      this.#receiver.fail(new ServerGone(child.exitCode, child.signalCode, this.stderr));
    };
    // Another process may hold its pipes open after its end, and it may close its output without an end.
    const lostSoon = () => {
      timer ??= setTimeout(lost, LAST_WORDS_MS);
    };
    child.once("exit", () => {
      this.kill("SIGKILL"); // the rest of its group
      running.delete(this);
      lostSoon();
    });
    child.once("close", lost);
    child.stdin.on("error", () => {}); // it reads no more; its end says why
    child.stdout.once("end", lostSoon);
    child.stdout.on("data", (chunk: Buffer) => {
      timer?.refresh();
      this.#read(chunk);
    });
    child.stderr.on("data", (chunk: Buffer) => {
      if (showStderr) process.stderr.write(chunk);
      this.#stderr = Buffer.concat([this.#stderr, chunk]).subarray(-STDERR_BYTES);
    });
    if (!process.listeners("exit").includes(killAll)) process.on("exit", killAll);
    running.add(this);
  }

  get stderr(): string {
    return this.#stderr.toString();
  }

  /** Sends a message. Throws if it is not JSON, or if the server has not read too many messages before it. */
  send(message: Members): void {
    if (this.#child.pid === undefined) return; // the reason is about to be reported
    const text = JSON.stringify({ jsonrpc: "2.0", ...message });
    if (text.includes("null")) refuseNonFinite(message);
    if (this.#child.stdin.writableLength + this.#unsent.length > MAX_UNSENT_BYTES) {
      throw new BrokenRules("the server does not read its input, and no more can be kept for it");
    }
    // All that is sent in one tick is written at once.
    if (!this.#unsent) queueMicrotask(() => this.#flush());
    this.#unsent += `${text}\n`;
  }

  /** While nothing is awaited from the server, it does not keep this process alive. */
  hold(isAwaited: boolean): void {
    if (this.#child.pid === undefined || isAwaited === this.#isHeld) return; // Bun counts the calls
    this.#isHeld = isAwaited;
    const { stdin, stdout, stderr } = this.#child;
    for (const handle of [this.#child, stdin, stdout, stderr] as { ref?(): void; unref?(): void }[]) {
      if (isAwaited) handle.ref?.();
      else handle.unref?.();
    }
  }

  kill(signal: "SIGTERM" | "SIGKILL"): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    if (IS_WINDOWS && signal === "SIGKILL") spawnSync("taskkill", ["/pid", `${pid}`, "/t", "/f"]);
    try {
      process.kill(-pid, signal);
    } catch {
      this.#child.kill(signal); // where there are no groups; without effect after its end
    }
  }

  /** Ends the server: closes its input, then SIGTERM, then SIGKILL. Returns its exit status; null after a signal. */
  close(): Promise<number | null> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<number | null> {
    const child = this.#child;
    if (child.pid === undefined) return null;
    this.hold(true);
    this.#flush();
    child.stdin.end();
    const timers = (["SIGTERM", "SIGKILL"] as const).map((signal, step) =>
      setTimeout(() => this.kill(signal), (step + 1) * PATIENCE_MS),
    );
    await this.#exited;
    timers.forEach(clearTimeout);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    return child.exitCode;
  }

  #flush(): void {
    if (this.#unsent && this.#child.stdin.writable) this.#child.stdin.write(this.#unsent);
    this.#unsent = "";
  }

  #read(chunk: Buffer): void {
    const [first, last] = [chunk.indexOf("\n"), chunk.lastIndexOf("\n")];
    if (first >= 0) {
      this.#keep(chunk.subarray(0, first));
      const [line, isWhole] = [Buffer.concat(this.#line).toString(), this.#lineBytes <= this.#maxBytes];
      [this.#line, this.#lineBytes] = [[], 0];
      this.#receiver.receive(line, isWhole);
      if (last > first)
        for (const more of chunk.toString("utf8", first + 1, last).split("\n")) this.#receiver.receive(more, true);
    }
    this.#keep(chunk.subarray(last + 1));
  }

  #keep(part: Buffer): void {
    this.#line.push(part);
    this.#lineBytes += part.length;
    if (this.#lineBytes <= this.#maxBytes) return;
    const all = Buffer.concat(this.#line);
    this.#line = [Buffer.from(all.subarray(0, KEPT_BYTES)), Buffer.from(all.subarray(-KEPT_BYTES))];
  }
}

/** Throws at a number that JSON does not have: it would become null. */
function refuseNonFinite(value: unknown): void {
  if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError(`JSON has no number ${value}`);
  if (typeof value === "object" && value !== null) for (const part of Object.values(value)) refuseNonFinite(part);
}

// --- the conversation ------------------------------------------------------------------------------------------------

interface OpenRequest {
  resolve(result: unknown): void;
  reject(error: unknown): void;
  /** Rejects it, and tells the server. */
  cancel(error: unknown, reason: string): void;
  report(progress: Progress): void;
  restartTimer(): void;
}

/** How long to wait at most, `limitMs` or until the start fails. */
type TimeLeft = (limitMs?: number) => number;

/** A conversation with a running server. */
export class Client {
  /** The revision of MCP that is spoken. */
  revision: string | undefined;
  /** What the server says of itself. */
  server: { info?: unknown; capabilities?: unknown; instructions?: unknown } = {};
  readonly #process: ServerProcess;
  readonly #options: ConnectOptions;
  readonly #about: { clientInfo: Members; capabilities: Members };
  readonly #open = new Map<number, OpenRequest>();
  readonly #questions = new Map<unknown, AbortController>();
  #end: ClientError | undefined;
  #lastId = 0;

  /** Starts the server that `command` is the program and the words of, and agrees on a revision with it. */
  static async connect(command: readonly string[], options: ConnectOptions = {}): Promise<Client> {
    const { era = "auto", startTimeoutMs = START_MS } = options;
    const deadline = Date.now() + startTimeoutMs;
    const left: TimeLeft = (limitMs = Infinity) => Math.max(1, Math.min(limitMs, deadline - Date.now()));
    const ready = async (steps: (client: Client) => Promise<void>) => {
      const client = new Client(command, options);
      try {
        await steps(client);
        return client;
      } catch (error) {
        await client.close();
        if (!(error instanceof TimedOut)) throw error;
        throw new TimedOut(withStderr("the server was not ready in time", client.#process.stderr));
      }
    };
    if (era === "modern") return ready((client) => client.#discover(left()));
    if (era === "legacy") return ready((client) => client.#initialize(left()));
    try {
      return await ready((client) => client.#discoverOrInitialize(left));
    } catch (error) {
      // Legacy servers may end or hang after an unknown first request: a new process gets `initialize` only.
      const mayWork = [ServerGone, TimedOut, RequestFailed].some((kind) => error instanceof kind);
      if (!mayWork || Date.now() >= deadline) throw error;
    }
    return ready((client) => client.#initialize(left()));
  }

  private constructor(command: readonly string[], options: ConnectOptions) {
    const { clientInfo = { name: "toolwire-typescript", version: "0.1.0" }, onAsk } = options;
    this.#options = options;
    this.#about = { clientInfo, capabilities: onAsk ? { elicitation: { form: {} } } : {} };
    this.#process = new ServerProcess(command, options, {
      receive: (line, isWhole) => this.#receive(line, isWhole),
      fail: (error) => this.#fail(error),
    });
  }

  /**
   * Calls a tool. If the server makes the call a task, this waits for the task. Rejects with `ToolFailed`, `RequestFailed`, `ServerGone`, `TimedOut`, `BrokenRules`, `Closed`, or the
   * reason of the signal.
   */
  async call(name: string, args: object = {}, options: CallOptions = {}): Promise<CallResult> {
    const answer = await this.#callOnce(name, args, options, false);
    if (answer instanceof Task) {
      try {
        return await answer.result(options);
      } catch (error) {
        if (!(error instanceof RequestFailed || error instanceof ToolFailed)) answer.cancel().catch(() => {});
        throw error;
      }
    }
    return outcome(name, answer);
  }

  /**
   * Calls a tool as a task: returns as soon as the server has answered, with a handle, or with the result, whose task
   * has ended. Rejects as `call`, and with `NoTasks` if the server has none.
   */
  async startTask(name: string, args: object = {}, options: CallOptions = {}): Promise<Task> {
    if (!this.#hasTasks()) throw new NoTasks("the server has no tasks");
    const answer = await this.#callOnce(name, args, options, true);
    return answer instanceof Task ? answer : new Task(this.#taskRequests(), "", name, answer);
  }

  /** The task of an earlier call, also of an earlier connection. */
  task(taskId: string, tool = ""): Task {
    return new Task(this.#taskRequests(), taskId, tool);
  }

  /** Calls a tool with an output schema and returns the structured result; with `isWrapped`, its member `result`. */
  async value<T>(name: string, args?: object, options?: CallOptions, isWrapped = false): Promise<T> {
    const { structured } = await this.call(name, args, options);
    const found = isWrapped ? (structured as { result?: unknown } | null)?.result : structured;
    if (found !== undefined) return found as T;
    throw new BrokenRules(`the tool ${name} did not return the structured content that it declares`);
  }

  /** The server's tools, from all pages of its list. */
  async listTools(options: CallOptions = {}): Promise<ToolDescription[]> {
    const found: ToolDescription[][] = [];
    let params = {};
    while (found.length < MAX_PAGES) {
      const { tools, nextCursor } = await this.#request("tools/list", params, options);
      if (!Array.isArray(tools)) throw new BrokenRules("the server's list of tools is not a list");
      found.push(tools);
      if (typeof nextCursor !== "string") return found.flat();
      params = { cursor: nextCursor };
    }
    throw new BrokenRules(`the server's list of tools has more than ${MAX_PAGES} pages`);
  }

  /** Ends the server and fails all open calls. Returns its exit status; null after a signal. */
  close(): Promise<number | null> {
    this.#fail(new Closed("the client was closed"));
    return this.#process.close();
  }

  [Symbol.asyncDispose](): Promise<unknown> {
    return this.close();
  }

  // From this side

  /** The result of a call, or the task that it has become. */
  async #callOnce(name: string, args: object, options: CallOptions, asTask: boolean): Promise<Members | Task> {
    let isTask = asTask;
    let more: Members = asTask && this.revision !== MODERN ? { task: {} } : {};
    for (let round = 0; round < MAX_ROUNDS; round++) {
      let result: Members;
      try {
        result = await this.#request("tools/call", { name, arguments: args, ...more }, options);
      } catch (error) {
        // Some tools of MCP 2025-11-25 run only as tasks; nothing has run.
        const needsTask = error instanceof RequestFailed && error.code === -32601 && !isTask;
        if (!needsTask || this.revision === MODERN || !this.#hasTasks()) throw error;
        isTask = true;
        more = { task: {} };
        continue;
      }
      const { resultType, task } = result;
      const made = this.revision === MODERN ? resultType === "task" && result : task;
      if (isObject(made)) return new Task(this.#taskRequests(), statusOf(made).taskId, name);
      if (resultType !== "input_required") return result;
      more = await this.#answers(name, result, options.signal);
    }
    throw new BrokenRules(`the server still asks after ${MAX_ROUNDS} rounds of questions`);
  }

  #hasTasks(): boolean {
    const { capabilities } = this.server;
    const path = this.revision === MODERN ? ["extensions", TASKS] : ["tasks", "requests", "tools", "call"];
    return isObject(path.reduce<unknown>((found, name) => (isObject(found) ? found[name] : undefined), capabilities));
  }

  #taskRequests(): TaskRequests {
    return {
      isModern: this.revision === MODERN,
      ask: (method, params, options) => this.#request(method, params, options),
      answer: async (tool, questions, signal) => {
        const { inputResponses } = await this.#answers(tool, { inputRequests: questions }, signal);
        return inputResponses;
      },
    };
  }

  #request(method: string, params: Members, { signal, timeoutMs, onProgress }: CallOptions): Promise<Members> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (this.#end) throw this.#end;
      if (timeoutMs !== undefined && !(timeoutMs > 0)) throw new RangeError(`timeoutMs is not positive: ${timeoutMs}`);
      const id = ++this.#lastId;
      const meta = { ...this.#meta(), ...(onProgress && { progressToken: id }) };
      this.#process.send({ id, method, params: { _meta: meta, ...params } });

      const finish = (settle: () => void) => {
        if (!this.#open.delete(id)) return;
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
        if (this.#open.size === 0) this.#process.hold(false);
        settle();
      };
      const cancel = (error: unknown, reason: string) =>
        finish(() => {
          // MCP forbids cancelling the handshake: it ends with the process.
          if (this.revision) this.#tell("notifications/cancelled", { requestId: id, reason });
          reject(error);
        });
      const abort = () => cancel(signal?.reason, "cancelled by the client");
      const expire = () => {
        if (this.#questions.size === 0) cancel(new TimedOut(`no answer to ${method} in ${timeoutMs} ms`), "timed out");
      };
      const timer = (timeoutMs ?? Infinity) > LONGEST_TIMER_MS ? undefined : setTimeout(expire, timeoutMs);
      signal?.addEventListener("abort", abort);
      if (this.#open.size === 0) this.#process.hold(true);
      this.#open.set(id, {
        resolve: (result) =>
          finish(() => (isObject(result) ? resolve(result) : reject(new BrokenRules("a result is not an object")))),
        reject: (error) => finish(() => reject(error)),
        cancel,
        report: (progress) => {
          try {
            onProgress?.(progress);
          } catch (error) {
            cancel(error, "the client failed");
          }
        },
        restartTimer: () => timer?.refresh(),
      });
    });
  }

  /** What every message of the modern revision has. */
  #meta(revision = this.revision): Members {
    if (revision !== MODERN) return {};
    const { clientInfo, capabilities } = this.#about;
    return {
      [`${META}protocolVersion`]: MODERN,
      [`${META}clientInfo`]: clientInfo,
      [`${META}clientCapabilities`]: { ...capabilities, extensions: { [TASKS]: {} } },
    };
  }

  async #discover(timeoutMs: number): Promise<void> {
    const { signal } = this.#options;
    const answer = await this.#request("server/discover", { _meta: this.#meta(MODERN) }, { signal, timeoutMs });
    const { supportedVersions: offered, capabilities, instructions, _meta: meta } = answer;
    if (!Array.isArray(offered) || !offered.includes(MODERN)) {
      throw new BrokenRules(`the server does not speak MCP ${MODERN}`);
    }
    this.revision = MODERN;
    this.server = { info: isObject(meta) ? meta[`${META}serverInfo`] : undefined, capabilities, instructions };
  }

  async #initialize(timeoutMs: number): Promise<void> {
    const params = { protocolVersion: LEGACY[0], ...this.#about };
    const answer = await this.#request("initialize", params, { signal: this.#options.signal, timeoutMs });
    const { protocolVersion, serverInfo: info, capabilities, instructions } = answer;
    this.revision = LEGACY.find((known) => known === protocolVersion);
    if (!this.revision) throw new BrokenRules(`the server speaks MCP ${protocolVersion}, which this client does not`);
    this.server = { info, capabilities, instructions };
    this.#tell("notifications/initialized");
  }

  async #discoverOrInitialize(left: TimeLeft): Promise<void> {
    try {
      await this.#discover(left(PROBE_MS));
    } catch (error) {
      const isSilent = error instanceof TimedOut;
      if (!isSilent && !(error instanceof RequestFailed) && !(error instanceof BrokenRules)) throw error;
      await this.#initialize(left(isSilent ? RECOVERY_MS : Infinity));
    }
  }

  #tell(method: string, params: Members = {}): void {
    this.#reply({ method, params: { _meta: this.#meta(), ...params } });
  }

  /** Sends what is not a request, if the server still reads. */
  #reply(message: Members): void {
    try {
      this.#process.send(message);
    } catch (error) {
      this.#log("error", messageOf(error));
    }
  }

  #log(level: string, text: string): void {
    // Later, so that an exception does not keep the other lines from being read.
    if (this.#options.onLog) queueMicrotask(() => this.#options.onLog?.(level, text));
  }

  #fail(error: ClientError): void {
    this.#end ??= error;
    for (const request of [...this.#open.values()]) request.reject(this.#end);
    for (const question of [...this.#questions.values()]) question.abort(this.#end);
  }

  // From the server

  #receive(line: string, isWhole: boolean): void {
    let message: unknown;
    try {
      message = isWhole ? JSON.parse(line) : undefined;
    } catch {
      // It is no message, or one that cannot be read.
    }
    const members: unknown[] = Array.isArray(message) ? message : [message]; // revision 2025-03-26 has batches
    const isRead = members.map((member) => isObject(member) && this.#take(member)).includes(true);
    if (isRead || line.trim() === "") return;
    const id = line.includes('"jsonrpc"') && (ID_FIRST.exec(line) ?? ID_LAST.exec(line.slice(-KEPT_BYTES)))?.[1];
    const broken = new BrokenRules(`the server sent a message that ${isWhole ? "cannot be read" : "is too long"}`);
    if (id) this.#requestOf(id)?.reject(broken);
    else if (!isWhole && line.trimStart().startsWith("{")) this.#fail(broken);
    else this.#log("warning", line.slice(0, KEPT_BYTES));
  }

  /** Returns whether it is a message: a log line may be JSON too. */
  #take({ jsonrpc, id, method, params, result, error }: Members): boolean {
    const isFailure = error !== undefined && error !== null;
    if (typeof method === "string") {
      const given = isObject(params) ? params : {};
      if (id === undefined) this.#noticed(method, given);
      else if (typeof id === "string" || typeof id === "number") this.#asked(id, method, given);
    } else if (isFailure) {
      // Before the revision is agreed on, an error without an id can only be about the one request so far.
      const [first] = this.revision || (id ?? null) !== null ? [this.#requestOf(id)] : this.#open.values();
      first?.reject(new RequestFailed(isObject(error) ? error : {}));
    } else if (result !== undefined) {
      this.#requestOf(id)?.resolve(result);
    } else if (jsonrpc !== undefined) {
      this.#requestOf(id)?.reject(new BrokenRules("the server sent a response with neither a result nor an error"));
    }
    return method !== undefined || isFailure || result !== undefined || jsonrpc !== undefined;
  }

  /** The open request with this id: some servers return it as a string. */
  #requestOf(id: unknown): OpenRequest | undefined {
    return typeof id === "number" || typeof id === "string" ? this.#open.get(Number(id)) : undefined;
  }

  #noticed(method: string, { progressToken, progress, total, message, requestId, level, data }: Members): void {
    if (method === "notifications/progress" && typeof progress === "number") {
      const more = { ...(typeof total === "number" && { total }), ...(typeof message === "string" && { message }) };
      this.#requestOf(progressToken)?.report({ progress, ...more });
    } else if (method === "notifications/cancelled") {
      this.#questions.get(requestId)?.abort(new Closed("the server withdrew the question"));
    } else if (method === "notifications/message") {
      this.#log(
        typeof level === "string" ? level : "info",
        typeof data === "string" ? data : `${JSON.stringify(data)}`,
      );
    }
  }

  #asked(id: string | number, method: string, params: Members): void {
    if (method === "ping") this.#reply({ id, result: {} });
    else if (method === "elicitation/create" && this.#options.onAsk) void this.#serve(id, params);
    else this.#reply({ id, error: { code: -32601, message: `this client has no method ${method}` } });
  }

  // Questions. A legacy server sends a request, which does not name the call it belongs to; a modern one puts them
  // into the result of the call, and is called again with the answers.

  async #serve(id: string | number, params: Members): Promise<void> {
    const refuse = (code: number, message: string) => this.#reply({ id, error: { code, message } });
    if (this.#questions.has(id) || this.#questions.size >= MAX_QUESTIONS) {
      return refuse(-32600, "too many open questions, or a duplicate id");
    }
    try {
      this.#reply({ id, result: await this.#ask(id, params, undefined) });
    } catch (error) {
      if (error instanceof BrokenRules) return refuse(-32602, error.message);
      if (error instanceof ClientError) return; // withdrawn, or the server is gone
      refuse(-32603, "the client failed to ask the user");
      const [only, ...others] = this.#open.values();
      if (only && others.length === 0) only.cancel(error, "the client failed to ask the user");
      else this.#log("error", `onAsk failed: ${messageOf(error)}`);
    }
  }

  async #answers(tool: string, result: Members, signal: AbortSignal | undefined): Promise<Members> {
    const { inputRequests: asked, requestState } = result;
    const state = requestState === undefined ? {} : { requestState };
    if (asked === undefined && requestState !== undefined) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      return state;
    }
    const answers: [string, Members][] = [];
    for (const [name, request] of Object.entries(isObject(asked) ? asked : { nothing: asked })) {
      const { method, params }: Members = isObject(request) ? request : {};
      if (method !== "elicitation/create" || !this.#options.onAsk) {
        throw new BrokenRules(`the tool ${tool} asks for what this client did not offer`);
      }
      answers.push([name, await this.#ask(Symbol(name), params, signal, tool)]);
    }
    return { ...state, inputResponses: Object.fromEntries(answers) };
  }

  async #ask(key: unknown, params: unknown, cancelled: AbortSignal | undefined, tool?: string): Promise<Members> {
    const { message, requestedSchema: schema, mode = "form" } = isObject(params) ? params : {};
    if (mode !== "form" || typeof message !== "string" || !isObject(schema)) {
      throw new BrokenRules("this client asks by form, with a message and a requestedSchema");
    }
    const controller = new AbortController();
    const signal = cancelled ? AbortSignal.any([cancelled, controller.signal]) : controller.signal;
    const question = { message, schema, signal, ...(tool !== undefined && { tool }) };
    this.#questions.set(key, controller);
    try {
      const answer: unknown = await untilAborted(async () => this.#options.onAsk?.(question), signal);
      if (answer === "decline" || answer === "cancel") return { action: answer };
      if (isObject(answer)) return { action: "accept", content: answer };
      throw new TypeError('onAsk must return the fields of the form, "decline" or "cancel"');
    } finally {
      this.#questions.delete(key);
      if (this.#questions.size === 0) for (const request of this.#open.values()) request.restartTimer();
    }
  }
}

// --- tasks -----------------------------------------------------------------------------------------------------------

interface TaskRequests {
  isModern: boolean;
  ask(method: string, params: Members, options: CallOptions): Promise<Members>;
  answer(tool: string, questions: Members, signal: AbortSignal | undefined): Promise<unknown>;
}

/**
 * A call that goes on at its server, which keeps the result. Waiting asks for it as often as the server wants, and
 * answers the tool's questions. A wait that fails leaves the task running.
 */
export class Task {
  /** Finds it again, by `client.task(id)`; empty if the server has answered with the result at once. */
  readonly id: string;
  readonly #requests: TaskRequests;
  readonly #tool: string;
  readonly #answered = new Set<string>();
  #result: Members | undefined;

  /** @internal */
  constructor(requests: TaskRequests, id: string, tool: string, result?: Members) {
    [this.id, this.#requests, this.#tool, this.#result] = [id, requests, tool, result];
  }

  /** The call's result. Rejects as `Client.call`; a cancelled task is a `RequestFailed` with the code -32800. */
  async result(options: CallOptions = {}): Promise<CallResult> {
    for await (const _ of this.#changes(options)); // until it has ended
    if (this.#result) return outcome(this.#tool, this.#result);
    throw new BrokenRules("the completed task has no result");
  }

  /** Each change until the task has ended. */
  async *[Symbol.asyncIterator](): AsyncGenerator<TaskStatus> {
    let last: TaskStatus | undefined;
    try {
      for await (const status of this.#changes({})) {
        if (status.status !== last?.status || status.statusMessage !== last?.statusMessage) yield status;
        last = status;
      }
    } catch (error) {
      if (!(error instanceof RequestFailed) || !FINAL.includes(last?.status ?? "")) throw error;
    }
  }

  /** The state now. */
  async status(options: CallOptions = {}): Promise<TaskStatus> {
    if (!this.id) return { taskId: "", status: "completed" };
    return statusOf(await this.#requests.ask("tasks/get", { taskId: this.id }, options), this.id);
  }

  /** Asks the server to cancel the task; it decides whether and when. */
  async cancel(options: CallOptions = {}): Promise<void> {
    if (this.id) await this.#requests.ask("tasks/cancel", { taskId: this.id }, options);
  }

  async *#changes({ signal, timeoutMs, onProgress }: CallOptions): AsyncGenerator<TaskStatus> {
    if (this.#result) return;
    let end = Date.now() + (timeoutMs ?? Infinity);
    const left = (): CallOptions => {
      const timeLeft = end - Date.now();
      if (timeLeft <= 0) throw new TimedOut(`the task has not ended in ${timeoutMs} ms`);
      return { signal, ...(timeoutMs !== undefined && { timeoutMs: timeLeft }) };
    };
    const { ask, isModern } = this.#requests;
    const params = { taskId: this.id };
    let message = "";
    for (;;) {
      const members = await ask("tasks/get", params, left());
      const { inputRequests, error } = members;
      const status = statusOf(members, this.id);
      if (status.statusMessage && status.statusMessage !== message) {
        message = status.statusMessage;
        onProgress?.({ progress: 0, message });
      }
      if (isModern && (await this.#answer(inputRequests, left()))) end = Date.now() + (timeoutMs ?? Infinity);
      yield status;
      // A server of MCP 2025-11-25 may ask its questions only while its result is waited for.
      const isAsking = !isModern && status.status === "input_required";
      if (isAsking || FINAL.includes(status.status)) {
        if (status.status === "cancelled") throw failure({ code: -32800, message: "the task was cancelled" });
        if (isModern && status.status === "failed") throw failure(error);
        const { result } = isModern ? members : { result: await ask("tasks/result", params, left()) };
        if (isObject(result)) this.#result = result;
        if (isAsking) yield { ...params, status: "completed" };
        return;
      }
      await untilAborted(
        () => pause(Math.min(pollMs(members), end - Date.now())),
        signal ?? new AbortController().signal,
      );
    }
  }

  /** Answers the questions that are new. Returns whether there were some. */
  async #answer(asked: unknown, options: CallOptions): Promise<boolean> {
    const open = Object.entries(isObject(asked) ? asked : {}).filter(([key]) => !this.#answered.has(key));
    if (open.length === 0) return false;
    if (this.#answered.size + open.length > MAX_TASK_QUESTIONS) {
      throw new BrokenRules(`the task has asked more than ${MAX_TASK_QUESTIONS} questions`);
    }
    const inputResponses = await this.#requests.answer(this.#tool, Object.fromEntries(open), options.signal);
    await this.#requests.ask("tasks/update", { taskId: this.id, inputResponses }, { signal: options.signal });
    for (const [key] of open) this.#answered.add(key);
    return true;
  }
}

function failure(error: unknown): RequestFailed {
  return new RequestFailed(isObject(error) ? error : { message: "the task failed" });
}

/** The status in the members of a task, which is the one that was asked for. */
function statusOf({ taskId, status, statusMessage }: Members, asked?: string): TaskStatus {
  const isKnown = status === "working" || status === "input_required" || FINAL.includes(`${status}`);
  if (typeof taskId !== "string" || taskId === "" || !isKnown || (asked !== undefined && taskId !== asked)) {
    throw new BrokenRules("the server's task has no id, another one, or an unknown status");
  }
  return {
    taskId,
    status: status as TaskStatus["status"],
    ...(typeof statusMessage === "string" && { statusMessage }),
  };
}

function pollMs({ pollIntervalMs, pollInterval }: Members): number {
  const wanted = [pollIntervalMs, pollInterval].find((value) => typeof value === "number") ?? POLL_MS;
  return Math.min(Math.max(Number(wanted), SHORTEST_POLL_MS), LONGEST_POLL_MS);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, milliseconds));
  });
}

function outcome(tool: string, { resultType = "complete", content, structuredContent, isError }: Members): CallResult {
  const blocks: unknown = content ?? [];
  if (resultType !== "complete" || !Array.isArray(blocks) || !blocks.every(isBlock)) {
    throw new BrokenRules(`the result of ${tool} is of an unknown type, or its content is no list of content blocks`);
  }
  const text = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  const result = { content: blocks, text, structured: structuredContent };
  if (isError === true) throw new ToolFailed(tool, result);
  return result;
}

function isBlock(value: unknown): value is ContentBlock {
  const { type, text }: Members = isObject(value) ? value : {};
  return isObject(value) && (type !== "text" || typeof text === "string");
}

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The value of `work`, or the reason of the signal if that comes first. */
function untilAborted<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort);
    const release = () => signal.removeEventListener("abort", abort);
    work().then(resolve, reject).finally(release);
  });
}
