-- Drives the client of npm's server-everything.
local made = dofile(vim.env.TOOLS)

local function main()
  local tools, steps = made.connect(), 0
  local weather = tools.get_structured_content({ location = "Chicago" })
  tools.trigger_long_running_operation({ duration = 0.2, steps = 2 }, {
    on_progress = function()
      steps = steps + 1
    end,
  })
  local sum = tools.get_sum({ a = 2, b = 3 }).content[1].text
  local resource = tools.get_resource_reference().content[2].resource.uri
  local image = tools.get_tiny_image().content[2].mimeType
  io.stdout:write(vim.json.encode({ tools.client.revision, weather, sum, image, steps, resource }), "\n")
end

local is_fine, problem = xpcall(made.wait, debug.traceback, main)
if not is_fine then
  io.stderr:write(tostring(problem), "\n")
end
vim.cmd(is_fine and "qall!" or "cquit")
