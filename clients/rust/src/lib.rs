//! A client of MCP tool servers over stdio: starts a server, calls its tools, and ends it with all its descendants.
//!
//! Strategy. Four threads serve a process: one writes what callers queued, one reads the output and settles the open
//! calls, one keeps the end of stderr, one waits for the end of the process. One lock holds the state of a conversation;
//! each caller waits on a condition variable of its own, so nothing polls. The server is not trusted: every buffer has a
//! limit, and its texts are escaped before an error shows them. On Tokio (the feature `tokio`), a call waits on one of
//! the threads that Tokio keeps for work that blocks, and the future that the host awaits cancels it when it is dropped.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{json, Map, Value};
use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Once, PoisonError, Weak};
use std::time::{Duration, Instant};
use std::{cell::Cell, env, fmt, mem, panic, path::PathBuf, thread};

const MODERN: &str = "2026-07-28";
const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// A server must not see the keys and tokens of its host, so it gets the variables that MCP's own clients pass on.
const PASSED_ON: [&str; 6] = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];
/// The time limits of `server/discover`, and of `initialize` if that got no answer.
const PROBE: Duration = Duration::from_secs(10);
const RECOVERY: Duration = Duration::from_secs(30);
/// How long a server may take to end by itself, and again after SIGTERM, as in MCP's own clients.
const GRACE: Duration = Duration::from_secs(2);
/// How long to wait for the exit status and the last output of a server that has begun to end.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Before a retry without answers. MCP's own clients pause for 50 to 250 ms, and end after 10 rounds too.
const PAUSE: Duration = Duration::from_millis(100);
const MAX_ROUNDS: usize = 10;
const MAX_PAGES: usize = 1000;
const TASKS: &str = "io.modelcontextprotocol/tasks";
/// Between two requests for a task: where the server does not say, and the limits of what it may say.
const POLL_MS: f64 = 1000.0;
const SHORTEST_POLL_MS: f64 = 50.0;
const LONGEST_POLL_MS: f64 = 300_000.0;
const MAX_TASK_QUESTIONS: usize = 100;
const MAX_QUEUED_BYTES: usize = 4 << 20;
const MAX_UNREAD_PROGRESS: usize = 1000;
const MAX_QUESTIONS: usize = 16;
const MAX_TRIES: usize = 100_000;
const KEPT_BYTES: usize = 16 << 10;
const KEPT_LINES: usize = 20;

pub type Result<T> = std::result::Result<T, Error>;

// --- errors and values ---

/// Why a call, or the start of a server, failed. `stderr` is the end of the server's stderr, and of output lines that
/// are no protocol.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The command cannot be run.
    NotStarted(String),
    /// The server ended, or closed its output (then `status` is `None`), before it answered.
    ServerGone { status: Option<ExitStatus>, stderr: String },
    /// The server violated the protocol, or asks for what this client did not offer.
    Protocol(String),
    /// The answer is a JSON-RPC error, as for a tool that does not exist.
    Request { code: i64, message: String, data: Option<Value> },
    /// The tool failed; the text of the result says why.
    Tool(CallResult),
    /// The arguments cannot be written as JSON.
    Arguments(String),
    /// The tool succeeded, with a result that does not fit its type.
    Mismatch(String, CallResult),
    /// The answer did not arrive in time. A call was cancelled.
    TimedOut { stderr: String },
    /// The host cancelled the call.
    Cancelled,
    /// The client was closed.
    Closed,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let text = match self {
            Error::NotStarted(problem) | Error::Protocol(problem) => problem.clone(),
            Error::ServerGone { status: Some(status), stderr } => {
                format!("the server ended: {status}{}", quoted(stderr))
            }
            Error::ServerGone { status: None, stderr } => format!("the server closed its output{}", quoted(stderr)),
            Error::Request { code, message, .. } => format!("{message} (error {code})"),
            Error::Tool(result) => format!("the tool failed: {}", result.text()),
            Error::Arguments(problem) => format!("the arguments cannot be written as JSON: {problem}"),
            Error::Mismatch(problem, _) => format!("the result does not fit its type: {problem}"),
            Error::TimedOut { stderr } => format!("the server did not answer in time{}", quoted(stderr)),
            Error::Cancelled => "the call was cancelled".into(),
            Error::Closed => "the client is closed".into(),
        };
        text.chars().try_for_each(|letter| match letter {
            '\n' | '\t' | '"' | '\'' | '\\' => write!(f, "{letter}"),
            _ => write!(f, "{}", letter.escape_debug()), // nothing may control a terminal
        })
    }
}

impl std::error::Error for Error {}

fn quoted(stderr: &str) -> String {
    if stderr.is_empty() {
        String::new()
    } else {
        format!("; the end of its stderr:\n{stderr}")
    }
}

fn broken<T>(problem: impl Into<String>) -> Result<T> {
    Err(Error::Protocol(problem.into()))
}

/// A content block of a result. `data` is in Base64.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
#[rustfmt::skip]
pub enum Content {
    Text { text: String },
    Image { data: String, #[serde(rename = "mimeType")] mime_type: String },
    Audio { data: String, #[serde(rename = "mimeType")] mime_type: String },
    ResourceLink { uri: String, name: String },
    Resource { resource: Value },
    /// A block of another type, or one that lacks a member.
    #[serde(skip)]
    Other(Value),
}

/// What a tool returned: content for people and models, and the same as data if the tool returns any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallResult {
    pub content: Vec<Content>,
    pub structured: Option<Value>,
}

impl CallResult {
    /// The text blocks, joined by newlines.
    pub fn text(&self) -> String {
        let text = |block: &Content| if let Content::Text { text } = block { Some(text.clone()) } else { None };
        self.content.iter().filter_map(text).collect::<Vec<_>>().join("\n")
    }

    fn read(mut result: Value) -> Result<CallResult> {
        let structured = result.get_mut("structuredContent").map(Value::take);
        let blocks = match taken(&mut result, "content") {
            Value::Array(blocks) => blocks,
            Value::Null if result.is_object() => Vec::new(),
            _ => return broken("the result of the call has no list of content"),
        };
        let typed = |block| Content::deserialize(&block).unwrap_or(Content::Other(block));
        let made = CallResult { content: blocks.into_iter().map(typed).collect(), structured };
        match (&result["resultType"], &result["isError"]) {
            (_, Value::Bool(true)) => Err(Error::Tool(made)),
            (kind, _) if kind.is_null() || kind == "complete" => Ok(made),
            (kind, _) => broken(format!("the result of the call has the unknown type {kind}")),
        }
    }
}

/// How far a call is; `total` is in the same unit as `progress`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Progress {
    pub progress: f64,
    pub total: Option<f64>,
    pub message: Option<String>,
}

