/** Drives the client of every_type.py, and prints what came of each step as a line of JSON. */
import {
  BrokenRules,
  type CallOptions,
  Closed,
  connect,
  type Progress,
  type Question,
  RequestFailed,
  ServerGone,
  TimedOut,
  ToolFailed,
  type EveryTypeValue,
} from "./client.ts";

const era = (process.argv[2] ?? "auto") as "auto" | "modern" | "legacy";

function print(step: string, outcome: unknown): void {
  console.log(JSON.stringify([step, outcome]));
}

/** What a promise that has to fail fails with. */
async function failure(promise: Promise<unknown>): Promise<unknown> {
  const kinds = [BrokenRules, Closed, RequestFailed, ServerGone, TimedOut, ToolFailed];
  try {
    return ["nothing", await promise];
  } catch (error) {
    const kind = kinds.find((known) => error instanceof known);
    const { message, text, code, data, exitStatus, stderr } = error as Record<string, unknown>;
    return { kind: kind?.name ?? String((error as Error).name), message, text, code, data, exitStatus, stderr };
  }
}

const questions: Question[] = [];
const client = await connect(undefined, {
  era,
  onAsk(question) {
    questions.push(question);
    if (question.message.includes("soup")) return "decline";
    if (question.message.includes("tea")) throw new Error("the user is out");
    return { size: "large", pieces: 2 };
  },
});
const { tools } = client;
print("revision", client.revision);

const value: EveryTypeValue = {
  text: "grün </script> \u2028",
  whole: 2 ** 53 - 1,
  number: 0.1,
  flag: true,
  nothing: null,
  mode: "as usual",
  colour: "light green",
  level: 2,
  one_or_two: 1,
  words: ["a", ""],
  pair: [1, "one"],
  counts: { "a b": 1 },
  matrix: [[1, 2.5], []],
  place: { x: 1 },
  places: { home: [{ x: 3 }] },
  shape: { type: "circle", centre: { x: 1 }, radius: 2.5 },
  tree: { name: "root", branches: [{ name: "leaf" }], parent: null },
  maybe: null,
  either: [1, 2],
  options: { type: "x", func: null },
  day: "2026-11-23",
  anything: { deep: [null, 2 ** 53 - 1] },
  "kebab-case": "kebab",
  später: 3,
};
const [first, second] = await tools.everyType({ value, times: 2 });
const isTyped: number | undefined = second?.place.y; // in results, what has a default is there
print("every type", [first, isTyped]);

print("add", [await tools.add({ a: 2 }), await tools.add({ a: 2, b: 40 })]);
print("names", [
  (await tools.class()).text,
  await tools.listItemsV2({ first: 1, max_items: 2 }),
  (await tools.getUrlFor({ page: "p" })).text,
]);
print("nothing", await tools.nothing());
print("echo", (await tools.echo({ text: "\u0000 \n", type: "t" })).text);
print("plant", await tools.plant({ depth: 2 }));
print("measure", await tools.measure({ shape: { type: "square", side: 3 } }));
print("picture", (await tools.picture()).content);
print("text", (await tools.justText({ words: ["just", "text"] })).text);

print("fail", await failure(tools.fail({ reason: "no \u001b[31mreason" })));
print("wrong arguments", await failure(tools.add({ a: "two" } as unknown as { a: number })));
print("no tool", await failure(client.call("no_such_tool")));
print("no number", await failure(tools.add({ a: NaN })));

const heard: Progress[] = [];
print("count", [await tools.count({ to: 3 }, { onProgress: (progress) => heard.push(progress) }), heard]);
print("a callback that throws", await failure(tools.count({ to: 3 }, { onProgress: throws })));
function throws(): never {
  throw new Error("no more");
}

const started = Promise.withResolvers?.<void>() ?? resolvers();
function resolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
const wish = new AbortController();
const options: CallOptions = { signal: wish.signal, onProgress: () => started.resolve() };
const waiting = failure(tools.wait({ name: "aborted" }, options));
await started.promise;
wish.abort(new Error("the user changed her mind"));
print("abort", await waiting);
print("the tool was cancelled", await tools.wasCancelled({ name: "aborted" }));
print("aborted before", await failure(tools.add({ a: 1 }, { signal: wish.signal })));
print("time limit", await failure(tools.wait({ name: "late" }, { timeoutMs: 1 })));

print("question", [(await tools.order({ dish: "rice" })).text, questions[0]?.message, Object.keys(questions[0] ?? {})]);
print("declined", await failure(tools.order({ dish: "soup" })));
print("an onAsk that throws", await failure(tools.order({ dish: "tea" })));

const numbers = Array.from({ length: 10_000 }, (_, number) => number);
const sums = await Promise.all(numbers.map((number) => tools.add({ a: number, b: 1 })));
print("pipelined", sums.every((sum, number) => sum === number + 1));
print("listed", (await client.listTools()).length);

const bystander = failure(tools.wait({ name: "bystander" }));
print("death", await failure(tools.die({ status: 7, words: "last words" })));
print("bystander", await bystander);
print("after death", await failure(tools.add({ a: 1 })));
print("close", await client.close());
print("after close", await failure(tools.add({ a: 1 })));

const another = await connect(undefined, { era });
print("not asked", await failure(another.tools.order({ dish: "rice" })));
const open = failure(another.tools.wait({ name: "closed" }));
print("status", await another.close());
print("open at close", await open);

// What is never closed keeps nothing running, and leaves nothing behind.
const forgotten = await connect(undefined, { era });
print("forgotten", await forgotten.tools.add({ a: 1 }));
