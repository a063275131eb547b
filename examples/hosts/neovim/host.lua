-- A host in Neovim, with the client that `toolwire client lua tools.py -o neovim/lua/example_tools.lua` has written.
--
--     nvim --headless --clean --cmd 'luafile neovim/host.lua' -- toolwire serve tools.py

local folder = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h")
local made = dofile(folder .. "/lua/example_tools.lua")

local function say(text, ...)
  io.stdout:write(text:format(...), "\n")
end

local function main()
  local command = vim.fn.argv()
  assert(#command > 0, "usage: nvim --headless --clean --cmd 'luafile host.lua' -- COMMAND...")
  local tools = made.connect({ command = command })
  local names = vim.tbl_keys(made.tools)
  table.sort(names)
  local sum = tools.add({ a = 2, b = 3 })
  for _, name in ipairs(names) do
    say("%s: %s", name, made.tools[name].about)
  end
  say("add -> %d", sum)

  local _, refused = pcall(tools.add, { a = "two", b = 3 })
  say("add failed: %s", refused.result.content[1].text)

  local counted = tools.count({ to = 3 }, {
    on_progress = function(report)
      say("count: %d of %d", report.progress, report.total)
    end,
  })
  say("count -> %s", counted.content[1].text)

  local _, waited = pcall(tools.wait, { seconds = 60 }, {
    on_progress = function(_, handle)
      handle:cancel()
    end,
  })
  say("wait %s", waited.kind)

  say("the server left with status %d", tools.client:close())
end

local is_fine, problem = xpcall(made.wait, debug.traceback, main)
if not is_fine then
  io.stderr:write(tostring(problem), "\n")
end
vim.cmd(is_fine and "qall!" or "cquit")