/// A tool's question to the user; `schema` is the JSON Schema of the form to fill in, a flat object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub message: String,
    pub schema: Value,
}

impl Question {
    fn read(params: &Value) -> Result<Question> {
        let is_form = params.get("mode").map_or(true, |mode| mode == "form") && params["requestedSchema"].is_object();
        match params["message"].as_str() {
            Some(message) if is_form => {
                Ok(Question { message: message.into(), schema: params["requestedSchema"].clone() })
            }
            _ => broken("the server's question has no message or no form"),
        }
    }
}

/// The user's answer: the fields of the form, a no, or that the user closed the form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Accept(Map<String, Value>),
    Decline,
    Dismiss,
}

impl Answer {
    fn into_json(self) -> Value {
        match self {
            Answer::Accept(content) => json!({ "action": "accept", "content": content }),
            Answer::Decline => json!({ "action": "decline" }),
            Answer::Dismiss => json!({ "action": "cancel" }),
        }
    }
}

fn listed(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn taken(value: &mut Value, name: &str) -> Value {
    value.get_mut(name).map_or(Value::Null, Value::take)
}

// --- the types of generated clients ---

/// Reads the result of a tool without an output schema.
pub fn content(result: CallResult) -> Result<CallResult> {
    Ok(result)
}

/// Reads the structured content of a result as a `T`.
pub fn structured<T: DeserializeOwned>(result: CallResult) -> Result<T> {
    let content = result.structured.clone();
    typed(content, result)
}

/// Reads the member `result` of the structured content as a `T`.
pub fn wrapped<T: DeserializeOwned>(result: CallResult) -> Result<T> {
    let content = result.structured.as_ref().and_then(|content| content.get("result")).cloned();
    typed(content, result)
}

fn typed<T: DeserializeOwned>(content: Option<Value>, result: CallResult) -> Result<T> {
    match content {
        Some(mut value) => {
            plain(&mut value);
            T::deserialize(value).map_err(|error| Error::Mismatch(error.to_string(), result))
        }
        None => broken("the tool has an output schema, but its result has no structured content"),
    }
}

/// Makes integers of numbers such as `2.0`, which are integers to JSON Schema.
fn plain(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(plain),
        Value::Object(members) => members.values_mut().for_each(plain),
        _ => match value.as_f64() {
            Some(float) if value.is_f64() && float.fract() == 0.0 && float.abs() < 9e15 => *value = json!(float as i64),
            _ => {}
        },
    }
}

/// Reads a member that may be absent as well as null: null is a value, `Some`.
pub fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> std::result::Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// Reads an alternative of a union, and wraps it.
pub fn read<P: DeserializeOwned, T>(value: &Value, wrap: fn(P) -> T) -> Option<T> {
    P::deserialize(value).map(wrap).ok()
}

/// The type of no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Never {}

/// Reads a union: its first alternative that keeps all of the value, or else the first that fits.
pub fn alternative<'de, D, T>(from: D, readers: &[fn(&Value) -> Option<T>]) -> std::result::Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Serialize,
{
    // Unions within alternatives are read again for each of them; how often in all has a limit.
    thread_local!(static TRIES: Cell<usize> = Cell::default());
    let mut value = Value::deserialize(from)?;
    plain(&mut value);
    let tries_before = TRIES.with(Cell::get);
    let mut fitting = None;
    for reader in readers.iter().take_while(|_| TRIES.with(Cell::get) < MAX_TRIES) {
        TRIES.with(|tries| tries.set(tries.get() + 1));
        let found = reader(&value);
        let mut written = json!(found);
        plain(&mut written);
        if found.is_some() && written == value {
            fitting = found;
            break;
        }
        fitting = fitting.or(found);
    }
    if tries_before == 0 {
        TRIES.with(|tries| tries.set(0));
    }
    fitting.ok_or_else(|| D::Error::custom("the value fits no alternative of the union"))
}

// --- the server's process ---

type OnQuestion = Arc<dyn Fn(&Question) -> Answer + Send + Sync>;

/// How to start a server: change the fields of `Server::new(command)`.
#[derive(Clone)]
#[non_exhaustive]
pub struct Server {
    /// The program and its arguments. It runs without a shell, in a session of its own.
    pub command: Vec<OsString>,
    /// Variables in addition to those that each server gets: HOME, LOGNAME, PATH, SHELL, TERM and USER.
    pub env: Vec<(OsString, OsString)>,
    pub current_dir: Option<PathBuf>,
    /// Whether to speak only revisions before 2026-07-28; otherwise this one is tried first.
    pub is_legacy: bool,
    /// How long the server may take to get ready.
    pub start_timeout: Duration,
    /// The longest line accepted from the server. A call with a longer answer fails.
    pub max_message_bytes: usize,
    /// Answers the questions of tools, on any thread, up to 16 at a time. Without it, servers learn that this client
    /// cannot ask. While one is open, the time limits of calls stand still; for
    /// ten questions in each call.
    pub on_question: Option<OnQuestion>,
}

impl Server {
    pub fn new<T: Into<OsString>>(command: impl IntoIterator<Item = T>) -> Server {
        Server {
            command: command.into_iter().map(Into::into).collect(),
            env: Vec::new(),
            current_dir: None,
            is_legacy: false,
            start_timeout: Duration::from_secs(120),
            max_message_bytes: 64 << 20,
            on_question: None,
        }
    }

    /// Starts the server, and agrees with it on a revision of MCP.
    pub fn start(&self) -> Result<Client> {
        let deadline = Instant::now().checked_add(self.start_timeout);
        if !self.is_legacy {
            let client = self.spawn()?;
            match client.shared().shake_hands(true, deadline) {
                // A server that ended, or hangs, after a request that it does not know gets a new process.
                Err(Error::ServerGone { .. } | Error::TimedOut { .. } | Error::Request { .. })
                    if deadline.map_or(true, |end| Instant::now() < end) => {}
                done => return done.map(|()| client),
            }
        }
        let client = self.spawn()?;
        client.shared().shake_hands(false, deadline).map(|()| client)
    }

