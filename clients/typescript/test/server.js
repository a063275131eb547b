// A small tool server for the tests: MCP 2025-11-25 and 2026-07-28 on lines, so that they need nothing but Node.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const MODERN = "2026-07-28";
const LEGACY = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const VERSION = "io.modelcontextprotocol/protocolVersion";
const object = (properties) => ({ type: "object", properties, required: Object.keys(properties) });
const number = { type: "number" };
const TOOLS = [
  { name: "add", inputSchema: object({ a: number, b: number }), outputSchema: object({ result: number }) },
  { name: "wait", inputSchema: object({}) },
  { name: "ask", inputSchema: object({}) },
  { name: "fail", inputSchema: object({}) },
  { name: "exit", inputSchema: object({}) },
  { name: "slow", inputSchema: object({}), execution: { taskSupport: "required" } },
];
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
const TASKS = "io.modelcontextprotocol/tasks";
const tasks = new Map(); // the states that each task still has
const waiting = new Map(); // by the id of the question, or of the call

function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

function answer(id, result, isModern) {
  send({ id, result: isModern ? { resultType: "complete", ...result } : result });
}

const text = (words, more = {}) => ({ content: [{ type: "text", text: words }], ...more });
const question = { message: "Go on?", requestedSchema: object({ on: { type: "boolean" } }) };

function ofTask(id, action, { taskId, inputResponses }, isModern) {
  const states = tasks.get(taskId);
  if (!states) return send({ id, error: { code: -32602, message: "no such task" } });
  const result = text("slowly");
  if (action === "result") return answer(id, result, isModern);
  if (action === "cancel") tasks.set(taskId, ["cancelled"]);
  if (action === "update" && inputResponses.on.content.on) states.shift();
  if (action === "cancel" || action === "update") return answer(id, { taskId, status: "cancelled" }, isModern);
  const [status] = states;
  if (states.length > 1 && status !== "input_required") states.shift();
  const inputRequests = { on: { method: "elicitation/create", params: { mode: "form", ...question } } };
  const more = { completed: { result }, input_required: { inputRequests } }[status];
  const members = { taskId, status, statusMessage: `is ${status}`, pollIntervalMs: 1, pollInterval: 1 };
  answer(id, { ...members, ...(isModern && more) }, isModern);
}

function call(id, { name, arguments: args = {}, inputResponses, task, _meta = {} }, isModern) {
  const reply = (result) => answer(id, result, isModern);
  const answered = (given) => reply(text(given.action === "accept" ? `on: ${given.content.on}` : given.action));
  if (name === "add") {
    if (typeof args.a !== "number" || typeof args.b !== "number")
      return reply(text("a and b are numbers", { isError: true }));
    const result = args.a + args.b;
    return reply(text(`${result}`, { structuredContent: { result } }));
  }
  if (name === "wait") {
    if ("progressToken" in _meta) {
      send({ method: "notifications/progress", params: { progressToken: _meta.progressToken, progress: 1 } });
    }
    return waiting.set(id, () => {});
  }
  if (name === "slow") {
    const takesTasks = isModern ? _meta[CAPABILITIES]?.extensions?.[TASKS] : task;
    if (!takesTasks) return send({ id, error: { code: isModern ? -32021 : -32601, message: "runs only as a task" } });
    const taskId = `t${tasks.size}`;
    tasks.set(taskId, ["working", isModern && "input_required", "working", "completed"].filter(Boolean));
    const made = { taskId, status: "working", pollIntervalMs: 1, pollInterval: 1 };
    return isModern ? reply({ ...made, resultType: "task" }) : reply({ task: made });
  }
  if (name === "fail") return reply(text("as asked", { isError: true }));
  if (name === "exit") {
    return process.stderr.write("good bye\n", () => process.exit(3));
  }
  if (name !== "ask") return send({ id, error: { code: -32602, message: `no tool ${name}`, data: { name } } });
  if (!isModern) {
    waiting.set(`q${id}`, answered);
    return send({ id: `q${id}`, method: "elicitation/create", params: question });
  }
  if (inputResponses) return answered(inputResponses.on);
  const inputRequests = { on: { method: "elicitation/create", params: { mode: "form", ...question } } };
  send({ id, result: { resultType: "input_required", inputRequests, requestState: "s" } });
}

function take({ id, method, params = {}, result }) {
  const isModern = params._meta?.[VERSION] === MODERN;
  if (method === "notifications/cancelled") waiting.delete(params.requestId);
  else if (method === undefined) waiting.get(id)?.(result);
  else if (id === undefined) return;
  else if (method === "server/discover" && isModern && !process.argv.includes("--legacy")) {
    const about = {
      supportedVersions: [MODERN],
      capabilities: { tools: {}, extensions: { [TASKS]: {} } },
      ttlMs: 0,
      cacheScope: "private",
    };
    answer(id, about, true);
  } else if (method === "initialize") {
    const isKnown = LEGACY.includes(params.protocolVersion) || process.argv.includes("--agrees-to-everything");
    answer(id, {
      protocolVersion: isKnown ? params.protocolVersion : LEGACY[0],
      capabilities: { tools: {}, tasks: { requests: { tools: { call: {} } } } },
      serverInfo: { name: "small", version: "1" },
    });
  } else if (method === "ping") answer(id, {});
  else if (method === "tools/list" && params.cursor === undefined) {
    const tools = { tools: TOOLS, ...(isModern ? { ttlMs: 0, cacheScope: "private" } : {}) };
    answer(id, tools, isModern);
  } else if (method === "tools/list") send({ id, error: { code: -32602, message: "no such page" } });
  else if (method.startsWith("tasks/")) ofTask(id, method.slice(6), params, isModern);
  else if (method === "tools/call") call(id, params, isModern);
  else send({ id, error: { code: -32601, message: `no method ${method}` } });
}

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  if (process.env.RECORD) appendFileSync(process.env.RECORD, `${line}\n`);
  try {
    take(JSON.parse(line));
  } catch {
    send({ id: null, error: { code: -32700, message: "no JSON" } });
  }
});
