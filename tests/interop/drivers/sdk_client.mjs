// The official TypeScript SDK, first generation: `sdk_client.mjs legacy COMMAND…`.
import { exercise } from './exercise.mjs'
import { load } from './peers.mjs'

const { Client } = load('@modelcontextprotocol/sdk/client/index.js')
const { StdioClientTransport } = load('@modelcontextprotocol/sdk/client/stdio.js')

const [, command, ...args] = process.argv.slice(2)
const client = new Client({ name: 'interop', version: '1' })
const transport = new StdioClientTransport({ command, args })
// The client tells its transport which revision was agreed, and nobody else.
let protocol
transport.setProtocolVersion = (version) => { protocol = version }
await client.connect(transport)

const peer = {
    protocol,
    tools: async () => (await client.listTools()).tools,
    call: (name, args, onprogress) => client.callTool({ name, arguments: args }, undefined, { onprogress }),
    async callUntilCancelled(name, args, onprogress, begun) {
        const wish = new AbortController()
        const call = client.callTool({ name, arguments: args }, undefined, { onprogress, signal: wish.signal })
        begun.then(() => wish.abort('no longer wanted'))
        await call.then(() => { throw new Error('answered although cancelled') }, () => {})
    },
}
const report = await exercise(peer)
await client.close()
console.log(JSON.stringify(report))