    fn spawn(&self) -> Result<Client> {
        let (program, arguments) =
            self.command.split_first().map_or((OsString::new(), &[][..]), |(a, b)| (a.clone(), b));
        let mut command = Command::new(&program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env_clear().envs(PASSED_ON.iter().filter_map(|name| Some((name, env::var_os(name)?))));
        command.envs(self.env.iter().cloned());
        if let Some(folder) = &self.current_dir {
            command.current_dir(folder);
        }
        group::separate(&mut command);
        command
            .spawn()
            .and_then(|child| Conversation::start(self, child))
            .map(|shared| Client(Arc::new(Running(shared))))
            .map_err(|error| Error::NotStarted(format!("cannot start {program:?}: {error}")))
    }
}

/// A running server; clones share it. It ends when it is closed, its last clone is dropped, or this process exits.
#[derive(Clone)]
pub struct Client(Arc<Running>);

struct Running(Arc<Conversation>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Client({})", self.shared().process)
    }
}

impl Client {
    /// Ends the server: closes its input, then sends SIGTERM and SIGKILL to its group, two seconds apart.
    pub fn close(&self) {
        self.shared().close();
    }

    /// The result of `server/discover` or `initialize`: the server's name, version, capabilities and instructions.
    pub fn handshake(&self) -> Value {
        self.shared().lock().handshake.clone()
    }

    /// Reads all entries of `tools/list`.
    pub fn tools(&self) -> Result<Vec<Value>> {
        let (mut tools, mut params) = (Vec::new(), json!({}));
        for _ in 0..MAX_PAGES {
            let deadline = Instant::now().checked_add(self.shared().server.start_timeout);
            let mut page = self.shared().request("tools/list", &mut params, deadline)?;
            match taken(&mut page, "tools") {
                Value::Array(entries) => tools.extend(entries),
                _ => return broken("the server's list of tools is no list"),
            }
            match taken(&mut page, "nextCursor") {
                cursor @ Value::String(_) if cursor != params["cursor"] => params["cursor"] = cursor,
                _ => return Ok(tools),
            }
        }
        broken("the server's list of tools does not end")
    }

    /// Prepares a call of the tool `name`; `read` is `content`, `structured` or `wrapped`.
    pub fn call<'a, R>(&self, name: &str, arguments: &impl Serialize, read: Reader<R>) -> Call<'a, R> {
        let params = match serde_json::to_value(arguments) {
            Ok(Value::Null) => Ok(json!({ "name": name, "arguments": {} })),
            Ok(arguments) => Ok(json!({ "name": name, "arguments": arguments })),
            Err(error) => Err(Error::Arguments(error.to_string())),
        };
        Call { client: self.clone(), params, task: None, timeout: None, cancels: Vec::new(), on_progress: None, read }
    }

    /// Prepares the wait for the task that an earlier call has become; `read` is as for that call.
    pub fn task<'a, R>(&self, id: &str, read: Reader<R>) -> Call<'a, R> {
        Call { task: Some(id.into()), ..self.call("", &(), read) }
    }

    /// Asks the server to cancel a task; it decides whether and when.
    pub fn cancel_task(&self, id: &str) -> Result<()> {
        let deadline = Instant::now().checked_add(self.shared().server.start_timeout);
        self.shared().request("tasks/cancel", &mut json!({ "taskId": id }), deadline).map(drop)
    }

    fn shared(&self) -> &Arc<Conversation> {
        &self.0 .0
    }
}

// --- calls ---

type Reader<R> = fn(CallResult) -> Result<R>;
type OnProgress<'a> = Box<dyn FnMut(Progress) + Send + 'a>;

/// A call of a tool; `call` or `start` sends it.
#[must_use = "`call` or `start` sends the call"]
pub struct Call<'a, R> {
    client: Client,
    params: Result<Value>,
    /// The task to wait for, in place of a call.
    task: Option<String>,
    timeout: Option<Duration>,
    /// Each of them cancels the call.
    cancels: Vec<Cancel>,
    on_progress: Option<OnProgress<'a>>,
    read: Reader<R>,
}

impl<'a, R> Call<'a, R> {
    /// Limits the time until the result. There is no limit unless this is called.
    pub fn timeout(self, limit: Duration) -> Self {
        Call { timeout: Some(limit), ..self }
    }

    /// Lets another thread cancel the call.
    pub fn cancel(mut self, handle: &Cancel) -> Self {
        self.cancels.push(handle.clone());
        self
    }

    /// Reports progress, on the thread that waits for the result.
    pub fn on_progress(self, report: impl FnMut(Progress) + Send + 'a) -> Self {
        Call { on_progress: Some(Box::new(report)), ..self }
    }

    /// Asks a server of MCP 2025-11-25 to make the call a task, as servers of later revisions decide by themselves.
    pub fn as_task(mut self) -> Self {
        if self.client.shared().takes_task_requests() {
            self.demand_task();
        }
        self
    }

    fn demand_task(&mut self) {
        if let Ok(Value::Object(params)) = &mut self.params {
            params.insert("task".into(), json!({}));
        }
    }

    /// Sends the call and waits for its result, also if the server makes it a task.
    pub fn call(self) -> Result<R> {
        self.start()?.wait()
    }

    /// Sends the call. Any number of calls may be open.
    pub fn start(self) -> Result<Pending<'a, R>> {
        let deadline = self.timeout.and_then(|limit| Instant::now().checked_add(limit));
        let task = self.task.clone();
        let mut pending = Pending { call: self, deadline, id: 0, task, result: None, is_left: false };
        if pending.task.is_none() {
            pending.send()?;
        }
        Ok(pending)
    }
}

/// A call that was sent. Dropping it cancels the call, and its task.
#[must_use = "dropping it cancels the call"]
pub struct Pending<'a, R> {
    call: Call<'a, R>,
    deadline: Option<Instant>,
    id: u64,
    /// The id of the task that the call has become.
    task: Option<String>,
    result: Option<Value>,
    is_left: bool,
}

