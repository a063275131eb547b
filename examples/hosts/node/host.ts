// A host in Node with the client that Toolwire generates for the tools it calls:
//
//     toolwire client typescript tools.py -o node/tools.ts
//     node node/host.ts toolwire serve tools.py

import { connect, ToolFailed } from "./tools.ts";

const command = process.argv.slice(2);
if (command.length === 0) {
  console.error("usage: node host.ts COMMAND...");
  process.exit(2);
}
const client = await connect(command, { inheritEnv: true });
const { tools } = client;

for (const { name, description } of await client.listTools()) console.log(`${name}: ${description}`);

console.log(`add -> ${await tools.add({ a: 2, b: 3 })}`);

try {
  // @ts-expect-error The compiler knows that `a` is a number.
  await tools.add({ a: "two", b: 3 });
} catch (error) {
  if (!(error instanceof ToolFailed)) throw error;
  console.log(`add failed: ${error.text}`);
}

const counted = await tools.count(
  { to: 3 },
  { onProgress: ({ progress, total }) => console.log(`count: ${progress} of ${total}`) },
);
console.log(`count -> ${counted.text}`);

const wish = new AbortController();
try {
  await tools.wait({ seconds: 60 }, { signal: wish.signal, onProgress: () => wish.abort() });
} catch (error) {
  if (error !== wish.signal.reason) throw error;
  console.log("wait cancelled");
}

console.log(`the server left with status ${await client.close()}`);
