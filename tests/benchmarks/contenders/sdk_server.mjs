// The official TypeScript SDK, first generation: `sdk_server.mjs add`.
import { load, register } from './tools.mjs'

const { McpServer } = load('@modelcontextprotocol/sdk/server/mcp.js')
const { StdioServerTransport } = load('@modelcontextprotocol/sdk/server/stdio.js')

const server = register(new McpServer({ name: 'benchmark', version: '1' }), process.argv[2], (shape) => shape)
await server.connect(new StdioServerTransport())