impl<R> Pending<'_, R> {
    /// Waits for the result; until then reports progress and asks the user the tool's questions.
    pub fn wait(mut self) -> Result<R> {
        self.receive()?;
        if let Some(id) = self.task.clone() {
            self.result = Some(self.follow(&id)?);
            self.is_left = true;
        }
        CallResult::read(self.result.take().unwrap_or_default()).and_then(self.call.read)
    }

    /// Waits until the server has answered, and returns the id of the task that the call has become; none if the server
    /// has answered with the result.
    pub fn task_id(&mut self) -> Result<Option<String>> {
        self.receive()?;
        Ok(self.task.clone())
    }

    /// Leaves the task at its server, where `Client::task` finds it again. Cancels a call that is no task.
    pub fn leave(mut self) {
        self.is_left = true;
    }

    /// Receives the result of the call, or its task.
    fn receive(&mut self) -> Result<()> {
        if self.task.is_some() || self.result.is_some() {
            return Ok(());
        }
        let shared = Arc::clone(self.call.client.shared());
        for _ in 0..MAX_ROUNDS {
            let mut result = match shared.wait(self.id, &mut self.call.on_progress) {
                Err(Error::Request { code: -32601, .. }) if self.needs_task() => {
                    self.call.demand_task(); // some tools run only as tasks; nothing has run
                    self.send()?;
                    continue;
                }
                other => other?,
            };
            let made = if shared.is_modern() { &result } else { &result["task"] };
            if result["resultType"] == "task" || !shared.is_modern() && made.is_object() {
                self.task = Some(task_state(made, None)?.0);
                return Ok(());
            }
            if result["resultType"] != "input_required" {
                self.result = Some(result);
                return Ok(());
            }
            let asked = Instant::now();
            let answers = shared.answers(&result)?;
            self.deadline = self.deadline.and_then(|deadline| deadline.checked_add(asked.elapsed()));
            if let Ok(Value::Object(params)) = &mut self.call.params {
                params.insert("inputResponses".into(), answers);
                params.insert("requestState".into(), taken(&mut result, "requestState"));
                params.retain(|_, value| !value.is_null());
            }
            self.send()?;
        }
        broken("the tool still asks after 10 rounds of questions")
    }

    fn needs_task(&self) -> bool {
        let has_asked = matches!(&self.call.params, Ok(params) if params.get("task").is_some());
        self.call.client.shared().takes_task_requests() && !has_asked
    }

    /// Waits for the result of the task.
    fn follow(&mut self, id: &str) -> Result<Value> {
        let shared = Arc::clone(self.call.client.shared());
        let is_modern = shared.is_modern();
        let (mut said, mut answered) = (String::new(), Vec::new());
        loop {
            let mut members = self.ask("tasks/get", json!({ "taskId": id }))?;
            let (_, state) = task_state(&members, Some(id))?;
            if let (Some(message), Some(report)) = (members["statusMessage"].as_str(), &mut self.call.on_progress) {
                if !message.is_empty() && message != said {
                    said = message.into();
                    report(Progress { progress: 0.0, total: None, message: Some(said.clone()) });
                }
            }
            match state.as_str() {
                "cancelled" => return Err(task_error(&json!({ "code": -32800, "message": "the task was cancelled" }))),
                // It may ask its questions only while its result is waited for.
                other if !is_modern && other != "working" => return self.ask("tasks/result", json!({ "taskId": id })),
                "completed" => return Ok(taken(&mut members, "result")),
                "failed" => return Err(task_error(&members["error"])),
                "input_required" => self.answer(&shared, id, &mut members, &mut answered)?,
                _ => {}
            }
            let wanted = members.get("pollIntervalMs").or_else(|| members.get("pollInterval")).and_then(Value::as_f64);
            let pause = wanted.unwrap_or(POLL_MS).clamp(SHORTEST_POLL_MS, LONGEST_POLL_MS);
            self.pause(&shared, Duration::from_millis(pause as u64))?;
        }
    }

    /// Answers the questions of a modern task that are new.
    fn answer(
        &mut self,
        shared: &Conversation,
        id: &str,
        members: &mut Value,
        answered: &mut Vec<String>,
    ) -> Result<()> {
        let mut open = taken(members, "inputRequests").as_object().cloned().unwrap_or_default();
        open.retain(|key, _| !answered.contains(key));
        if open.is_empty() {
            return Ok(());
        }
        answered.extend(open.keys().cloned());
        if answered.len() > MAX_TASK_QUESTIONS {
            return broken("the task has asked more than 100 questions");
        }
        let asked = Instant::now();
        let responses = shared.answers(&json!({ "inputRequests": open }))?;
        self.deadline = self.deadline.and_then(|deadline| deadline.checked_add(asked.elapsed()));
        self.ask("tasks/update", json!({ "taskId": id, "inputResponses": responses })).map(drop)
    }

    fn ask(&mut self, method: &str, mut params: Value) -> Result<Value> {
        let terms = Terms { deadline: self.deadline, cancels: self.call.cancels.clone(), wants_progress: false };
        let shared = Arc::clone(self.call.client.shared());
        self.id = shared.begin(method, &mut params, terms)?;
        shared.wait(self.id, &mut None)
    }

    fn pause(&self, shared: &Conversation, time: Duration) -> Result<()> {
        let terms = Terms { deadline: self.deadline, cancels: self.call.cancels.clone(), wants_progress: false };
        let end = Instant::now() + time;
        let mut state = shared.lock();
        loop {
            if let Some(error) = &state.end {
                return Err(error.clone());
            }
            if terms.is_cancelled() {
                return Err(Error::Cancelled);
            }
            if terms.left().is_zero() {
                return Err(Error::TimedOut { stderr: state.stderr() });
            }
            let left = end.saturating_duration_since(Instant::now()).min(terms.left());
            if left.is_zero() {
                return Ok(());
            }
            state = slept(state, &shared.changed, left);
        }
    }

    fn send(&mut self) -> Result<()> {
        let Call { client, params, cancels, on_progress, .. } = &mut self.call;
        let params = params.as_mut().map_err(|error| error.clone())?;
        let terms = Terms { deadline: self.deadline, cancels: cancels.clone(), wants_progress: on_progress.is_some() };
        self.id = client.shared().begin("tools/call", params, terms)?;
        Ok(())
    }
}

impl<R> Drop for Pending<'_, R> {
    fn drop(&mut self) {
        let shared = self.call.client.shared();
        shared.cancel(self.id, Error::Cancelled);
        let mut state = shared.lock();
        state.calls.remove(&self.id);
        let is_ours = self.call.task.is_none() && !self.is_left; // else an earlier call's, or ended, or left
        if let (Some(id), true) = (&self.task, is_ours) {
            state.last_id += 1;
            let params = json!({ "taskId": id, "_meta": state.meta });
            let cancel = json!({ "jsonrpc": "2.0", "id": state.last_id, "method": "tasks/cancel", "params": params });
            shared.push(&mut state, &cancel);
        }
    }
}

