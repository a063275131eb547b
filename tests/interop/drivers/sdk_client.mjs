// The official TypeScript SDK, first generation: `sdk_client.mjs EXERCISE legacy COMMAND…`.
import { inbox } from './live.mjs'
import { args, command, name, run, user } from './main.mjs'
import { load } from './peers.mjs'

const { Client } = load('@modelcontextprotocol/sdk/client/index.js')
const { StdioClientTransport } = load('@modelcontextprotocol/sdk/client/stdio.js')
const { ElicitRequestSchema } = load('@modelcontextprotocol/sdk/types.js')

const { tell, next } = inbox()
const onChanged = (error) => tell(error ? String(error) : 'ToolsListChanged')
const client = new Client({ name: 'interop', version: '1' }, {
    capabilities: user ? { elicitation: { form: {} } } : {},
    listChanged: name === 'changes' ? { tools: { debounceMs: 0, onChanged } } : undefined,
})
if (user) client.setRequestHandler(ElicitRequestSchema, user.reply)
const transport = new StdioClientTransport({ command, args })
// The client tells its transport which revision was agreed, and nobody else.
let protocol
transport.setProtocolVersion = (version) => { protocol = version }
await client.connect(transport)

const peer = {
    api: client,
    protocol,
    tools: async () => (await client.listTools()).tools,
    call: (name, args, onprogress) => client.callTool({ name, arguments: args }, undefined, { onprogress }),
    async callUntilCancelled(name, args, onprogress, begun) {
        const wish = new AbortController()
        const call = client.callTool({ name, arguments: args }, undefined, { onprogress, signal: wish.signal })
        begun.then(() => wish.abort('no longer wanted'))
        await call.then(() => { throw new Error('answered although cancelled') }, () => {})
    },
    news: async () => ({ granted: null, next, close: async () => {} }),
}
await run(peer, () => client.close())
