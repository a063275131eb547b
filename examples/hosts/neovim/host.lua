-- A host in Neovim: its language-server client speaks JSON-RPC with Content-Length headers, and so do we.
--
--     nvim --headless --clean --cmd 'luafile host.lua' -- toolwire serve ../tools.py
--
-- Inside an editor, keep `server` and call it from mappings; nothing here blocks but `wait_for`.

local command = vim.fn.argv()
local on_progress = {}
local server, exit

local dispatchers = {
  notification = function(method, params)
    local report = method == 'notifications/progress' and on_progress[params.progressToken]
    if report then
      report(params)
    end
  end,
  server_request = function()
    return nil, vim.lsp.rpc.rpc_response_error(vim.lsp.protocol.ErrorCodes.MethodNotFound)
  end,
  on_exit = function(code)
    exit = code
  end,
  on_error = function(code, reason)
    io.stderr:write(('%s: %s\n'):format(code, vim.inspect(reason)))
  end,
}

local function say(text, ...)
  io.stdout:write(text:format(...), '\n')
end

local function start()
  assert(#command > 0, "usage: nvim --headless --clean --cmd 'luafile host.lua' -- COMMAND...")
  local started
  started, server = pcall(vim.lsp.rpc.start, command, dispatchers)
  if not started then -- Older releases want the arguments apart from the program.
    server = vim.lsp.rpc.start(command[1], vim.list_slice(command, 2), dispatchers)
  end
  assert(server, command[1] .. ' cannot be started')
end

local function wait_for(condition)
  vim.wait(30000, function()
    return exit or condition()
  end, 5)
  if not condition() then
    assert(exit, 'the server does not answer')
    -- There is what it wrote to its stderr.
    error(('the server ended with status %d; see %s'):format(exit, require('vim.lsp.log').get_filename()))
  end
end

-- The answer of a request as {error, result}; neither of the two when it was cancelled, since Neovim keeps that to itself.
local function request(method, params, options)
  options = options or {}
  local answer, done, id
  if options.on_progress then
    params = vim.tbl_extend('force', params, { _meta = { progressToken = method } })
    on_progress[method] = function(report)
      options.on_progress(report, id)
    end
  end
  _, id = server.request(method, params, function(error, result)
    answer = { error = error, result = result }
  end, function()
    done = true
  end)
  wait_for(function()
    return done
  end)
  -- The two callbacks above are scheduled one after the other.
  vim.wait(20, function()
    return answer
  end)
  return answer or {}
end

local function call(name, arguments, options)
  return request('tools/call', { name = name, arguments = arguments }, options)
end

local function main()
  start()
  for _, tool in ipairs(request('tools/list', vim.empty_dict()).result.tools) do
    say('%s: %s', tool.name, tool.description)
  end

  say('add -> %d', call('add', { a = 2, b = 3 }).result.structuredContent.result)

  local refused = call('add', { a = 'two', b = 3 }).result
  say('add %s: %s', refused.isError and 'failed' or 'worked', refused.content[1].text)

  local counted = call('count', { to = 3 }, {
    on_progress = function(report)
      say('count: %d of %d', report.progress, report.total)
    end,
  })
  say('count -> %s', counted.result.content[1].text)

  local waited = call('wait', { seconds = 60 }, {
    on_progress = function(_, id)
      server.notify('$/cancelRequest', { id = id })
    end,
  })
  say('wait %s', waited.result and 'answered' or 'cancelled')

  -- Neovim ends a server by signal; it leaves in order all the same.
  if server.terminate then
    server.terminate()
  else
    server.handle:kill('sigterm')
  end
  wait_for(function()
    return exit
  end)
  say('the server left with status %d', exit)
end

local fine, problem = xpcall(main, debug.traceback)
if not fine then
  io.stderr:write(problem, '\n')
end
vim.cmd(fine and 'qall!' or 'cquit')
