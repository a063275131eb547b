// The page: its views, the server's status, and the events that keep both up to date.
import { get, saved, stream } from "./api.js";
import { comparison } from "./compare.js";
import { alerted, byId, fragment, make, put } from "./dom.js";
import { history } from "./history.js";
import { parse, write } from "./json.js";
import { focusIn } from "./keys.js";
import { run } from "./run.js";
import { steps } from "./steps.js";
import { time } from "./time.js";
import { tools } from "./tools.js";
import { traffic } from "./traffic.js";

const links = /** @type {HTMLAnchorElement[]} */ ([...byId("views").children]);

let isByKey = false; // whether a key has chosen the view, so that the focus follows

/** @param {import("./api.js").Status | "not connected"} status @param {string | Node} problem */
function showStatus(status, problem) {
  byId("status").className = `badge ${status === "ready" ? "good" : problem ? "bad" : "muted"}`;
  put(byId("status"), status);
  put(byId("ended"), problem);
  byId("ended").hidden = !problem;
  byId("restart").hidden = !traffic.isLive || status === "not connected";
}

async function load() {
  const state = /** @type {import("./api.js").State} */ (await get("state"));
  const { server, command, target } = state;
  traffic.isLive = command !== null || target !== null;
  const name = server?.name || state.title;
  const facts = [server?.version, server && `MCP ${server.revision}`, server?.pid && `pid ${server.pid}`];
  document.title = `${name} · toolwire inspect`;
  put(byId("title"), name);
  put(byId("facts"), facts.filter(Boolean).join(" · "));
  byId("facts").title = command?.join(" ") ?? target ?? "";
  for (const link of links) link.hidden = !state.views.includes(link.hash.slice(1));
  steps.name(state.title, state.status !== "ended", state.servers_of_run);
  showReplay(state);
  showStatus(state.status, state.problem);
  tools.show(state);
}

/** How to replay what is shown; a page in one file has its recording in it. @param {import("./api.js").State} state */
function showReplay({ replay, title }) {
  byId("replay").hidden = !replay;
  put(byId("replay"), "Replay: ", make("code", {}, replay));
  byId("save").hidden = saved !== null;
  if (!saved) return;
  const { events } = saved;
  byId("export").onclick = () => {
    const entries = events.map(parse).filter((event) => event.type === "message");
    const file = new Blob(entries.map(({ entry }) => `${write(entry)}\n`), { type: "application/x-ndjson" });
    Object.assign(byId("export"), { href: URL.createObjectURL(file), download: title.split(/[\\/]/).at(-1) });
  };
}

/** Shows what the page's address names. */
function navigate() {
  const shown = links.filter((link) => !link.hidden);
  const view = shown.find((link) => link.hash === location.hash.split("/")[0]) ?? shown[0];
  for (const link of links) {
    link.ariaCurrent = link === view ? "page" : null;
    byId(link.hash.slice(1)).hidden = link !== view;
  }
  tools.choose(location.hash);
  traffic.draw();
  time.draw();
  if (isByKey && view) focusIn(byId(view.hash.slice(1)));
  isByKey = false;
}

/** @param {import("./api.js").PageEvent} event */
function take(event) {
  if (event.type === "run") steps.add(event);
  if (event.type === "comparison") {
    const { names, texts } = event;
    put(byId("compare"), comparison("The second run", ...texts, names));
  }
  if (event.type === "process") put(byId("process"), fragment(event.html));
  if (event.type === "history") history.load().catch(() => {});
  if (event.type === "status") load().catch(() => {}); // the next try to follow tells
  traffic.add(event);
  time.add(event, traffic.isLive);
}

const visibility = () => new Promise((change) => document.addEventListener("visibilitychange", change, { once: true }));

/** Takes each event; a hidden page lets go of its connection, since a browser has only six for all pages of a host. */
async function follow() {
  let after = 0;
  for (let tries = 0; tries < 5; tries++) {
    if (document.hidden) await visibility();
    const abort = new AbortController();
    visibility().then(() => abort.abort());
    try {
      for await (const event of stream(`events?after=${after}`, undefined, abort.signal)) {
        after = event.number;
        tries = 0;
        take(event);
      }
    } catch {} // the next try tells whether it is over
    if (abort.signal.aborted) tries = -1;
    else await new Promise((later) => setTimeout(later, 200 * tries));
  }
  showStatus("not connected", "`toolwire inspect` has ended. What this page shows stays.");
}

byId("restart").onclick = () => get("restart", {}).catch((error) => showStatus("ended", alerted(error)));
document.addEventListener("submit", (event) => event.preventDefault());
byId("ask").onsubmit = () => {
  const body = { only: byId("only").value.match(/[^\s,]+/g) ?? [], destructive: byId("destructive").checked };
  run("check", body, byId("report"));
};
window.addEventListener("hashchange", navigate);
for (const link of links) link.addEventListener("click", (event) => (isByKey = event.detail === 0));
load()
  .then(navigate)
  .then(follow)
  .catch((error) => showStatus("not connected", alerted(error)));
