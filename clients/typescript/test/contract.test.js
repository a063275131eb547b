// How the author of a server, or of a host, tests against the contract with Node alone.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Client } from "@toolwire/client";
import { cases, play, schemas } from "@toolwire/client/contract";
import { Ajv2020 } from "ajv/dist/2020.js";

const SERVER = [process.execPath, fileURLToPath(new URL("server.js", import.meta.url))];
const ajv = new Ajv2020({ schemas: schemas(), strict: false, validateFormats: false });

const options = { validate: (schema, value) => ajv.validate(schema, value), timeoutMs: 5000 };

const call = { name: "add", arguments: { a: 1, b: 2 } };
const wrong = { name: "add", arguments: { a: "one", b: 2 } };

async function failures(command, pattern) {
  const chosen = cases().filter(({ id }) => pattern.test(id));
  const failed = [];
  let passed = 0;
  for await (const verdict of play(command, chosen, { ...options, values: { tools: true, call, wrong } })) {
    if (verdict.outcome === "fail") failed.push(`${verdict.case} in ${verdict.revision}`);
    if (verdict.outcome === "pass") passed++;
  }
  assert.ok(passed > 0);
  return failed;
}

test("a server that keeps the contract passes", async () => {
  assert.deepEqual(await failures(SERVER, /^(lifecycle|calls)\//), []);
});

test("a server that breaks it fails where it does", async () => {
  assert.deepEqual(await failures([...SERVER, "--agrees-to-everything"], /^lifecycle\//), [
    "lifecycle/unknown-version in 2025-11-25",
    "lifecycle/modern-version in 2025-11-25",
  ]);
});

test("what a host sends fits the published schemas", async () => {
  const folder = mkdtempSync(join(tmpdir(), "toolwire-"));
  for (const [revision, ...words] of [["2026-07-28"], ["2025-11-25", "--legacy"]]) {
    const record = join(folder, revision);
    const host = await Client.connect([...SERVER, ...words], { env: { RECORD: record }, onAsk: () => "decline" });
    await host.listTools();
    await host.call("ask");
    await host.call("wait", {}, { onProgress: () => {}, timeoutMs: 50 }).catch(() => {});
    await host.close();
    const sent = readFileSync(record, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.ok(sent.length > 4);
    const schema = { $ref: `urn:toolwire:v1:messages-${revision}#/$defs/client-message` };
    // The first message is a modern one to any server: only its answer says which revision is spoken.
    const faults = sent.slice(words.length).filter((message) => !ajv.validate(schema, message));
    assert.deepEqual(faults, []);
  }
  rmSync(folder, { recursive: true });
});
