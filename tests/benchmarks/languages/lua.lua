-- Measures the generated client: CALLS SERVER..., prints {"per_second": …, "p50_seconds": …}.
local made = dofile("client.lua")
local words = vim.fn.argv()
local calls = tonumber(table.remove(words, 1))

local function main()
  local tools, thread, took = made.connect({ command = words }), coroutine.running(), nil
  tools.add({ a = 0, b = 0 })
  for _ = 1, 2 do
    local begun, left = vim.loop.hrtime(), calls
    for number = 1, calls do
      tools.add({ a = number, b = 3 }, function(err, sum)
        assert(not err and sum == number + 3)
        left = left - 1
        if left == 0 then
          coroutine.resume(thread)
        end
      end)
    end
    coroutine.yield()
    took = (vim.loop.hrtime() - begun) / 1e9
  end
  local times = {}
  for number = 1, math.max(math.floor(calls / 10), 1) do
    local begun = vim.loop.hrtime()
    tools.add({ a = number, b = 3 })
    table.insert(times, (vim.loop.hrtime() - begun) / 1e9)
  end
  table.sort(times)
  local p50 = times[math.floor(#times / 2) + 1]
  io.stdout:write(vim.json.encode({ per_second = calls / took, p50_seconds = p50 }), "\n")
end

local is_fine, problem = xpcall(made.wait, debug.traceback, main)
if not is_fine then
  io.stderr:write(tostring(problem), "\n")
end
vim.cmd(is_fine and "qall!" or "cquit")
