// The page: its views, the server's status, and the events that keep both up to date.
import { get, stream } from "./api.js";
import "./check.js";
import { alerted, byId, fragment, make, put, tabs } from "./dom.js";
import { tools } from "./tools.js";
import { traffic } from "./traffic.js";

const VIEWS = ["Tools", "Traffic", "Check", "Run"];
let [canRestart, stderr] = [false, ""];

/** @param {import("./api.js").Status | "not connected"} status @param {string | Node} problem */
function showStatus(status, problem) {
  put(byId("status"), status);
  byId("status").className = `badge ${status === "ready" ? "good" : status === "starting" ? "muted" : "bad"}`;
  byId("restart").hidden = !canRestart || status === "not connected";
  byId("ended").hidden = !problem;
  put(byId("ended"), make("strong", {}, problem), status === "ended" && stderr && make("pre", {}, stderr));
}

async function load() {
  const state = /** @type {import("./api.js").State} */ (await get("state"));
  const { server, command, target } = state;
  traffic.isLive = canRestart = command !== null || target !== null;
  document.title = `${server?.name || state.title} · toolwire inspect`;
  const facts = [server?.version, server && `MCP ${server.revision}`, server?.pid && `pid ${server.pid}`];
  put(byId("title"), server?.name || state.title);
  put(byId("facts"), facts.filter(Boolean).join(" · "));
  byId("facts").title = command?.join(" ") ?? target ?? "";
  showStatus(state.status, state.problem);
  tools.show(state);
  return state.views;
}

/** Shows the views that this page has; its address remembers which. @param {string[]} shown */
function showViews(shown) {
  for (const name of VIEWS) byId(name.toLowerCase()).hidden = true;
  const names = VIEWS.filter((name) => shown.includes(name.toLowerCase()));
  let wanted = location.hash;
  const views = tabs("Views", names.map((name) => [name, byId(name.toLowerCase())]), (name) => {
    history.replaceState(null, "", `#${name === "Tools" ? tools.path() : name.toLowerCase()}`);
    traffic.draw();
  });
  const follow = () => {
    const [view, ...key] = wanted.slice(1).split("/");
    try {
      if (key.length) tools.select(key.map(decodeURIComponent).join("/"));
    } catch {} // an address that is not one of ours
    views.choose(names.find((name) => name.toLowerCase() === view) ?? names[0] ?? "");
  };
  byId("views").append(views.list);
  window.addEventListener("hashchange", () => {
    wanted = location.hash;
    follow();
  });
  follow();
}

/** @param {import("./api.js").PageEvent} event */
function take(event) {
  if (event.type === "run") {
    const view = byId("run");
    const isAtEnd = byId("status").textContent !== "ended" && view.scrollTop + view.clientHeight > view.scrollHeight - 50;
    byId("steps").append(fragment(event.html));
    if (isAtEnd) view.scrollTop = view.scrollHeight;
  }
  if (event.type === "status") stderr = event.stderr;
  if (event.type === "changed" || event.type === "status") load().catch(() => {}); // the next try to follow tells
  traffic.add(event);
}

/** Takes each event; a hidden page lets go of its connection, since a browser has only six for all pages of a host. */
async function follow() {
  for (let [after, tries] = [0, 0]; tries < 5; tries++) {
    const abort = new AbortController();
    if (document.hidden) await new Promise((shown) => document.addEventListener("visibilitychange", shown, { once: true }));
    document.addEventListener("visibilitychange", () => abort.abort(), { once: true });
    try {
      for await (const event of stream(`events?after=${after}`, undefined, abort.signal)) {
        [after, tries] = [event.number, 0];
        take(event);
      }
    } catch {} // the next try tells whether it is over
    if (abort.signal.aborted) tries = -1;
    else await new Promise((later) => setTimeout(later, 200 * tries));
  }
  showStatus("not connected", "`toolwire inspect` has ended. What this page shows stays.");
}

byId("restart").addEventListener("click", () => get("restart", {}).catch((error) => showStatus("ended", alerted(error))));
load().then(showViews).then(follow).catch((error) => showStatus("not connected", alerted(error)));
