/** Drives the clients of two servers of others, and prints what came of each step as a line of JSON. */
import { connect as connectEverything, type Progress } from "./everything.ts";
import { connect as connectOfficial, ToolFailed } from "./official.ts";

function print(step: string, outcome: unknown): void {
  console.log(JSON.stringify([step, outcome]));
}

const everything = await connectEverything();
const progress: Progress[] = [];
print("revision", everything.revision);
print("echo", (await everything.tools.echo({ message: "é" })).text);
print("structured", Object.keys(await everything.tools.getStructuredContent({ location: "New York" })).sort());
print("image", (await everything.tools.getTinyImage()).content.map((block) => block.type));
await everything.tools.triggerLongRunningOperation(
  { duration: 0.2, steps: 2 },
  { onProgress: (each) => progress.push(each) },
);
print("progress", progress);
const wish = new AbortController();
const long = everything.tools.triggerLongRunningOperation(
  { duration: 100, steps: 1000 },
  { signal: wish.signal, onProgress: () => wish.abort() },
);
print("abort", await long.catch((error: Error) => error.name));
await everything.close();

const official = await connectOfficial(undefined, { onAsk: () => ({ sure: true }) });
print("official revision", official.revision);
const sum: number = await official.tools.add({ a: 2, b: 3 });
print("sum", sum);
print("failure", await official.tools.fail().catch((error: unknown) => error instanceof ToolFailed && error.text));
print("question", await official.tools.delete({ what: "all" }));
const counted: number[] = [];
print("count", [await official.tools.count({}, { onProgress: (each) => counted.push(each.progress) }), counted]);
const end = new AbortController();
const wait = official.tools.wait({}, { signal: end.signal });
end.abort();
print("wait", await wait.catch((error: Error) => error.name));
await official.close(); // its status is its own: the client sends SIGTERM after 2 seconds
