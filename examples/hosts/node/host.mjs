// A host in Node without any library: one JSON-RPC message per line, both ways.
//
//     node host.mjs toolwire serve ../tools.py

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

class ToolServer {
    #nextId = 1
    #pending = new Map()
    #gone

    constructor([command, ...args]) {
        this.process = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
        createInterface({ input: this.process.stdout }).on('line', (line) => this.#receive(JSON.parse(line)))
        this.process.on('error', (error) => this.#end(error)) // There is no such program.
        this.process.stdin.on('error', () => {}) // It reads no more; 'close' is about to say why.
        this.process.on('close', (code, signal) => this.#end(new Error(`the server ended: ${code ?? signal}`)))
    }

    /** The result of a request. `onProgress` hears how far it is; aborting `signal` cancels it. */
    request(method, params = {}, { onProgress, signal } = {}) {
        if (this.#gone) return Promise.reject(this.#gone)
        const id = this.#nextId++
        if (onProgress) params = { ...params, _meta: { progressToken: id } }
        return new Promise((resolve, reject) => {
            this.#pending.set(id, { resolve, reject, onProgress })
            signal?.addEventListener('abort', () => this.#send({ method: '$/cancelRequest', params: { id } }))
            this.#send({ id, method, params })
        })
    }

    async close() {
        this.process.stdin.end()
        if (!this.#gone) await once(this.process, 'close')
        return this.process.exitCode
    }

    #end(reason) {
        this.#gone ??= reason
        for (const { reject } of this.#pending.values()) reject(this.#gone)
    }

    #send(message) {
        this.process.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n')
    }

    #receive({ id, method, params, result, error }) {
        if (method === 'notifications/progress') {
            this.#pending.get(params.progressToken)?.onProgress?.(params)
        } else if (!method) {
            const call = this.#pending.get(id)
            this.#pending.delete(id)
            if (error) call?.reject(Object.assign(new Error(error.message), { code: error.code }))
            else call?.resolve(result)
        }
    }
}

const command = process.argv.slice(2)
if (!command.length) {
    console.error('usage: node host.mjs COMMAND...')
    process.exit(2)
}
const server = new ToolServer(command)
const call = (name, args, options) => server.request('tools/call', { name, arguments: args }, options)

for (const { name, description } of (await server.request('tools/list')).tools) {
    console.log(`${name}: ${description}`)
}

const sum = await call('add', { a: 2, b: 3 })
console.log(`add -> ${sum.structuredContent.result}`)

const refused = await call('add', { a: 'two', b: 3 })
console.log(`add ${refused.isError ? 'failed' : 'worked'}: ${refused.content[0].text}`)

const counted = await call('count', { to: 3 }, {
    onProgress: ({ progress, total }) => console.log(`count: ${progress} of ${total}`),
})
console.log(`count -> ${counted.content[0].text}`)

const wish = new AbortController()
try {
    await call('wait', { seconds: 60 }, { signal: wish.signal, onProgress: () => wish.abort() })
} catch (error) {
    console.log(`wait cancelled: ${error.code}`)
}

console.log(`the server left with status ${await server.close()}`)
