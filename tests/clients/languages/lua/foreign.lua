-- Drives the client of a server of the official Python SDK in both eras.
local made = dofile(vim.env.TOOLS)
local era = vim.env.ERA ~= "" and vim.env.ERA or nil

local function main()
  local asked, steps = {}, 0
  local tools = made.connect({
    era = era,
    on_ask = function(question, answer)
      table.insert(asked, question.message)
      answer({ sure = true })
    end,
  })
  local _, failed = pcall(tools.fail)
  local _, waited = pcall(tools.wait, {}, { timeout_ms = 100 })
  local counted = tools.count({}, {
    on_progress = function(report)
      steps = steps + report.progress
    end,
  })
  local deleted = tools.delete({ what = "it" })
  local said =
    { tools.add({ a = 2, b = 3 }), failed.kind, waited.kind, counted, steps, deleted, asked, tools.client.revision }
  io.stdout:write(vim.json.encode(said), "\n")
end

local is_fine, problem = xpcall(made.wait, debug.traceback, main)
if not is_fine then
  io.stderr:write(tostring(problem), "\n")
end
vim.cmd(is_fine and "qall!" or "cquit")
