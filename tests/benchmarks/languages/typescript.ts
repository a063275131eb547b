// Measures the client in TypeScript: main.ts CALLS COMMAND..., beside the client of a server with `add(a, b)`.
import { connect } from "./client.ts";

const [calls = "0", ...command] = process.argv.slice(2);
const count = Number(calls);
const client = await connect(command, { inheritEnv: true });
const { add } = client.tools;

async function pipelined(): Promise<void> {
  const sums = await Promise.all(Array.from({ length: count }, (_, a) => add({ a, b: 3 })));
  if (sums.some((sum, a) => sum !== a + 3)) throw new Error("a wrong sum");
}

await pipelined();
const begun = performance.now();
await pipelined();
const seconds = (performance.now() - begun) / 1000;

const times: number[] = [];
for (let a = 0; a < count / 10; a++) {
  const before = performance.now();
  await add({ a, b: 3 });
  times.push(performance.now() - before);
}
times.sort((left, right) => left - right);
console.log(JSON.stringify({ per_second: count / seconds, p50_seconds: (times[times.length >> 1] ?? 0) / 1000 }));
await client.close();
