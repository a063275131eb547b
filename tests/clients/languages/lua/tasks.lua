-- Drives the runtime with a server whose calls become tasks.
local toolwire = dofile(vim.env.TOOLS)

local function main()
  local asked, messages = 0, {}
  local client = toolwire.connect({
    command = vim.json.decode(vim.env.SERVER),
    era = vim.env.ERA ~= "" and vim.env.ERA or nil,
    on_ask = function(_, answer)
      asked = asked + 1
      answer({})
    end,
  })
  local function say(step, value)
    io.stdout:write(vim.json.encode({ step, value }), "\n")
  end
  local function text(result)
    return result.content[1].text
  end
  local function kind(name, options)
    local is_fine, err = pcall(client.call_tool, client, name, {}, options)
    return is_fine and "no error" or { err.kind, err.message, err.code }
  end
  local function note(progress)
    table.insert(messages, progress.message)
  end
  say("work", text(client:call_tool("work", {}, { on_progress = note })))
  say("messages", messages)
  say("quick", text(client:call_tool("quick")))
  if client.revision ~= "2025-11-25" then
    say("ask", { text(client:call_tool("ask")), asked })
    say("fail", kind("fail"))
  end
  local task = client:call_tool("work", {}, { task = true })
  say("task", task)
  say("again", text(client:call_tool("work", {}, { task_id = task.task_id })))
  say("other", kind("work", { task_id = "other" }))
  local endless = client:call_tool("endless", {}, { task = true })
  say("waited", kind("endless", { task_id = endless.task_id, timeout_ms = 100 }))
  client:cancel_task(endless.task_id)
  say("cancelled", kind("endless", { task_id = endless.task_id }))
  say("late", kind("endless", { timeout_ms = 100 }))
  say("its task", kind("endless", { task_id = "t" }))
end

local is_fine, problem = xpcall(toolwire.wait, debug.traceback, main)
if not is_fine then
  io.stderr:write(tostring(problem), "\n")
end
vim.cmd(is_fine and "qall!" or "cquit")
