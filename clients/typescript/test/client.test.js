import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Client, Closed, NotStarted, RequestFailed, ServerGone, TimedOut, ToolFailed } from "@toolwire/client";

const SERVER = [process.execPath, fileURLToPath(new URL("server.js", import.meta.url))];

for (const [revision, ...words] of [["2026-07-28"], ["2025-11-25", "--legacy"]]) {
  const connected = (options) => Client.connect([...SERVER, ...words], options);

  test(`${revision}: calls are answered, with values, by their ids`, async () => {
    const client = await connected();
    assert.equal(client.revision, revision);
    const sums = Array.from({ length: 100 }, (_, b) => client.value("add", { a: 1, b }, {}, true));
    assert.deepEqual(
      await Promise.all(sums),
      Array.from({ length: 100 }, (_, b) => b + 1),
    );
    assert.deepEqual(
      (await client.listTools()).map((tool) => tool.name),
      ["add", "wait", "ask", "fail", "exit", "slow"],
    );
    assert.equal(await client.close(), 0);
  });

  test(`${revision}: failures are errors of their kinds`, async () => {
    const client = await connected();
    await assert.rejects(client.call("fail"), (error) => error instanceof ToolFailed && error.text === "as asked");
    await assert.rejects(client.call("no"), (error) => error instanceof RequestFailed && error.data.name === "no");
    await assert.rejects(client.call("wait", {}, { timeoutMs: 1 }), TimedOut);
    await assert.rejects(client.call("add", { a: Infinity }), TypeError);
    await assert.rejects(client.call("add", {}, { timeoutMs: 0 }), RangeError);
    const open = assert.rejects(client.call("wait"), Closed);
    await client.close();
    await open;
  });

  test(`${revision}: a call that becomes a task is waited for`, async () => {
    const messages = [];
    const client = await connected({ onAsk: () => ({ on: true }) });
    const result = await client.call("slow", {}, { onProgress: ({ message }) => messages.push(message) });
    assert.equal(result.text, "slowly");
    assert.ok(messages.includes("is working"));
    await client.close();
  });

  test(`${revision}: a task is a handle that is found again, and cancelled`, async () => {
    const client = await connected({ onAsk: () => ({ on: true }) });
    const task = await client.startTask("slow");
    const states = [];
    for await (const { status } of task) states.push(status);
    assert.equal(states.at(-1), "completed");
    assert.equal((await client.task(task.id).result()).text, "slowly");
    const other = await client.startTask("slow");
    await other.cancel();
    assert.equal((await other.status()).status, "cancelled");
    await assert.rejects(other.result(), (error) => error instanceof RequestFailed && error.code === -32800);
    await assert.rejects(client.task("no").result(), RequestFailed);
    const quick = await client.startTask("fail").catch((error) => error);
    await assert.rejects(quick.result(), ToolFailed);
    await client.close();
  });

  test(`${revision}: a wait for a task is aborted with the reason of its signal`, async () => {
    const client = await connected({ onAsk: () => new Promise(() => {}) });
    const task = await client.startTask("slow");
    const wish = new AbortController();
    setImmediate(() => wish.abort("enough"));
    await assert.rejects(task.result({ signal: wish.signal, timeoutMs: 60_000 }), (reason) => reason === "enough");
    await client.close();
  });

  test(`${revision}: a call is aborted with the reason of its signal`, async () => {
    const client = await connected();
    const wish = new AbortController();
    const call = client.call("wait", {}, { signal: wish.signal, onProgress: () => wish.abort("enough") });
    await assert.rejects(call, (reason) => reason === "enough");
    await client.close();
  });

  test(`${revision}: questions are answered, declined, or cancelled with their call`, async () => {
    const answers = [{ on: true }, "decline"];
    const client = await connected({ onAsk: () => answers.shift() ?? new Promise(() => {}) });
    assert.equal((await client.call("ask")).text, "on: true");
    assert.equal((await client.call("ask")).text, "decline");
    const wish = new AbortController();
    const call = client.call("ask", {}, { signal: wish.signal });
    setImmediate(() => wish.abort("enough"));
    await assert.rejects(call, (reason) => reason === "enough");
    await client.close();
  });

  test(`${revision}: the end of the server fails all calls and says why`, async () => {
    const client = await connected();
    const calls = await Promise.allSettled([client.call("wait"), client.call("exit")]);
    for (const { reason } of calls) {
      assert.ok(reason instanceof ServerGone);
      assert.deepEqual([reason.exitStatus, reason.stderr], [3, "good bye\n"]);
    }
    assert.equal(await client.close(), 3);
  });
}

test("a program that does not exist cannot be started", async () => {
  await assert.rejects(Client.connect(["/no/such/program"]), NotStarted);
});
