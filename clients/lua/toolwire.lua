--- Calls the tools of an MCP server from Neovim 0.7.2 or later, with Neovim's own functions only.
---
--- Strategy. Everything happens on Neovim's event loop and nothing blocks: a call returns a handle. Its callback runs
--- scheduled, where all of Neovim's functions may be used. In a coroutine, a call without a callback returns its result
--- or raises its error instead. JSON is encoded here, since vim.json keeps only 14 digits of a number.

local uv = vim.uv or vim.loop
local M = {}

local MODERN = "2026-07-28"
local LEGACY = { "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05" }
local META = "io.modelcontextprotocol/"
local TASKS = META .. "tasks"
local POLL_MS = 1000 -- between two requests for a task, where the server does not say
local SHORTEST_POLL_MS, LONGEST_POLL_MS = 50, 300000
local MAX_TASK_QUESTIONS = 100 -- of one task
local STATES = { working = true, input_required = true, completed = true, failed = true, cancelled = true }
local PROBE_MS = 10000 -- for server/discover, which a legacy server may not answer
local LAST_WORDS_MS = 1000 -- for output that arrives after the end of the process
local MAX_ROUNDS = 10 -- of questions in one call, as in the official clients
local MAX_QUESTIONS = 100 -- open at once
local MAX_UNWRITTEN = 64 * 1024 * 1024 -- bytes that the server has not read
local KEPT_BYTES = 16 * 1024 -- of stderr, and of output that is no message
-- Servers must not see the keys and tokens of others: they get what the official clients pass on.
local PASSED = { "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH" }
vim.list_extend(PASSED, { "LOCALAPPDATA", "PATHEXT", "PROCESSOR_ARCHITECTURE", "PROGRAMDATA", "SYSTEMDRIVE" })
vim.list_extend(PASSED, { "SYSTEMROOT", "TEMP", "USERNAME", "USERPROFILE", "WINDIR" })

---@class toolwire.Options How a server is started and spoken to; all members are optional.
---@field command? string[] the server's command, which runs without a shell
---@field env? table<string, string> variables in addition to the few that servers get
---@field cwd? string the server's working folder
---@field on_ask? fun(question: toolwire.Question, answer: fun(fields: table|"decline"|"cancel")) answers tools' questions
---@field era? "modern"|"legacy" the only revisions of MCP to speak; by default the modern ones are tried first
---@field start_timeout_ms? integer 120000 by default
---@field grace_ms? integer between end of input, SIGTERM and SIGKILL; 2000 by default
---@field max_message_bytes? integer the longest message accepted from the server; 64 MiB by default

---@class toolwire.Question A tool's question to the user. Before MCP 2026-07-28 servers do not say which tool asks.
---@field message string
---@field schema table the JSON Schema of the form, a flat object
---@field tool? string

---@class toolwire.CallOptions
---@field on_progress? fun(progress: toolwire.Progress, handle: toolwire.Handle)
---@field timeout_ms? integer
---@field task? boolean return as soon as the server has answered: with a toolwire.Task, or with the result
---@field task_id? string wait for this task of an earlier call of the tool, which a failed wait leaves running

---@class toolwire.Task A call that goes on at its server, which keeps the result.
---@field task_id string

---@class toolwire.Progress
---@field progress number
---@field total? number
---@field message? string

---@class toolwire.Result The result of a tool without an output schema.
---@field content table[] MCP's content blocks
---@field structuredContent? any
---@field isError? boolean

---@class toolwire.Error The error of a call; tostring() is a sentence for users.
---@field kind "tool"|"request"|"protocol"|"gone"|"timeout"|"cancelled"|"closed"|"start"|"ask"
---@field message string
---@field result? toolwire.Result what a tool failed with
---@field code? integer of a JSON-RPC error, or the exit status of a server that has ended
---@field data? any of a JSON-RPC error
---@field signal? integer that ended the server
---@field stderr? string the end of it
local Error = {}
Error.__index = Error
Error.__tostring = function(err)
  return err.message
