/** Meets servers with faults, and prints what came of each as a line of JSON. */
import { Client, type ConnectOptions, NotStarted, ServerGone } from "./client.ts";

const [python = "", server = ""] = process.argv.slice(2);
const inheritEnv = true;

function faulty(fault: string, step: string): string[] {
  return [python, server, fault, step];
}

async function outcome(command: string[], options: ConnectOptions = {}, timeoutMs?: number): Promise<unknown> {
  const logged: string[] = [];
  let client: Client | undefined;
  try {
    client = await Client.connect(command, { inheritEnv, onLog: (_, text) => logged.push(text), ...options });
    const { text } = await client.call("echo", {}, { timeoutMs });
    return { text, logged: logged.length, revision: client.revision };
  } catch (error) {
    const { name, message } = error as Error;
    const gone = error instanceof ServerGone ? [error.exitStatus, error.signal, error.stderr] : undefined;
    return { name, message: gone || error instanceof NotStarted ? undefined : message, gone, logged };
  } finally {
    await client?.close();
  }
}

const steps: [string, () => Promise<unknown>][] = [
  ["no fault", () => outcome(faulty("floods", "never"))],
  ["dies at the probe", () => outcome(faulty("dies", "server/discover"))],
  ["dies at the start", () => outcome(faulty("dies", "initialize"))],
  ["dies in a call", () => outcome(faulty("dies", "tools/call"))],
  ["crashes in a call", () => outcome(faulty("crashes", "tools/call"))],
  ["is silent", () => outcome(faulty("is_silent", "tools/call"), {}, 200)],
  ["is silent at the start", () => outcome(faulty("is_silent", "initialize"), { era: "legacy", startTimeoutMs: 1500 })],
  ["talks rubbish", () => outcome(faulty("talks_rubbish", "tools/call"), {}, 500)],
  ["floods", () => outcome(faulty("floods", "tools/call"))],
  ["a line that is too long", () => outcome(faulty("goes_on_and_on", "tools/call"), { maxMessageBytes: 1_000_000 })],
  ["says what it should not", () => outcome(faulty("says_what_it_should_not", "tools/call"))],
  ["closes its output", () => outcome(faulty("closes_its_output", "tools/call"))],
  ["leaves a child and dies", () => outcome(faulty("leaves_a_child_and_dies", "tools/call"))],
  ["ignores everything", () => outcome(faulty("ignores_everything", "end"))],
  ["speaks no modern revision", () => outcome(faulty("floods", "never"), { era: "modern" })],
  ["no such program", () => outcome(["/no/such/program"])],
  ["no program", () => outcome([])],
  ["no such folder", () => outcome([python], { cwd: "/no/such/folder" })],
  ["aborted", () => outcome(faulty("floods", "never"), { signal: AbortSignal.abort(new Error("not now")) })],
];
await Promise.all(
  steps.map(async ([name, take]) => console.log(JSON.stringify([name, await take()]))),
);
