-- Uses the commands of the example plugin: prints its completions, and then each notification, as JSON.
local function say(value)
  io.stdout:write(vim.json.encode(value), "\n")
end

local last
vim.notify = function(text)
  last = text
  say(text)
  if text:find("^wait: ") then
    vim.cmd("ToolCancel")
  end
end

local function run(command, final)
  vim.cmd(command)
  assert(
    vim.wait(60000, function()
      return last ~= nil and last:find(final, 1, true) ~= nil
    end, 5),
    command
  )
end

local function main()
  say(vim.fn.getcompletion("Tool ", "cmdline"))
  say(vim.fn.getcompletion("Tool c", "cmdline"))
  say(vim.fn.getcompletion("Tool add ", "cmdline"))
  run("Tool add a=2 b=3", "add: 5")
  run("Tool nothing", "no tool")
  run("Tool add a", "not ARGUMENT")
  run("Tool add a=two", "failed")
  run("Tool count to=2", "counted to 2")
  run("Tool wait seconds=60", "cancelled")
end

local is_fine, problem = xpcall(main, debug.traceback)
if not is_fine then
  io.stderr:write(tostring(problem), "\n")
end
vim.cmd(is_fine and "qall!" or "cquit")
