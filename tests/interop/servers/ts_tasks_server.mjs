// The official TypeScript SDK, first generation, whose tools may run as tasks.
import { load } from '../drivers/peers.mjs'

const { Server } = load('@modelcontextprotocol/sdk/server/index.js')
const { StdioServerTransport } = load('@modelcontextprotocol/sdk/server/stdio.js')
const { InMemoryTaskStore } = load('@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js')
const { CallToolRequestSchema, ListToolsRequestSchema } = load('@modelcontextprotocol/sdk/types.js')

const store = new InMemoryTaskStore()
const server = new Server(
  { name: 'slow', version: '1' },
  {
    capabilities: { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
    taskStore: store,
  },
)
const form = { type: 'object', properties: { sure: { type: 'boolean' } }, required: ['sure'] }
const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds))
const text = (words, isError = false) => ({ content: [{ type: 'text', text: words }], isError })

const bodies = {
  async work({ steps }, report) {
    for (let step = 1; step <= steps; step += 1) {
      await report(`step ${step}`)
      await sleep(300)
    }
    return text('worked')
  },
  async fail() {
    return text('out of order', true)
  },
  async delete() {
    const answer = await server.elicitInput({ message: 'Sure?', requestedSchema: form })
    return text(answer.action === 'accept' && answer.content.sure ? 'deleted' : 'kept')
  },
}

server.setRequestHandler(ListToolsRequestSchema, async () => ({
  tools: Object.keys(bodies).map((name) => ({
    name,
    inputSchema: { type: 'object' },
    execution: { taskSupport: 'optional' },
  })),
}))

server.setRequestHandler(CallToolRequestSchema, async (request, extra) => {
  const { name, arguments: given } = request.params
  if (!request.params.task) return bodies[name](given ?? {}, async () => {})
  const task = await extra.taskStore.createTask({ ttl: request.params.task.ttl ?? null, pollInterval: 100 })
  const report = (message) => extra.taskStore.updateTaskStatus(task.taskId, 'working', message)
  const work = async () => {
    try {
      const result = await bodies[name](given ?? {}, report)
      await extra.taskStore.storeTaskResult(task.taskId, 'completed', result)
    } catch {
      // The task was cancelled: its state is final.
    }
  }
  work()
  return { task }
})

await server.connect(new StdioServerTransport())