/// The id and the state of a task, which is the one that was asked for.
fn task_state(members: &Value, asked: Option<&str>) -> Result<(String, String)> {
    match (members["taskId"].as_str(), members["status"].as_str()) {
        (Some(id), Some(state @ ("working" | "input_required" | "completed" | "failed" | "cancelled")))
            if !id.is_empty() && asked.unwrap_or(id) == id =>
        {
            Ok((id.into(), state.into()))
        }
        _ => broken("the server's task has no id, another one, or an unknown status"),
    }
}

fn task_error(error: &Value) -> Error {
    let code = error["code"].as_i64().unwrap_or(0);
    let message = error["message"].as_str().unwrap_or("the task failed").into();
    Error::Request { code, message, data: error.get("data").cloned() }
}

/// Cancels the calls that it was given to, from any thread.
#[derive(Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Ends the waits for the calls and notifies their servers. Later calls with this handle fail at once.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::SeqCst);
        for shared in live() {
            let cancelled = |(id, call): (&u64, &OpenCall)| call.terms.is_cancelled().then_some(*id);
            let ids: Vec<u64> = shared.lock().calls.iter().filter_map(cancelled).collect();
            for id in ids {
                shared.cancel(id, Error::Cancelled);
            }
            shared.changed.notify_all();
        }
    }

    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

// --- on Tokio ---

/// Awaits what the methods without `_async` wait for. Nothing blocks a thread of the executor.
#[cfg(feature = "tokio")]
mod on_tokio {
    use super::{panic, Call, Cancel, Client, Error, Result, Server, Value};

    impl Server {
        /// Starts the server; see `start`.
        pub async fn start_async(&self) -> Result<Client> {
            let server = self.clone();
            finish(move || server.start()).await
        }
    }

    impl Client {
        /// Reads all entries of `tools/list`.
        pub async fn tools_async(&self) -> Result<Vec<Value>> {
            let client = self.clone();
            finish(move || client.tools()).await
        }

        /// Ends the server; see `close`. Dropping the last clone does the same, but blocks.
        pub async fn close_async(&self) {
            let client = self.clone();
            let closed = finish(move || {
                client.close();
                Ok(())
            });
            let _ = closed.await; // fails only if the runtime ends
        }
    }

    impl<R: Send + 'static> Call<'static, R> {
        /// Sends the call and awaits its result; see `call`. Dropping the future cancels the call, and its task.
        ///
        /// Each open call takes one of Tokio's threads for work that blocks, 512 unless `max_blocking_threads` says else.
        pub async fn call_async(self) -> Result<R> {
            let dropped = CancelOnDrop(Cancel::new());
            let call = self.cancel(&dropped.0);
            finish(move || call.call()).await
        }
    }

    struct CancelOnDrop(Cancel);

    impl Drop for CancelOnDrop {
        fn drop(&mut self) {
            self.0.cancel();
        }
    }

    async fn finish<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
        match tokio::task::spawn_blocking(work).await {
            Ok(result) => result,
            Err(error) if error.is_panic() => panic::resume_unwind(error.into_panic()),
            Err(_) => Err(Error::Cancelled), // the runtime ends
        }
    }
}

// --- the conversation ---

#[derive(Default)]
struct Terms {
    deadline: Option<Instant>,
    cancels: Vec<Cancel>,
    wants_progress: bool,
}

impl Terms {
    fn is_cancelled(&self) -> bool {
        self.cancels.iter().any(Cancel::is_cancelled)
    }

    fn left(&self) -> Duration {
        self.deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()))
    }
}

struct OpenCall {
    terms: Terms,
    outcome: Option<Result<Value>>,
    progress: VecDeque<Progress>,
    /// How many questions the user was asked during the call; the first ten stop its clock.
    questions: usize,
    woken: Arc<Condvar>,
}

struct Conversation {
    process: u32,
    /// The process that started it; a fork of that leaves the server alone.
    owner: u32,
    server: Server,
    state: Mutex<State>,
    /// Wakes the thread that writes.
    queued: Condvar,
    /// Wakes threads that wait for room in the outbox, or for the end of the process.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    last_id: u64,
    /// The `_meta` of each request: empty before a modern revision is agreed on.
    meta: Map<String, Value>,
    /// Null until the server is ready.
    handshake: Value,
    outbox: Vec<u8>,
    calls: HashMap<u64, OpenCall>,
    /// How many questions the user is being asked, and how many threads a legacy server has for them.
    asking: usize,
    questions: usize,
    stderr: Vec<u8>,
    status: Option<ExitStatus>,
    end: Option<Error>,
    is_closing: bool,
    has_exited: bool,
    /// How many of stdout and stderr have ended.
    ended: usize,
}

impl State {
    /// Ends an open call; returns whether there was one.
    fn settle(&mut self, id: u64, outcome: Result<Value>) -> bool {
        match self.calls.get_mut(&id) {
            Some(call) if call.outcome.is_none() => {
                call.outcome = Some(outcome);
                call.woken.notify_all();
                true
            }
            _ => false,
        }
    }

    fn keep(&mut self, text: &[u8]) {
        self.stderr.extend_from_slice(&text[text.len().saturating_sub(KEPT_BYTES)..]);
        let excess = self.stderr.len().saturating_sub(KEPT_BYTES);
        self.stderr.drain(..excess);
    }

    fn stderr(&self) -> String {
        let text = String::from_utf8_lossy(&self.stderr);
        let lines = text.lines().collect::<Vec<_>>();
        lines[lines.len().saturating_sub(KEPT_LINES)..].join("\n")
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn slept<'a>(state: MutexGuard<'a, State>, on: &Condvar, limit: Duration) -> MutexGuard<'a, State> {
    on.wait_timeout(state, limit).unwrap_or_else(PoisonError::into_inner).0
}

/// Every conversation whose threads run.
static LIVE: Mutex<Vec<Weak<Conversation>>> = Mutex::new(Vec::new());

fn live() -> Vec<Arc<Conversation>> {
    locked(&LIVE).iter().filter_map(Weak::upgrade).collect()
}

extern "C" fn close_all() {
    live().iter().for_each(|shared| shared.close());
}

