// The official TypeScript SDK, second generation: `ts_server.mjs add`.
import { load, register, z } from './tools.mjs'

const { McpServer } = load('@modelcontextprotocol/server')
const { serveStdio } = load('@modelcontextprotocol/server/stdio')

serveStdio(() => register(new McpServer({ name: 'benchmark', version: '1' }), process.argv[2], (shape) => z.object(shape)))
