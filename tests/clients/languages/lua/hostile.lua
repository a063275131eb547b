-- Calls a tool of servers that break the rules, and prints how each call ended.
local made = dofile(vim.env.TOOLS)
local HELLO = [[{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18"}}]]

--- A server that answers the handshake, and a call by these lines.
local function server(...)
  local lines = table.concat({ ... }, "\n")
  local script = [[read line; printf '%s\n' "$HELLO"; read line; read line; printf '%s\n' "$REPLY"; cat > /dev/null]]
  return {
    command = { "sh", "-c", script },
    env = { HELLO = HELLO, REPLY = lines },
    era = "legacy",
    max_message_bytes = 100000,
    grace_ms = 50,
  }
end

local function ends(how)
  local tools = made.connect(how)
  local is_fine, err = pcall(tools.add, { a = 1 })
  tools.client:close()
  io.stdout:write(vim.json.encode(is_fine and { "fine", err } or { err.kind, err.message }), "\n")
end

local function answer(members)
  return [[{"jsonrpc":"2.0","id":2,]] .. members .. "}"
end

local DONE = answer([["result":{"structuredContent":{"result":7}}]])

local NULLS = [[{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":null}}]]

local function main()
  ends(server("starting", "[1,2]", [[{"level":"info"}]], [[{"jsonrpc":"2.0","id":99,"result":{}}]], DONE))
  ends(server([[{"jsonrpc":"2.0","id":"2","result":{"structuredContent":{"result":7}}}]]))
  ends(server([[{"jsonrpc":"2.0","id":NaN,"method":"ping"}]], [[{"jsonrpc":"2.0","id":[],"method":"x"}]], NULLS, DONE))
  ends(server(answer([["result":{]])))
  ends(server(answer([["result":]] .. ("["):rep(3000) .. ("]"):rep(3000))))
  ends(server(answer([["result":"]] .. ("x"):rep(110000) .. [["]])))
  ends(server(answer([["result":null]])))
  ends(server(answer([["error":{"code":"bad"}]])))
  ends(server([[{"jsonrpc":"2.0","id":2}]]))
  ends(server(answer([["result":{"structuredContent":null}]])))
  ends(server(answer([["result":{"resultType":"later"}]])))
  ends(server(answer([["result":{"resultType":"input_required","inputRequests":{"a":{"method":"x"}}}]])))
  ends(server(answer([["result":{"isError":true,"content":[1,{"type":"text","text":{}}]}]])))
  ends({ command = { "sh", "-c", "exec 1>&-; sleep 100" }, era = "legacy", grace_ms = 50 })
  ends({
    command = { "sh", "-c", "trap '' TERM; sleep 100 & cat > /dev/null; wait" },
    start_timeout_ms = 200,
    grace_ms = 50,
  })
end

local is_fine, problem = xpcall(made.wait, debug.traceback, main)
if not is_fine then
  io.stderr:write(tostring(problem), "\n")
end
vim.cmd(is_fine and "qall!" or "cquit")