impl Conversation {
    fn start(server: &Server, mut child: Child) -> io::Result<Arc<Conversation>> {
        let shared = Arc::new(Conversation {
            process: child.id(),
            owner: std::process::id(),
            server: server.clone(),
            state: Mutex::default(),
            queued: Condvar::new(),
            changed: Condvar::new(),
        });
        static AT_EXIT: Once = Once::new();
        AT_EXIT.call_once(|| group::at_exit(close_all));
        locked(&LIVE).retain(|other| other.strong_count() > 0);
        locked(&LIVE).push(Arc::downgrade(&shared));
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        shared.background("wait", move |shared| shared.await_exit(child))?;
        let others = || {
            shared.background("write", move |shared| stdin.map_or((), |pipe| shared.write(pipe)))?;
            shared.background("stderr", move |shared| stderr.map_or((), |pipe| shared.read_stderr(pipe)))?;
            shared.background("read", move |shared| stdout.map_or((), |pipe| shared.read(pipe)))
        };
        others().map_err(|error| {
            shared.close();
            error
        })?;
        Ok(shared)
    }

    fn background(self: &Arc<Self>, name: &str, work: impl FnOnce(&Arc<Self>) + Send + 'static) -> io::Result<()> {
        let shared = Arc::clone(self);
        thread::Builder::new().name(format!("toolwire-{name}")).spawn(move || work(&shared)).map(drop)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    fn is_modern(&self) -> bool {
        !self.lock().meta.is_empty()
    }

    /// Whether the server makes calls tasks that ask for it, as in MCP 2025-11-25.
    fn takes_task_requests(&self) -> bool {
        let state = self.lock();
        let has_tasks = state.handshake["capabilities"]["tasks"]["requests"]["tools"]["call"].is_object();
        state.meta.is_empty() && has_tasks && state.handshake["protocolVersion"] == LEGACY[0]
    }

    // --- to the server ---

    fn shake_hands(self: &Arc<Self>, is_modern: bool, mut deadline: Option<Instant>) -> Result<()> {
        let sooner = |limit| deadline.into_iter().chain(Instant::now().checked_add(limit)).min();
        let (probe, recovery) = (sooner(PROBE), sooner(PROBE + RECOVERY));
        let name = option_env!("CARGO_PKG_NAME").unwrap_or("toolwire-client");
        let info = json!({ "name": name, "version": option_env!("CARGO_PKG_VERSION").unwrap_or("0") });
        let can_ask = self.server.on_question.is_some();
        let capabilities = if can_ask { json!({ "elicitation": { "form": {} } }) } else { json!({}) };
        if is_modern {
            let mut declared = capabilities.clone();
            declared["extensions"] = json!({ TASKS: {} });
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientInfo": info,
                "io.modelcontextprotocol/clientCapabilities": declared,
            });
            match self.request("server/discover", &mut json!({ "_meta": meta }), probe) {
                Ok(welcome) if listed(&welcome["supportedVersions"]).any(|version| version == MODERN) => {
                    let mut state = self.lock();
                    state.meta.extend(meta.as_object().cloned().unwrap_or_default());
                    state.handshake = welcome;
                    return Ok(());
                }
                Ok(_) | Err(Error::Request { .. } | Error::Protocol(_)) => {}
                Err(Error::TimedOut { .. }) => deadline = recovery,
                Err(error) => return Err(error),
            }
        }
        let mut params = json!({ "protocolVersion": LEGACY[0], "capabilities": capabilities, "clientInfo": info });
        let welcome = self.request("initialize", &mut params, deadline)?;
        if !LEGACY.iter().any(|version| welcome["protocolVersion"] == *version) {
            return broken(format!("the server speaks MCP {}, which this client does not", welcome["protocolVersion"]));
        }
        let mut state = self.lock();
        self.push(&mut state, &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        state.handshake = welcome;
        Ok(())
    }

    fn request(self: &Arc<Self>, method: &str, params: &mut Value, deadline: Option<Instant>) -> Result<Value> {
        let id = self.begin(method, params, Terms { deadline, ..Terms::default() })?;
        self.wait(id, &mut None)
    }

    /// Queues a request, as soon as the outbox has room, and returns its id.
    fn begin(self: &Arc<Self>, method: &str, params: &mut Value, terms: Terms) -> Result<u64> {
        let mut state = self.lock();
        state.last_id += 1;
        let (id, mut meta) = (state.last_id, state.meta.clone());
        drop(state);
        if terms.wants_progress {
            meta.insert("progressToken".into(), id.into());
        }
        if !meta.is_empty() {
            params["_meta"] = meta.into();
        }
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string();
        let mut state = self.lock();
        while state.end.is_none() && !terms.is_cancelled() && state.outbox.len() > MAX_QUEUED_BYTES {
            if terms.left().is_zero() {
                return Err(Error::TimedOut { stderr: state.stderr() });
            }
            state = slept(state, &self.changed, terms.left());
        }
        match &state.end {
            Some(end) => return Err(end.clone()),
            None if terms.is_cancelled() => return Err(Error::Cancelled),
            None => {}
        }
        let call = OpenCall { terms, outcome: None, progress: VecDeque::new(), questions: 0, woken: Arc::default() };
        state.calls.insert(id, call);
        state.outbox.extend([message.as_bytes(), b"\n"].concat());
        self.queued.notify_one();
        Ok(id)
    }

    fn wait(&self, id: u64, on_progress: &mut Option<OnProgress>) -> Result<Value> {
        let mut state = self.lock();
        loop {
            let is_asking = state.asking > 0;
            let call = state.calls.get_mut(&id).ok_or(Error::Closed)?;
            let left = if is_asking && call.questions < MAX_ROUNDS { Duration::MAX } else { call.terms.left() };
            if let (Some(progress), Some(report)) = (call.progress.pop_front(), on_progress.as_mut()) {
                drop(state);
                report(progress);
                state = self.lock();
            } else if let Some(outcome) = call.outcome.take() {
                state.calls.remove(&id);
                return outcome;
            } else if !left.is_zero() {
                let woken = Arc::clone(&call.woken);
                state = slept(state, &woken, left);
                continue;
            }
            if left.is_zero() {
                let stderr = state.stderr();
                drop(state);
                self.cancel(id, Error::TimedOut { stderr });
                state = self.lock();
            }
        }
    }