end

local function failure(kind, message, more)
  -- Control characters could be commands to a terminal.
  message = message:gsub("[%z\1-\8\11-\31\127]", "\239\191\189")
  return setmetatable(vim.tbl_extend("force", { kind = kind, message = message }, more or {}), Error)
end

-- JSON ----------------------------------------------------------------------------------------------------------------

local function number_text(value)
  if value ~= value or value == math.huge or value == -math.huge then
    error("JSON has no NaN and no infinity", 0)
  end
  for digits = 15, 17 do
    local text = string.format("%." .. digits .. "g", value)
    if tonumber(text) == value then
      return text
    end
  end
end

--- Returns a value as JSON, with all digits. An empty table is a list, and vim.empty_dict() an object.
local function encode(value, depth)
  depth = depth or 0
  if depth > 900 then
    error("a value is nested too deeply, or contains itself", 0)
  elseif type(value) == "number" then
    return number_text(value)
  elseif type(value) ~= "table" then
    return vim.json.encode(value) -- which refuses functions
  end
  local parts = {}
  if vim.tbl_islist(value) and not (next(value) == nil and getmetatable(value)) then
    for _, item in ipairs(value) do
      table.insert(parts, encode(item, depth + 1))
    end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  for name, member in pairs(value) do
    table.insert(parts, vim.json.encode(tostring(name)) .. ":" .. encode(member, depth + 1))
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

local function decode(line)
  local is_json, value = pcall(vim.json.decode, line)
  return is_json and type(value) == "table" and value or nil
end

local function present(value)
  if value == vim.NIL then
    return nil
  end
  return value
end

-- Processes -----------------------------------------------------------------------------------------------------------

local function after(milliseconds, action)
  local timer = uv.new_timer()
  timer:start(milliseconds, 0, function()
    if not timer:is_closing() then
      timer:close()
    end
    action()
  end)
  return function()
    if not timer:is_closing() then
      timer:close()
    end
  end
end

local function environment(more)
  local all, passed = uv.os_environ(), {}
  for _, name in ipairs(PASSED) do
    if all[name] and all[name]:sub(1, 2) ~= "()" then -- an exported shell function
      passed[name] = all[name]
    end
  end
  local words = {}
  for name, value in pairs(vim.tbl_extend("force", passed, more or {})) do
    table.insert(words, name .. "=" .. value)
  end
  return words
end

---@class toolwire.Client A server that was started. Calls wait until it is ready.
---@field revision? string of MCP, when it is ready
local Client = {}
Client.__index = Client

local function signal_group(server, name)
  if not server.code then
    uv.kill(-server.pid, name)
  end
end

