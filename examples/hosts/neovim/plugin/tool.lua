-- :Tool NAME ARGUMENT=VALUE...   calls a tool and shows its result; <Tab> completes names and arguments
-- :ToolCancel                    cancels the calls that still run
--
-- To try it: mkdir -p neovim/lua && toolwire client lua tools.py -o neovim/lua/example_tools.lua
--            nvim --cmd 'set runtimepath+=neovim'
-- The server starts with the first call and ends with Neovim. For tools of your own, name their file instead.

local made = require("example_tools")
local hosts = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h:h:h")
local tools, running = nil, {}

--- Asks for the fields of a form, one after the other; an empty text leaves a field out.
local function ask(question, answer)
  local names, fields = vim.tbl_keys(question.schema.properties or {}), {}
  table.sort(names)
  local function next_field(place)
    if not names[place] then
      return answer(fields)
    end
    vim.ui.input({ prompt = ("%s %s: "):format(question.message, names[place]) }, function(text)
      if not text then
        return answer("cancel")
      end
      local is_json, value = pcall(vim.json.decode, text)
      if text ~= "" then
        fields[names[place]] = is_json and value or text
      end
      next_field(place + 1)
    end)
  end
  next_field(1)
end

local function show(name, err, result)
  if err then
    return vim.notify(tostring(err), vim.log.levels.ERROR)
  end
  if type(result) == "table" and type(result.content) == "table" then -- of a tool without an output schema
    local texts = {}
    for _, block in ipairs(result.content) do
      table.insert(texts, block.text or ("[" .. block.type .. "]"))
    end
    result = table.concat(texts, "\n")
  end
  vim.notify(("%s: %s"):format(name, type(result) == "string" and result or vim.inspect(result)))
end

local function call(command)
  local name = table.remove(command.fargs, 1)
  local tool, arguments = made.tools[name], {}
  if not tool then
    return vim.notify("there is no tool " .. name, vim.log.levels.ERROR)
  end
  for _, word in ipairs(command.fargs) do
    local argument, text = word:match("^(.-)=(.*)$")
    if not argument then
      return vim.notify(word .. " is not ARGUMENT=VALUE", vim.log.levels.ERROR)
    end
    local is_json, value = pcall(vim.json.decode, text)
    arguments[argument] = is_json and value or text
  end
  tools = tools or made.connect({ cwd = hosts, on_ask = ask })
  local handle
  handle = tools[tool.call](arguments, {
    on_progress = function(report)
      vim.notify(("%s: %s %s"):format(name, report.progress, report.message or ""))
    end,
  }, function(err, result)
    running[handle] = nil
    if err and (err.kind == "gone" or err.kind == "start") then
      tools = nil -- the next call starts a server
    end
    show(name, err, result)
  end)
  running[handle] = true
end

--- Completes the name of the tool, and then its arguments.
local function complete(lead, line)
  local name = line:match("^%s*%S+%s+(%S+)%s")
  local choices = vim.tbl_keys(made.tools)
  if name then
    choices = vim.tbl_map(function(argument)
      return argument .. "="
    end, made.tools[name] and made.tools[name].arguments or {})
  end
  table.sort(choices)
  return vim.tbl_filter(function(choice)
    return vim.startswith(choice, lead)
  end, choices)
end

vim.api.nvim_create_user_command("Tool", call, { nargs = "+", complete = complete, desc = "Call a tool" })
vim.api.nvim_create_user_command("ToolCancel", function()
  for handle in pairs(running) do
    handle:cancel()
  end
end, { desc = "Cancel the calls of tools" })