    /// Settles an open call with an error of this side, and notifies the server.
    fn cancel(&self, id: u64, error: Error) {
        let mut state = self.lock();
        let mut params = json!({ "requestId": id, "reason": error.to_string() });
        if !state.meta.is_empty() {
            params["_meta"] = state.meta.clone().into();
        }
        // MCP forbids to cancel the handshake; it ends with the process.
        if state.settle(id, Err(error)) && !state.handshake.is_null() {
            self.push(&mut state, &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
        }
    }

    /// Queues a message that no caller waits for, unless the server reads nothing.
    fn push(&self, state: &mut State, message: &Value) {
        if state.outbox.len() < 2 * MAX_QUEUED_BYTES {
            state.outbox.extend(format!("{message}\n").into_bytes());
            self.queued.notify_one();
        }
    }

    fn write(&self, mut pipe: impl Write) {
        loop {
            let mut state = self.lock();
            while state.outbox.is_empty() && !state.is_closing {
                state = self.queued.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            let messages = mem::take(&mut state.outbox);
            drop(state);
            self.changed.notify_all();
            if messages.is_empty() {
                return;
            }
            if pipe.write_all(&messages).is_err() {
                return self.gone();
            }
        }
    }

    fn fail(&self, error: Error) {
        let mut state = self.lock();
        let end = state.end.get_or_insert(error).clone();
        let ids = state.calls.keys().copied().collect::<Vec<_>>();
        for id in ids {
            state.settle(id, Err(end.clone()));
        }
        self.changed.notify_all();
    }

    fn close(&self) {
        if self.owner != std::process::id() {
            return;
        }
        self.fail(Error::Closed);
        let mut state = self.lock();
        state.is_closing = true;
        self.queued.notify_one();
        for signal in [None, Some(group::TERMINATE), Some(group::KILL)] {
            if let (Some(signal), false) = (signal, state.has_exited) {
                group::signal(self.process, signal);
            }
            let ended = self.changed.wait_timeout_while(state, GRACE, |state| !state.has_exited);
            state = ended.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    // --- from the server ---

    fn await_exit(&self, mut child: Child) {
        group::await_exit(&mut child);
        let mut state = self.lock();
        // Descendants end with it. Nobody else can have the id of the group as long as the process is a zombie.
        group::signal(self.process, group::KILL);
        state.status = child.wait().ok();
        state.has_exited = true;
        self.changed.notify_all();
        drop(state);
        self.gone();
    }

    /// Fails all calls, once the last output was read.
    fn gone(&self) {
        let is_open = |state: &mut State| !state.has_exited || state.ended < 2;
        let ended = self.changed.wait_timeout_while(self.lock(), LAST_WORDS, is_open);
        let state = ended.unwrap_or_else(PoisonError::into_inner).0;
        let error = Error::ServerGone { status: state.status, stderr: state.stderr() };
        drop(state);
        self.fail(error);
    }

    fn stream_ended(&self) {
        self.lock().ended += 1;
        self.changed.notify_all();
    }

    fn read_stderr(&self, mut pipe: impl Read) {
        let mut chunk = [0; 4096];
        while let Ok(length @ 1..) = pipe.read(&mut chunk) {
            self.lock().keep(&chunk[..length]);
        }
        self.stream_ended();
    }

    fn read(self: &Arc<Self>, pipe: impl Read) {
        let (limit, mut line, mut is_cut) = (self.server.max_message_bytes, Vec::new(), false);
        let mut reader = BufReader::with_capacity(64 << 10, pipe);
        loop {
            let length = reader.by_ref().take(64 << 10).read_until(b'\n', &mut line).unwrap_or(0);
            is_cut |= line.len() > limit + 1;
            if length == 0 || line.ends_with(b"\n") {
                self.receive(&line, is_cut);
                is_cut = false;
                line.clear();
                line.shrink_to(1 << 20);
            } else if is_cut {
                line.drain(100..line.len() - 100); // the head and the tail may have the id
            }
            if length == 0 {
                self.stream_ended();
                return self.gone();
            }
        }
    }

    fn receive(self: &Arc<Self>, line: &[u8], is_cut: bool) {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            return;
        }
        let problem = match serde_json::from_str(text) {
            _ if is_cut => "it is too long".into(),
            Ok(message) if text.starts_with(['{', '[']) => {
                if self.take(message) {
                    return;
                }
                String::new()
            }
            Ok(_) => String::new(),
            Err(problem) => problem.to_string(),
        };
        let unreadable = || broken(format!("the server's answer cannot be read: {problem}"));
        let mut state = self.lock();
        if problem.is_empty() || !id_within(text).map_or(false, |id| state.settle(id, unreadable())) {
            state.keep(&text.as_bytes()[..text.len().min(1000)]);
            state.keep(b"\n");
        }
    }

    /// Acts on a message; returns whether it is one.
    fn take(self: &Arc<Self>, mut message: Value) -> bool {
        if let Value::Array(batch) = message {
            return !batch.is_empty() && batch.into_iter().all(|each| self.take(each));
            // revision 2025-03-26 has batches
        }
        let (id, params) = (message.get("id").cloned(), taken(&mut message, "params"));
        match (message["method"].as_str(), id) {
            (Some("notifications/progress"), None) => self.report(params),
            (Some(_), None) => {}
            (Some(method), Some(id)) => self.asked(method, id, params),
            (None, id) => return self.answered(&id.unwrap_or_default(), message),
        }
        true
    }

    fn answered(&self, id: &Value, mut message: Value) -> bool {
        let outcome = match (taken(&mut message, "error"), message.get_mut("result").map(Value::take)) {
            (mut error @ Value::Object(_), _) => Err(Error::Request {
                code: error["code"].as_i64().unwrap_or(0),
                message: error["message"].as_str().unwrap_or("the server returned an error without a message").into(),
                data: error.get_mut("data").map(Value::take),
            }),
            (_, Some(result)) => Ok(result),
            _ if message.get("jsonrpc").is_some() => broken("the server's answer has neither a result nor an error"),
            _ => return false, // a log line may be JSON
        };
        let mut state = self.lock();
        // Before the handshake is over, there is one request, and a server may refuse it without reading its id.
        let first = state.last_id.min(if state.handshake.is_null() { u64::MAX } else { 0 });
        let id = if id.is_null() && outcome.is_err() { Some(first) } else { number(id) };
        id.map_or(false, |id| state.settle(id, outcome) || id <= state.last_id)
    }

    fn report(&self, params: Value) {
        let (id, progress) = (number(&params["progressToken"]), Progress::deserialize(params));
        let mut state = self.lock();
        let call = id.and_then(|id| state.calls.get_mut(&id)).filter(|call| call.terms.wants_progress);
        if let (Some(call), Ok(progress)) = (call, progress) {
            if call.outcome.is_none() && call.progress.len() < MAX_UNREAD_PROGRESS {
                call.progress.push_back(progress);
                call.woken.notify_all();
            }
        }
    }

    fn asked(self: &Arc<Self>, method: &str, id: Value, params: Value) {
        let (member, body) = match method {
            "ping" => ("result", json!({})),
            "elicitation/create" if self.server.on_question.is_some() => {
                let mut state = self.lock();
                let has_room = state.questions < MAX_QUESTIONS;
                state.questions += 1;
                drop(state);
                let asked_id = id.clone();
                let ask = move |shared: &Arc<Self>| {
                    match Question::read(&params).map(|question| shared.ask(&question)) {
                        Ok(Ok(answer)) => shared.reply(asked_id, "result", answer.into_json()),
                        Ok(Err(_)) => {
                            shared.reply(asked_id, "error", problem(-32603, "the client failed to ask the user"))
                        }
                        Err(error) => shared.reply(asked_id, "error", problem(-32602, &error.to_string())),
                    }
                    shared.lock().questions -= 1;
                };
                if has_room && self.background("question", ask).is_ok() {
                    return;
                }
                self.lock().questions -= 1;
                ("error", problem(-32600, "the user is asked too many questions"))
            }
            _ => ("error", problem(-32601, "this client has no such method")),
        };
        self.reply(id, member, body);
    }

    fn reply(&self, id: Value, member: &str, body: Value) {
        self.push(&mut self.lock(), &json!({ "jsonrpc": "2.0", "id": id, member: body }));
    }

    fn answers(&self, result: &Value) -> Result<Value> {
        let requests = match &result["inputRequests"] {
            Value::Object(requests) => requests,
            Value::Null if result["requestState"].is_string() => {
                thread::sleep(PAUSE);
                return Ok(Value::Null);
            }
            _ => return broken("the tool asks for nothing, or in another form than an object"),
        };
        let mut answers = Map::new();
        for (name, request) in requests {
            if request["method"] != "elicitation/create" || self.server.on_question.is_none() {
                return broken(format!("the tool asks for {}, which this client did not offer", request["method"]));
            }
            let answer =
                self.ask(&Question::read(&request["params"])?).unwrap_or_else(|panic| panic::resume_unwind(panic));
            answers.insert(name.clone(), answer.into_json());
        }
        Ok(answers.into())
    }

    /// Asks the user. The time that takes does not count for any call.
    fn ask(&self, question: &Question) -> thread::Result<Answer> {
        let began = Instant::now();
        self.lock().asking += 1;
        let ask = || self.server.on_question.as_ref().map_or(Answer::Decline, |ask| ask(question));
        let answer = panic::catch_unwind(panic::AssertUnwindSafe(ask));
        let mut state = self.lock();
        state.asking -= 1;
        for call in state.calls.values_mut() {
            call.questions += 1;
            if call.questions <= MAX_ROUNDS {
                call.terms.deadline = call.terms.deadline.and_then(|deadline| deadline.checked_add(began.elapsed()));
            }
            call.woken.notify_all();
        }
        answer
    }
}

fn problem(code: i32, message: &str) -> Value {
    json!({ "code": code, "message": message })
}

/// The id of an answer as a number: some servers return it as a text or a fraction.
fn number(id: &Value) -> Option<u64> {
    let text = id.as_str().and_then(|text| text.parse().ok());
    id.as_u64().or(text).or_else(|| id.as_f64().filter(|id| id.fract() == 0.0).map(|id| id as u64))
}

/// The id in an answer that cannot be read: servers put it first or last.
fn id_within(text: &str) -> Option<u64> {
    let (first, last) =
        (text.find("\"id\":").filter(|at| *at < 40), text.rfind("\"id\":").filter(|at| text.len() - at < 60));
    let digits = text.get(first.or(last)? + 5..)?.trim_start_matches([' ', '"']);
    digits.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

/// Groups of processes, through functions of the C library that the standard library does not have.
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod group {
    use std::os::unix::process::CommandExt;
    use std::{io, process::Child, process::Command};

    pub const TERMINATE: i32 = 15;
    pub const KILL: i32 = 9;
    const PROCESS: i32 = 1; // P_PID
    const WITHOUT_REAPING: i32 = 4 | if cfg!(target_os = "linux") { 0x0100_0000 } else { 0x20 }; // WEXITED | WNOWAIT

    // Edition 2024 requires `unsafe extern`, which compilers before 1.82 do not know. `_` is an `expr` from there on only.
    macro_rules! foreign {
        ($_2024:expr, $($functions:tt)*) => { unsafe extern "C" { $($functions)* } };
        (_, $($functions:tt)*) => { extern "C" { $($functions)* } };
    }
    foreign! { _,
        fn setsid() -> i32;
        fn kill(process: i32, signal: i32) -> i32;
        fn waitid(kind: i32, process: u32, info: *mut [u64; 16], options: i32) -> i32;
        fn atexit(handler: extern "C" fn()) -> i32;
    }

    pub fn separate(command: &mut Command) {
        // SAFETY: between fork and exec, `setsid` is allowed; it cannot fail there.
        unsafe {
            command.pre_exec(|| {
                setsid();
                Ok(())
            })
        };
    }

    /// Waits for the end of the process, and leaves it a zombie.
    pub fn await_exit(child: &mut Child) {
        let mut info = [0; 16]; // as large as a `siginfo_t`, or larger
                                // SAFETY: `info` has room for what is written there.
        while unsafe { waitid(PROCESS, child.id(), &mut info, WITHOUT_REAPING) } != 0
            && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
        {}
    }

    pub fn signal(process: u32, signal: i32) {
        // SAFETY: it only fails. The caller knows that the group exists.
        unsafe { kill(-(process as i32), signal) };
    }

    pub fn at_exit(handler: extern "C" fn()) {
        // SAFETY: the handler does not unwind, or the process is aborted.
        unsafe { atexit(handler) };
    }
}

/// Elsewhere, processes have no groups; their trees are ended on Windows.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod group {
    use std::process::{Child, Command};

    pub const TERMINATE: i32 = 15;
    pub const KILL: i32 = 9;

    pub fn separate(_: &mut Command) {}
    pub fn at_exit(_: extern "C" fn()) {}

    pub fn await_exit(child: &mut Child) {
        let _ = child.wait();
    }

    pub fn signal(process: u32, _: i32) {
        let _ = Command::new("taskkill").args(["/F", "/T", "/PID", &process.to_string()]).output();
    }
}
