// The contract kit, run from the page: verdicts as they come, failures first, and the report at the end.
import { reason, stream } from "./api.js";
import { byId, fragment, make, put } from "./dom.js";

const [begin, stop, progress, counts, report] = ["begin", "stop", "checked", "counts", "report"].map(byId);

/** @param {AbortSignal} signal */
async function run(signal) {
  const [bad, other] = [make("div", { class: "verdicts" }), make("details", {}, make("summary", {}, "Passed and skipped"))];
  put(report, bad, other);
  /** @type {Map<string, number>} */
  const found = new Map();
  const body = { only: byId("only").value.split(/[\s,]+/).filter(Boolean), destructive: byId("destructive").checked };
  put(counts, "Starting…");
  for await (const event of stream("check", body, signal)) {
    const one = /** @type {import("./api.js").CheckEvent} */ (event);
    if (one.type === "report") report.replaceChildren(fragment(one.html));
    if (one.type === "failure") put(counts, one.message);
    if (one.type !== "verdict") return;
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
  const running = (/** @type {boolean} */ is) => [begin.hidden, stop.hidden, progress.hidden] = [is, !is, !is];
  running(true);
  progress.removeAttribute("value");
  await run(abort.signal).catch((error) => put(counts, abort.signal.aborted ? "Stopped." : reason(error)));
  running(false);
});
