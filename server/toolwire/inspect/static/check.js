// The contract kit, run from the page: verdicts as they come, failures first, and the report at the end.
import { stream } from "./api.js";
import { alerted, byId, fragment, make, put } from "./dom.js";

const [begin, stop, progress, counts, report] = ["begin", "stop", "checked", "counts", "report"].map(byId);

/** @param {AbortSignal} signal */
async function run(signal) {
  const [bad, other] = [make("div", { class: "verdicts" }), make("details", {}, make("summary", {}, "Passed and skipped"))];
  put(report, bad, other);
  /** @type {Map<string, number>} */
  const found = new Map();
  const body = { only: byId("only").value.split(/[\s,]+/).filter(Boolean), destructive: byId("destructive").checked };
  for await (const event of stream("check", body, signal)) {
    const one = /** @type {import("./api.js").CheckEvent} */ (event);
    if (one.type === "report") return report.replaceChildren(fragment(one.html));
    if (one.type === "failure") throw new Error(one.message);
    [progress.max, progress.value] = [one.total, one.number];
    found.set(one.outcome, (found.get(one.outcome) ?? 0) + 1);
    (["fail", "warn"].includes(one.outcome) ? bad : other).append(fragment(one.html));
    put(counts, `${one.number} of ${one.total}: ${[...found].map(([outcome, count]) => `${count} ${outcome}`).join(", ")}`);
  }
}

byId("ask").addEventListener("submit", async (/** @type {Event} */ event) => {
  event.preventDefault();
  const abort = new AbortController();
  stop.onclick = () => abort.abort();
  [begin.hidden, stop.hidden, progress.hidden] = [true, false, false];
  progress.removeAttribute("value");
  put(counts, "Starting…");
  await run(abort.signal).catch((error) => put(counts, abort.signal.aborted ? "Stopped." : alerted(error)));
  [begin.hidden, stop.hidden, progress.hidden] = [false, true, true];
});
