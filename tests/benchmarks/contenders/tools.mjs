// The same tools for both generations of the TypeScript SDK: `register(server, z, 'add')`.
import { createRequire } from 'node:module'

export const load = createRequire(`${process.env.TOOLWIRE_PEERS}/package.json`)
export const { z } = load('zod')

const whole = z.number().int()
const result = (value) => ({
    content: [{ type: 'text', text: String(value) }],
    structuredContent: { result: value },
})

const TOOLS = {
    add: [['add', {
        description: 'Add two whole numbers.', inputSchema: { a: whole, b: whole }, outputSchema: { result: whole },
    }, async ({ a, b }) => result(a + b)]],
    payload: [['measure', {
        description: 'The length of a text.', inputSchema: { text: z.string() }, outputSchema: { result: whole },
    }, async ({ text }) => result(text.length)], ['produce', {
        description: 'A text of that length.', inputSchema: { size: whole },
    }, async ({ size }) => ({ content: [{ type: 'text', text: 'x'.repeat(size) }] })]],
}

/** Register the tools called `set`, their schemas passed through `wrap`. */
export function register(server, set, wrap) {
    for (const [name, config, run] of TOOLS[set]) {
        const wrapped = { ...config, inputSchema: wrap(config.inputSchema) }
        if (config.outputSchema) wrapped.outputSchema = wrap(config.outputSchema)
        server.registerTool(name, wrapped, run)
    }
    return server
}
