-- Drives the client of every_type.py in Neovim: prints a line of JSON for each step, which test_lua.py reads.
local made = dofile(vim.env.TOOLS)
local era = vim.env.ERA ~= "" and vim.env.ERA or nil

local function say(step, value)
  io.stdout:write(vim.json.encode({ step, value }), "\n")
end

local function kind(is_fine, err)
  if is_fine then
    return "no error"
  end
  return type(err) == "table" and err.kind .. ": " .. err.message or tostring(err)
end

local value = {
  text = "grün </script> \226\128\168",
  whole = 9007199254740991,
  number = 0.1,
  flag = true,
  nothing = vim.NIL,
  mode = "as usual",
  colour = "light green",
  level = 2,
  one_or_two = 1,
  words = { "a", "" },
  pair = { 1, "one" },
  counts = { ["a b"] = 1 },
  matrix = { { 1, 2.5 }, {} },
  place = { x = 1, y = 2 },
  places = { home = { { x = 3 } }, none = {} },
  shape = { type = "circle", centre = { x = 1 }, radius = 2.5 },
  tree = { name = "root", branches = { { name = "leaf" } } },
  maybe = vim.NIL,
  either = { 1, 2 },
  options = { type = "x", func = vim.NIL },
  day = "2026-11-23",
  anything = { deep = { vim.NIL, 0.1 + 0.2 }, empty = vim.empty_dict() },
  ["kebab-case"] = "kebab",
}

local function types(tools)
  say("add", { tools.add({ a = 2, b = 3 }), tools.add({ a = 2 }) })
  local several = tools.every_type({ value = value, times = 2 })
  say("exact", { several[1].whole == value.whole, several[2].anything.deep[2] == 0.1 + 0.2 })
  several[1].whole, several[2].whole = 0, 0
  say("every type", several)
  say("measure", tools.measure({ shape = { type = "square", side = 3 } }))
  local tree = tools.plant({ depth = 2 })
  say("plant", { tree.name, tree.branches[1].name, tree.branches[1].branches[1].name })
  local picture = tools.picture().content[1]
  say("picture", { picture.type, picture.mimeType })
  say("nothing", { tools.nothing() == vim.NIL })
  say("just text", tools.just_text({ words = { "a", "b" } }).content[1].text)
  local items = tools.list_items_v2({ first = 5, max_items = 2 })
  say("names", { tools.class().content[1].text, tools.get_url_for({ page = "a" }).content[1].text, items })
end

local function failures(tools)
  local is_fine, err = pcall(tools.fail, { reason = "out of order" })
  say("fail", { kind(is_fine, err), err.result.content[1].text })
  say("bad arguments", kind(pcall(tools.every_type, { value = value, times = 9 })))
  local _, missing = pcall(tools.client.call_tool, tools.client, "missing")
  say("missing", { missing.kind, missing.code })
  local is_sent = pcall(tools.add, { a = print })
  say("no JSON", { is_sent, tools.add({ a = 1 }) })
end

local function calls(tools)
  local seen = {}
  tools.count({ to = 3 }, {
    on_progress = function(report)
      table.insert(seen, { report.progress, report.total, report.message })
    end,
  })
  say("progress", seen)
  local stopped = kind(pcall(tools.wait, { name = "lua" }, {
    on_progress = function(_, handle)
      handle:cancel()
    end,
  }))
  local was = tools.was_cancelled({ name = "lua" })
  say("cancel", { stopped, was, kind(pcall(tools.wait, { name = "late" }, { timeout_ms = 50 })) })
  local right, left, thread = 0, 10000, coroutine.running()
  for number = 1, 10000 do
    tools.add({ a = number }, function(err, sum)
      right = right + (not err and sum == number + 1 and 1 or 0)
      left = left - 1
      if left == 0 then
        coroutine.resume(thread)
      end
    end)
  end
  coroutine.yield()
  say("pipelined", right)
  say("no questions", kind(pcall(tools.order, { dish = "soup" })))
end

local function questions()
  local asked, answers = {}, { { size = "large", pieces = 2 }, "decline", "cancel" }
  local tools = made.connect({
    era = era,
    on_ask = function(question, answer)
      table.insert(asked, { question.message, question.tool or "", question.schema.type })
      local given = table.remove(answers, 1)
      if not given then
        error("the user is away", 0)
      end
      answer(given)
    end,
  })
  local done = { tools.order({ dish = "soup" }).content[1].text }
  for _ = 1, 3 do
    table.insert(done, kind(pcall(tools.order, { dish = "tea" })))
  end
  say("questions", { asked, done })
  tools.client:close()
end

local function death()
  local tools, thread, opened = made.connect({ era = era }), coroutine.running(), nil
  tools.wait({ name = "open" }, {
    on_progress = function()
      coroutine.resume(thread)
    end,
  }, function(err)
    opened = err
  end)
  coroutine.yield()
  local _, err = pcall(tools.die, { status = 7, words = "out of \27[31mpaper" })
  say("death", { err.kind, err.code, vim.trim(err.stderr), opened.kind, err.message:find("\27", 1, true) ~= nil })
  say("later", kind(pcall(tools.add, { a = 1 })))
end

local function main()
  local tools = made.connect({ era = era })
  types(tools)
  say("revision", tools.client.revision)
  failures(tools)
  calls(tools)
  tools.client:close()
  say("closed", kind(pcall(tools.add, { a = 1 })))
  questions()
  death()
  local broken = made.connect({ command = { "sh", "-c", "echo no config >&2; exit 3" } })
  say("no start", kind(pcall(broken.add, { a = 1 })))
  local _, missing = pcall(made.connect({ command = { "no such program" } }).add, { a = 1 })
  say("no start", missing.kind)
  made.connect({ era = era }).add({ a = 1 }) -- is not closed: the end of Neovim ends its server
end

local is_fine, problem = xpcall(made.wait, debug.traceback, main)
if not is_fine then
  io.stderr:write(tostring(problem), "\n")
end
vim.cmd(is_fine and "qall!" or "cquit")
