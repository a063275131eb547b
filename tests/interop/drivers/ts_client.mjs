// The official TypeScript client, second generation: `ts_client.mjs MODE COMMAND…`, MODE legacy, auto or a revision.
import { exercise } from './exercise.mjs'
import { load } from './peers.mjs'

const { Client } = load('@modelcontextprotocol/client')
const { StdioClientTransport } = load('@modelcontextprotocol/client/stdio')

const [mode, command, ...args] = process.argv.slice(2)
const versionNegotiation = { mode: mode === 'legacy' || mode === 'auto' ? mode : { pin: mode } }
const client = new Client({ name: 'interop', version: '1' }, { versionNegotiation })
await client.connect(new StdioClientTransport({ command, args }))

const peer = {
    protocol: client.getNegotiatedProtocolVersion(),
    tools: async () => (await client.listTools()).tools,
    call: (name, args, onprogress) => client.callTool({ name, arguments: args }, { onprogress }),
    async callUntilCancelled(name, args, onprogress, begun) {
        const wish = new AbortController()
        const call = client.callTool({ name, arguments: args }, { onprogress, signal: wish.signal })
        begun.then(() => wish.abort('no longer wanted'))
        await call.then(() => { throw new Error('answered although cancelled') }, () => {})
    },
}
const report = await exercise(peer)
await client.close()
console.log(JSON.stringify(report))
