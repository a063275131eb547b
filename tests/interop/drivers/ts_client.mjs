// The official TypeScript client, second generation: `ts_client.mjs EXERCISE MODE COMMAND…`, MODE legacy, auto or a
// revision.
import { inbox } from './live.mjs'
import { args, command, mode, name, run, user } from './main.mjs'
import { load } from './peers.mjs'

const { Client } = load('@modelcontextprotocol/client')
const { StdioClientTransport } = load('@modelcontextprotocol/client/stdio')

const negotiated = mode === 'legacy' || mode === 'auto'
const { tell, next } = inbox()
const changed = (error) => tell(error ? String(error) : 'ToolsListChanged')
const client = new Client({ name: 'interop', version: '1' }, {
    capabilities: user ? { elicitation: { form: {} } } : {},
    // Set, it subscribes by itself, and that is the first thing the server is sent.
    listChanged: name === 'changes' && negotiated ? { tools: { debounceMs: 0, onChanged: changed } } : undefined,
    versionNegotiation: { mode: negotiated ? mode : { pin: mode } },
})
if (user) client.setRequestHandler('elicitation/create', user.reply)
await client.connect(new StdioClientTransport({ command, args }))

const peer = {
    api: client,
    protocol: client.getNegotiatedProtocolVersion(),
    tools: async () => (await client.listTools()).tools,
    call: (name, args, onprogress) => client.callTool({ name, arguments: args }, { onprogress }),
    async callUntilCancelled(name, args, onprogress, begun) {
        const wish = new AbortController()
        const call = client.callTool({ name, arguments: args }, { onprogress, signal: wish.signal })
        begun.then(() => wish.abort('no longer wanted'))
        await call.then(() => { throw new Error('answered although cancelled') }, () => {})
    },
    async news() {
        let subscription = client.autoOpenedSubscription
        if (!negotiated) {
            client.setNotificationHandler('notifications/tools/list_changed', () => changed())
            subscription = await client.listen({ toolsListChanged: true })
        }
        return { granted: subscription?.honoredFilter ?? null, next, close: async () => subscription?.close() }
    },
}
await run(peer, () => client.close())
