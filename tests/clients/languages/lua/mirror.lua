-- Calls mirror_0, mirror_1 … with the arguments in the lines of a file, and prints their results.
local made = dofile(vim.env.TOOLS)

local function main()
  local tools, number = made.connect(), 0
  for line in io.lines(vim.env.ARGUMENTS) do
    io.stdout:write(made.encode(tools["mirror_" .. number](vim.json.decode(line))), "\n")
    number = number + 1
  end
end

local is_fine, problem = xpcall(made.wait, debug.traceback, main)
if not is_fine then
  io.stderr:write(tostring(problem), "\n")
end
vim.cmd(is_fine and "qall!" or "cquit")
