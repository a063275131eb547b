// The JSON-RPC library of VS Code's language clients, as an editor would use it: Content-Length framing,
// no handshake, cancellation by `$/cancelRequest`. `vscode_jsonrpc.mjs EXERCISE plain COMMAND…`; the exercises are everyday,
// searched and programmed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { exercise, programmed, searched } from './exercise.mjs'
import { load } from './peers.mjs'

const rpc = load('vscode-jsonrpc/node')
const [name, , command, ...args] = process.argv.slice(2)

const { HOME, PATH } = process.env
const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], env: { HOME, PATH } })
const connection = rpc.createMessageConnection(
    new rpc.StreamMessageReader(server.stdout), new rpc.StreamMessageWriter(server.stdin))
const listeners = new Map()
connection.onNotification('notifications/progress', (told) => listeners.get(told.progressToken)?.(told))
connection.onUnhandledNotification((message) => { throw new Error(`unexpected ${JSON.stringify(message)}`) })
connection.onError(([error]) => { throw error })
connection.listen()

let tokens = 0
const outcomes = []
const call = (name, args, onProgress, token) => {
    const params = { name, arguments: args }
    if (onProgress) {
        const progressToken = `progress ${tokens++}`
        listeners.set(progressToken, onProgress)
        params._meta = { progressToken }
    }
    return token ? connection.sendRequest('tools/call', params, token) : connection.sendRequest('tools/call', params)
}
const peer = {
    protocol: null,
    tools: async () => (await connection.sendRequest('tools/list')).tools,
    call,
    async callUntilCancelled(name, args, onProgress, begun) {
        const wish = new rpc.CancellationTokenSource()
        begun.then(() => wish.cancel())
        const outcome = await call(name, args, onProgress, wish.token).then(
            (result) => ({ result }), (error) => ({ code: error.code }))
        outcomes.push([name, outcome])
    },
}
const report = await { everyday: exercise, searched, programmed }[name](peer)
report.cancelled = outcomes
report.unknown = await connection.sendRequest('textDocument/hover').then(
    (result) => ({ result }), (error) => ({ code: error.code }))
connection.end()
const [status, signal] = await once(server, 'close')
report.exit = { status, signal }
console.log(JSON.stringify(report))