--- Starts the process, in a group of its own, and returns its state, or nil and why not.
local function launch(client, on_line, on_gone)
  local options, server = client.options, { stderr = "", open = 2 }
  local input, output, errors = uv.new_pipe(), uv.new_pipe(), uv.new_pipe()
  local function ended(is_late)
    if not server.gone and (is_late or (server.code and server.open == 0)) then
      server.gone = true
      on_gone(server)
    end
  end
  local handle, pid = uv.spawn(options.command[1], {
    args = vim.list_slice(options.command, 2),
    stdio = { input, output, errors },
    env = environment(options.env),
    cwd = options.cwd,
    detached = true, -- setsid
    hide = true,
  }, function(code, signal)
    pcall(uv.kill, -server.pid, "sigkill") -- what is left of the group, whose id is free from now on
    server.code, server.signal = code, signal
    server.handle:close()
    if server.on_exit then
      server.on_exit()
    end
    after(LAST_WORDS_MS, function() -- a process that left the group may hold the pipes
      ended(true)
    end)
    ended()
  end)
  if not handle then
    for _, pipe in ipairs({ input, output, errors }) do
      pipe:close()
    end
    return nil, pid
  end
  server.handle, server.pid, server.input = handle, pid, input
  local function keep(text)
    server.stderr = (server.stderr .. text):sub(-KEPT_BYTES)
  end
  local function read(pipe, take)
    pipe:read_start(function(_, data)
      if data then
        return take(data)
      end
      pipe:close()
      server.open = server.open - 1
      if pipe == output and not server.code then
        after(LAST_WORDS_MS, function()
          ended(true)
        end)
      end
      ended()
    end)
  end
  local parts, length = {}, 0
  local function add(part)
    table.insert(parts, part)
    length = length + #part
    if length > options.max_message_bytes then
      parts, length = {}, 0
      local why = "the server sent a message of more than " .. options.max_message_bytes .. " bytes"
      client:fail(failure("protocol", why))
    end
  end
  read(errors, keep)
  read(output, function(data)
    local start = 1
    for stop in data:gmatch("()\n") do
      add(data:sub(start, stop - 1))
      local is_fine, problem = pcall(on_line, server, table.concat(parts), keep)
      if not is_fine then
        client:fail(failure("protocol", "the server sent a message that cannot be handled: " .. tostring(problem)))
      end
      parts, length, start = {}, 0, stop + 1
    end
    add(data:sub(start))
  end)
  return server
end

--- Ends the process group: by the end of its input, then SIGTERM, then SIGKILL.
local function finish(server, grace_ms)
  if server.finished then
    return
  end
  server.finished = true
  server.input:close()
  after(grace_ms, function()
    signal_group(server, "sigterm")
    after(grace_ms, function()
      signal_group(server, "sigkill")
    end)
  end)
end

-- Requests ------------------------------------------------------------------------------------------------------------

function Client:write(message, is_reply)
  local server = self.server
  message.jsonrpc = "2.0"
  local line = encode(message) .. "\n"
  if not server or server.input:is_closing() then
    return
  end
  if server.input:get_write_queue_size() + #line > MAX_UNWRITTEN then
    if not is_reply then -- a reply is dropped
      error("the server does not read its input", 0)
    end
    return
  end
  server.input:write(line)
end

--- Fails all calls, open and later ones.
function Client:fail(err)
  self.ended = self.ended or err
  for _, call in pairs(vim.tbl_extend("force", self.calls, {})) do
    call.done(err)
  end
  for _, begin in ipairs(self.waiting) do
    begin()
  end
  self.waiting = {}
end

--- Sends a request of a call; its result goes to call.take, its failure to call.done.
function Client:request(call, method, params)
  if self.ended then
    return call.done(self.ended)
  end
  self.last_id = self.last_id + 1
  local id, meta = self.last_id, vim.deepcopy(self.meta or {})
  if call.on_progress then
    meta.progressToken = id
  end
  if next(meta) then
    params._meta = meta
  end
  call.id = id
  self.calls[id] = call
  local is_sent, problem = pcall(self.write, self, { id = id, method = method, params = params })
  if not is_sent then
    self.calls[id] = nil
    call.done(failure("protocol", tostring(problem)))
  end
end

local function new_call(client, callback, options)
  local call, stop = { on_progress = options.on_progress }, nil
  function call.done(err, result)
    if call.is_done then
      return
    end
    call.is_done = true
    client.calls[call.id or 0] = nil
    if stop then
      stop()
    end
    callback(err, result)
  end
  function call.cancel(kind, message)
    if call.is_done then
      return
    end
    local id = client.calls[call.id or 0] and call.id
    local task = call.task
    call.is_cancelled = true
    call.done(failure(kind, message))
    if id and client.revision then -- MCP forbids to cancel the handshake
      pcall(client.write, client, {
        method = "notifications/cancelled",
        params = { requestId = id, reason = message, _meta = client.meta },
      })
    end
    if task and not options.task_id then
      client:cancel_task(task)
    end
  end
  if options.timeout_ms then
    stop = after(options.timeout_ms, function()
      call.cancel("timeout", "no answer within " .. options.timeout_ms .. " ms")
    end)
  end
  return call
