// The same tools for both generations of the TypeScript SDK: `register(server, z, 'add')`.
import { createRequire } from 'node:module'

export const load = createRequire(`${process.env.TOOLWIRE_PEERS}/package.json`)
export const { z } = load('zod')

const whole = z.number().int()
const result = (value) => ({
    content: [{ type: 'text', text: String(value) }],
    structuredContent: { result: value },
})

/** A tool that returns its argument of the type `shape`, after `wait` if there is one. */
const kind = (name, shape, wait) => [name, {
    description: name, inputSchema: { value: shape }, outputSchema: { result: shape },
}, async ({ value }) => {
    if (wait) await wait()
    return result(value)
}]
const colour = z.enum(['red', 'blue'])
const turn = () => new Promise((resolve) => { setImmediate(resolve) })

const TOOLS = {
    kinds: [
        kind('integer', whole),
        kind('decimal', z.number()),
        kind('union', z.union([whole, z.number()])),
        kind('text', z.string()),
        kind('numbers', z.array(whole)),
        kind('mapping', z.record(z.string(), whole)),
        kind('optional', whole.nullable()),
        kind('literal', colour),
        kind('record', z.object({ x: whole, y: z.number(), label: z.string() })),
        kind('without_wait', whole),
        kind('with_wait', whole, turn),
    ],
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
