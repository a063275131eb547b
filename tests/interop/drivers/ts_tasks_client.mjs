// The official TypeScript client, second generation, with ext-tasks: `ts_tasks_client.mjs MODE COMMAND…`, MODE legacy or
// a revision, prints what came of calls that are tasks.
import { pathToFileURL } from 'node:url'
import { load } from './peers.mjs'

const { Client } = load('@modelcontextprotocol/client')
const { StdioClientTransport } = load('@modelcontextprotocol/client/stdio')
// It has no form for `require`.
const [packages] = load.resolve('@modelcontextprotocol/client').split('client/')
const tasks = await import(pathToFileURL(`${packages}ext-tasks/dist/client/index.js`).href)

const [mode, command, ...args] = process.argv.slice(2)
const clientInfo = { name: 'interop', version: '1' }
const answer = ({ params }) => ({
    action: 'accept',
    content: Object.fromEntries(Object.keys(params.requestedSchema.properties).map((name) => [name, true])),
})
const client = new Client(clientInfo, {
    capabilities: { elicitation: { form: {} } },
    versionNegotiation: { mode: mode === 'legacy' ? mode : { pin: mode } },
})
client.setRequestHandler('elicitation/create', answer)
const transport = new StdioClientTransport({ command, args })
await client.connect(transport)

// The SDK's client refuses messages of tasks in the modern form, so the host sends and receives them itself.
const pending = new Map()
const receive = transport.onmessage
transport.onmessage = (message, extra) => {
    const settle = pending.get(message.id)
    if (!settle) return receive(message, extra)
    pending.delete(message.id)
    settle(message.error ? { kind: 'error', error: message.error } : { kind: 'result', result: message.result })
}
const rawDispatch = (request) =>
    new Promise((resolve) => {
        const id = `raw-${pending.size}-${Math.random()}`
        pending.set(id, resolve)
        transport.send({ jsonrpc: '2.0', id, ...request })
    })
const capabilities = { elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } }
const framing = { protocolVersion: mode, clientInfo, clientCapabilities: capabilities }
const session = tasks.createTaskSessionFromClient(client, {
    endpointId: 'interop',
    onInputRequest: async (request) => answer(request),
    ...(mode !== 'legacy' && { rawDispatch, v2RequestFraming: framing }),
})

const seen = {}
const { tools } = await client.listTools()
for (const [name, params] of Object.entries({ work: { steps: 2 }, delete: {}, fail: {} })) {
    const declaration = tasks.toolDeclarationFromMcpTool(tools.find((tool) => tool.name === name))
    const execution = await session.callTool(name, params, { declaration, task: { preference: 'prefer' } })
    const { outcome, lastTask } = await execution.settle()
    const result = tasks.resultFromTaskOutcome(outcome)
    seen[name] = [lastTask?.status ?? lastTask?.state ?? null, result.content[0].text, result.isError ?? false]
}
await session.close()
await client.close()
console.log(JSON.stringify(seen))