end

local function error_of(body)
  body = type(body) == "table" and body or {}
  local message = type(body.message) == "string" and body.message
    or "the server answered with an error without a message"
  local code = type(body.code) == "number" and body.code or 0
  return failure("request", message, { code = code, data = present(body.data) })
end

function Client:take(server, line, keep)
  if server ~= self.server then
    return
  end
  local message = decode(line)
  local id = message and message.id
  local number = type(id) == "string" and tonumber(id) or id
  if not message then
    -- Responses have their id at the beginning or at the end.
    local found = line:find('"jsonrpc"', 1, true)
      and (line:match('^%s*{.-"id"%s*:%s*"?(%d+)') or line:match('"id"%s*:%s*"?(%d+)"?%s*}%s*$'))
    local call = self.calls[tonumber(found or 0)]
    if call then
      return call.done(failure("protocol", "the server sent a response that is no JSON, or nested too deeply"))
    end
    keep(line:sub(1, KEPT_BYTES) .. "\n")
  elseif type(message.method) == "string" then
    if message.id == nil or (type(id) == "string" and #id < KEPT_BYTES) or (type(id) == "number" and id == id) then
      self:asked(message, message.id)
    end
  elseif self.calls[number] or (id == vim.NIL and message.error and self.calls[1]) then
    local call = self.calls[number] or self.calls[1] -- the probe: only its id cannot be read
    if present(message.error) then
      call.done(error_of(message.error))
    elseif message.result == nil then
      call.done(failure("protocol", "the server sent a response with neither a result nor an error"))
    else
      self.calls[call.id] = nil
      call.take(message.result)
    end
  elseif message.jsonrpc == nil then
    keep(line:sub(1, KEPT_BYTES) .. "\n")
  end
end

function Client:asked(message, id)
  local params = type(message.params) == "table" and message.params or {}
  if id == nil then
    local call = self.calls[tonumber(present(params.progressToken))]
    if message.method == "notifications/progress" and call and call.on_progress then
      vim.schedule(function()
        if not call.is_cancelled then -- a result that came after it is reported after it
          call.on_progress(params, call.handle)
        end
      end)
    elseif message.method == "notifications/cancelled" and present(params.requestId) then
      self.questions[params.requestId] = nil
    end
    return
  end
  local function refuse(code, text)
    self:write({ id = id, error = { code = code, message = text } }, true)
  end
  if message.method == "ping" then
    self:write({ id = id, result = vim.empty_dict() }, true)
  elseif message.method ~= "elicitation/create" or not self.options.on_ask then
    refuse(-32601, "this client has no method " .. message.method)
  elseif self.questions[id] or vim.tbl_count(self.questions) >= MAX_QUESTIONS then
    refuse(-32600, "too many open questions, or one id twice")
  else
    local token = {}
    self.questions[id] = token
    self:ask(params, nil, function(err, answer)
      if self.questions[id] ~= token then -- withdrawn
        return
      end
      self.questions[id] = nil
      if err or not pcall(self.write, self, { id = id, result = answer }, true) then
        refuse(-32603, "the client failed to ask the user")
      end
    end)
  end
end

function Client:ask(params, tool, reply)
  if type(params) ~= "table" or type(params.message) ~= "string" or type(params.requestedSchema) ~= "table" then
    return reply(failure("protocol", "the server asks a question that is no form with a message and a schema"))
  end
  vim.schedule(function()
    local is_answered = false
    local function answer(fields)
      if is_answered then
        return
      end
      is_answered = true
      if type(fields) ~= "table" then
        return reply(nil, { action = fields == "cancel" and "cancel" or "decline" })
      end
      reply(nil, { action = "accept", content = next(fields) and fields or vim.empty_dict() })
    end
    local question = { message = params.message, schema = params.requestedSchema, tool = tool }
    local is_fine, problem = pcall(self.options.on_ask, question, answer)
    if not is_fine and not is_answered then
      is_answered = true
      reply(failure("ask", "the client failed to ask the user: " .. tostring(problem)))
    end
  end)
end

-- Tasks ---------------------------------------------------------------------------------------------------------------

local function dig(value, ...)
  for _, name in ipairs({ ... }) do
    value = type(value) == "table" and value[name]
  end
  return value
end

local function poll_ms(members)
  local wanted = tonumber(present(members.pollIntervalMs)) or tonumber(present(members.pollInterval)) or POLL_MS
  return math.min(math.max(wanted, SHORTEST_POLL_MS), LONGEST_POLL_MS)
end

--- Waits for the task that a call has become.
function Client:follow(call, tool, id)
  local is_modern, said, answered, count, poll = self.revision == MODERN, nil, {}, 0, nil
  call.task = id
  local function ask(method, take, more)
    if not call.is_done then
      call.take = take
      self:request(call, method, vim.tbl_extend("force", { taskId = id }, more or {}))
    end
  end
  local function finish_with(result)
    if type(result) ~= "table" then
      return call.done(failure("protocol", "the server sent a result of a task that is none"))
    end
    call.done(nil, result)
  end
  local function report(message)
    if message ~= "" and message ~= said and call.on_progress then
      said = message
      vim.schedule(function()
        if not call.is_cancelled then
          call.on_progress({ progress = 0, message = message }, call.handle)
        end
      end)
    end
  end
  local function again(members)
    after(poll_ms(members), poll)
  end
  local function answer(members)
    local open = {}
    for key, request in pairs(type(members.inputRequests) == "table" and members.inputRequests or {}) do
      if not answered[key] then
        answered[key], open[key], count = true, request, count + 1
      end
    end
    if count > MAX_TASK_QUESTIONS then
      return call.done(failure("protocol", "the task asks more than " .. MAX_TASK_QUESTIONS .. " questions"))
    elseif next(open) == nil then
      return again(members)
    end
    self:ask_all(call, tool, open, function(answers)
      ask("tasks/update", function()
        again(members)
      end, { inputResponses = answers })
    end)
  end
  local function take(members)
    local state = dig(members, "taskId") == id and members.status
    if not STATES[state] then
      return call.done(failure("protocol", "the server sent a task that is none, or another one"))
    end
    report(type(members.statusMessage) == "string" and members.statusMessage or "")
    if state == "cancelled" then
      call.done(failure("request", "the task was cancelled", { code = -32800 }))
    elseif not is_modern and state ~= "working" then -- it may ask only while its result is waited for
      ask("tasks/result", finish_with)
    elseif state == "completed" then
      finish_with(members.result)
    elseif state == "failed" then
      call.done(error_of(members.error))
    elseif state == "input_required" then
      answer(members)
    else
      again(members)
    end
  end
  function poll()
    ask("tasks/get", take)
  end
  poll()
end

--- Asks the server to cancel a task, without waiting for its answer; the server decides whether and when.
---@param id string
function Client:cancel_task(id)
  local call = new_call(self, function() end, {})
  function call.take()
    call.done()
  end
  self:request(call, "tasks/cancel", { taskId = id })
end

-- The handshake -------------------------------------------------------------------------------------------------------

function Client:begin(era)
  local options = self.options
  local server, problem = launch(self, function(...)
    self:take(...)
  end, function(server)
    if server == self.server then
      self:lost(server, era)
    end
  end)
  if not server then
    local why = ("the server cannot be started: %s: %s"):format(options.command[1], problem)
    return self:fail(failure("start", why))
  end
  self.server, self.last_id = server, 0
  table.insert(self.servers, server)
  local info = { name = "toolwire-lua", version = "1" }
  local capabilities = options.on_ask and { elicitation = { form = vim.empty_dict() } } or vim.empty_dict()
  local function ready(revision, meta, capabilities_of_server)
    self.revision, self.meta = revision, meta
    local path = meta and { "extensions", TASKS } or { "tasks", "requests", "tools", "call" }
    self.has_tasks = type(dig(capabilities_of_server, unpack(path))) == "table"
    self.stop_start()
    for _, call in ipairs(self.waiting) do
      call()
    end
    self.waiting = {}
  end
  local function initialize()
    local call = new_call(self, function(err)
      if err and server == self.server and err.kind ~= "gone" then
        self:give_up(err, era)
      end
    end, { timeout_ms = 3 * PROBE_MS })
    function call.take(result)
      local revision = type(result) == "table" and result.protocolVersion
      if not vim.tbl_contains(LEGACY, revision) then
        local why = "the server speaks MCP " .. tostring(revision) .. ", which this client does not know"
        return call.done(failure("protocol", why))
      end
      call.done()
      self:write({ method = "notifications/initialized" })
      ready(revision, nil, result.capabilities)
    end
    local hello = { protocolVersion = LEGACY[1], capabilities = capabilities, clientInfo = info }
    self:request(call, "initialize", hello)
  end
  if era == "legacy" then
    return initialize()
  end
  local meta = {
    [META .. "protocolVersion"] = MODERN,
    [META .. "clientInfo"] = info,
    [META .. "clientCapabilities"] = vim.tbl_extend(
      "force",
      capabilities,
      { extensions = { [TASKS] = vim.empty_dict() } }
    ),
  }
  local call = new_call(self, function(err)
    if err and server == self.server and not server.gone and not self.ended then
      if era == "modern" then
        return self:give_up(err, era)
      end
      initialize()
    end
  end, { timeout_ms = PROBE_MS })
  function call.take(result)
    local versions = type(result) == "table" and result.supportedVersions
    if type(versions) ~= "table" or not vim.tbl_contains(versions, MODERN) then
      return call.done(failure("protocol", "the server does not speak MCP " .. MODERN))
    end
    call.done()
    ready(MODERN, meta, result.capabilities)
  end
  self:request(call, "server/discover", { _meta = meta })
end

--- Starts the server once more without a probe, which may have made it end or hang; fails if there was none.
function Client:give_up(err, era)
  finish(self.server, self.options.grace_ms)
  if era ~= nil or self.ended then
    return self:fail(err)
  end
  self.calls = {}
  self:begin("legacy")
end

function Client:lost(server, era)
  local how = "the server closed its output"
  if server.signal and server.signal ~= 0 then
    how = "the server was ended by signal " .. server.signal
  elseif server.code then
    how = "the server ended with exit status " .. server.code
  end
  how = how
    .. (server.stderr == "" and ", and wrote nothing to its stderr" or "; the end of its stderr:\n" .. server.stderr)
  local err = failure("gone", vim.trim(how), { code = server.code, signal = server.signal, stderr = server.stderr })
  if not self.revision then
    return self:give_up(err, era)
  end
  finish(server, self.options.grace_ms)
  self:fail(err)
end

M.encode = encode

-- What programs call --------------------------------------------------------------------------------------------------

---@class toolwire.Handle
---@field cancel fun(self: toolwire.Handle) ends the wait at once, with an error of the kind "cancelled"
local Handle = {}
Handle.__index = Handle

--- Starts a server and returns its client at once; calls wait until it is ready.
---@param options toolwire.Options
---@return toolwire.Client
function M.connect(options)
  local defaults = { start_timeout_ms = 120000, grace_ms = 2000, max_message_bytes = 64 * 1024 * 1024 }
  options = vim.tbl_extend("force", defaults, options)
  assert(type(options.command) == "table" and options.command[1], "options.command must be a list of words")
  local client = setmetatable({ options = options, calls = {}, waiting = {}, questions = {}, servers = {} }, Client)
  client.stop_start = after(options.start_timeout_ms, function()
    local stderr = client.server and client.server.stderr or ""
    client:fail(failure("timeout", vim.trim("the server was not ready in time; the end of its stderr:\n" .. stderr)))
    client:shut()
  end)
  vim.api.nvim_create_autocmd("VimLeavePre", {
    callback = function() -- no server survives Neovim
      client:shut()
      vim.wait(3 * options.grace_ms, function()
        for _, server in ipairs(client.servers) do
          if not server.code then
            return false
          end
        end
        return true
      end, 5)
    end,
  })
  client:begin(options.era)
  return client
end

--- Calls a tool. The callback gets an error, or nil and the result. In a coroutine and without a callback, it returns
--- the result or raises the error.
---@param name string
---@param arguments? table
---@param options? toolwire.CallOptions
---@param callback? fun(err: toolwire.Error?, result: any)
---@return toolwire.Handle|any
function Client:call_tool(name, arguments, options, callback)
  if type(options) == "function" then
    options, callback = nil, options
  end
  local thread = not callback and coroutine.running()
  if not callback and not thread then
    error("a call needs a callback, or a coroutine: see wait", 2)
  end
  if thread then
    callback = function(...)
      local is_fine, problem = coroutine.resume(thread, ...)
      if not is_fine then
        error(debug.traceback(thread, tostring(problem)), 0)
      end
    end
  end
  local call
  call = new_call(self, function(err, result)
    if not err and result.isError == true then
      local texts = {}
      for _, block in ipairs(type(result.content) == "table" and result.content or {}) do
        table.insert(texts, type(block) == "table" and block.type == "text" and tostring(block.text) or nil)
      end
      err = failure("tool", ("tool %q failed: %s"):format(name, table.concat(texts, "\n")), { result = result })
    end
    vim.schedule(function()
      callback(err, not err and result or nil)
    end)
  end, options or {})
  call.handle = setmetatable({}, Handle)
  function call.handle.cancel()
    call.cancel("cancelled", "the call was cancelled")
  end
  local empty = not arguments or next(arguments) == nil
  local params, rounds = { name = name, arguments = empty and vim.empty_dict() or arguments }, 0
  local wanted = options or {}
  local function take_task(members)
    local id = type(members.taskId) == "string" and members.taskId ~= "" and members.taskId
    if not id then
      call.done(failure("protocol", "the server sent a task without an id"))
    elseif wanted.task then
      call.done(nil, { task_id = id })
    else
      self:follow(call, name, id)
    end
  end
  local done = call.done
  function call.done(err, result)
    -- Some tools of MCP 2025-11-25 run only as tasks; nothing has run.
    local is_refused = err and err.kind == "request" and err.code == -32601 and not call.task
    if is_refused and self.has_tasks and self.revision ~= MODERN and not params.task then
      params.task = vim.empty_dict()
      self.calls[call.id] = nil
      return self:request(call, "tools/call", params)
    end
    done(err, result)
  end
  function call.take(result)
    local kind = type(result) == "table" and result.resultType
    local legacy_task = self.revision ~= MODERN and dig(result, "task")
    if self.revision == MODERN and kind == "task" then
      return take_task(result)
    elseif type(legacy_task) == "table" then
      return take_task(legacy_task)
    end
    if type(result) ~= "table" or (kind ~= nil and kind ~= "complete" and kind ~= "input_required") then
      return call.done(failure("protocol", "the server sent a result of a call that is none"))
    elseif kind ~= "input_required" then
      return call.done(nil, result)
    end
    rounds = rounds + 1
    if rounds >= MAX_ROUNDS then
      return call.done(failure("protocol", "the server still asks after " .. rounds .. " rounds of questions"))
    end
    self:answer(call, name, result, params)
  end
  local function begin()
    if call.is_done then
      return
    elseif wanted.task_id then
      return self:follow(call, name, wanted.task_id)
    elseif wanted.task and not self.ended and not self.has_tasks then
      return call.done(failure("protocol", "the server has no tasks"))
    elseif wanted.task and self.revision ~= MODERN then
      params.task = vim.empty_dict()
    end
    self:request(call, "tools/call", params)
  end
  if self.revision or self.ended then
    begin()
  else
    table.insert(self.waiting, begin)
  end
  if not thread then
    return call.handle
  end
  local err, result = coroutine.yield()
  if err then
    error(err, 0)
  end
  return result
end

--- Answers the questions of a modern server, one after the other, and calls again.
function Client:answer(call, tool, result, params)
  params.requestState, params.inputResponses = present(result.requestState), nil
  local requests = type(result.inputRequests) == "table" and result.inputRequests or {}
  local function call_again(answers)
    if call.is_done then
      return
    end
    params.inputResponses = next(answers) and answers or nil
    self:request(call, "tools/call", params)
  end
  if next(requests) == nil then -- a tool that waits for something
    return after(100, function()
      call_again({})
    end)
  end
  self:ask_all(call, tool, requests, call_again)
end

--- Asks the user all of a modern server's questions, one after the other.
function Client:ask_all(call, tool, requests, reply)
  local names, answers = vim.tbl_keys(requests), {}
  table.sort(names)
  local function ask(place)
    local name = names[place]
    if call.is_done then
      return
    elseif name == nil then
      return reply(answers)
    end
    local request = type(requests[name]) == "table" and requests[name] or {}
    if request.method ~= "elicitation/create" or not self.options.on_ask then
      local why = ("the server asks for %s, which this client did not offer"):format(tostring(request.method))
      return call.done(failure("protocol", why))
    end
    self:ask(request.params, tool, function(err, answer)
      if err then
        return call.done(err)
      end
      answers[name] = answer
      ask(place + 1)
    end)
  end
  ask(1)
end

--- Calls a tool that has an output schema: the result is its structured content, or the member "result" of that.
function Client:call_typed(is_wrapped, name, arguments, options, callback)
  if type(options) == "function" then
    options, callback = nil, options
  end
  local function read(result)
    local value = result.structuredContent
    if is_wrapped then
      value = type(value) == "table" and value or {}
      value = value.result
    end
    if value == nil then
      return failure("protocol", ("tool %q sent no structured result, although it declares one"):format(name))
    end
    return nil, value
  end
  if callback then
    return self:call_tool(name, arguments, options, function(err, result)
      if err then
        return callback(err)
      end
      callback(read(result))
    end)
  end
  local err, value = read(self:call_tool(name, arguments, options))
  if err then
    error(err, 0)
  end
  return value
end

function Client:shut()
  self:fail(failure("closed", "the client was closed"))
  self.stop_start()
  if self.server then
    finish(self.server, self.options.grace_ms)
  end
end

--- Fails the open calls and ends the server with its whole process group. Returns at once; in a coroutine, when the
--- server has ended, with its exit status.
---@return integer?
function Client:close()
  self:shut()
  local server, thread = self.server, coroutine.running()
  if server and thread and not server.code then
    server.on_exit = vim.schedule_wrap(function()
      coroutine.resume(thread)
    end)
    coroutine.yield()
  end
  return server and server.code
end

--- Runs a function in a coroutine until it ends, and returns its result or raises its error. Neovim stays responsive.
---@param work fun(): any
---@return any
function M.wait(work)
  local outcome
  coroutine.wrap(function()
    outcome = {
      xpcall(work, function(problem)
        return getmetatable(problem) == Error and problem or debug.traceback(tostring(problem), 2)
      end),
    }
  end)()
  while not outcome do
    vim.wait(1000, function()
      return outcome ~= nil
    end, 1)
  end
  if not outcome[1] then
    error(outcome[2], 0)
  end
  return outcome[2]
end

return M
