// What every client in JavaScript is made to do with the everyday tools; the clients differ only in `peer`:
//   {protocol, tools(), call(name, arguments, onProgress?), callUntilCancelled(name, arguments, onProgress, begun)}

export const CALLS = [
    ['add', { a: 2, b: 3 }],
    ['add', { a: 2, b: 'three' }],
    ['split', { cents: 1000, people: 3 }],
    ['split', { cents: '1000', people: '3', currency: null }],
    ['greet', { name: 'Ωmega' }],
    ['refuse', { reason: 'not today' }],
    ['divide', { a: 1, b: 0 }],
    ['chatter', {}],
    ['picture', {}],
]

const MEMBERS = ['content', 'structuredContent', 'isError']

/** The members of a result that every revision has. */
export const plain = (result) =>
    Object.fromEntries(MEMBERS.filter((key) => result[key] !== undefined).map((key) => [key, result[key]]))

export async function exercise(peer) {
    const report = { protocol: peer.protocol }
    report.tools = (await peer.tools()).map((tool) => tool.name).sort()
    report.calls = []
    for (const [name, args] of CALLS) report.calls.push([name, args, plain(await peer.call(name, args))])
    for (const [name, args] of [['countdown', { start: 3 }], ['steps', { total: 3 }]]) {
        report[name] = await withProgress(peer, name, args)
    }
    for (const name of ['work', 'doze']) {
        const begun = Promise.withResolvers?.() ?? withResolvers()
        await peer.callUntilCancelled(name, { name }, () => begun.resolve(), begun.promise)
    }
    report.stopped = plain(await peer.call('stopped', { names: ['work', 'doze'] }))
    report.afterwards = plain(await peer.call('add', { a: 20, b: 22 }))
    return report
}

/** A client that calls each tool by `call_tool`, as with `--show search`. */
const byName = (peer) => ({
    ...peer,
    call: (name, args, onProgress) => peer.call('call_tool', { name, arguments: args }, onProgress),
    callUntilCancelled: (name, args, onProgress, begun) =>
        peer.callUntilCancelled('call_tool', { name, arguments: args }, onProgress, begun),
})

/** The same by a search and calls by name. */
export async function searched(peer) {
    const found = await peer.call('search_tools', { query: 'two numbers', limit: 1 })
    return { found: plain(found), ...(await exercise(byName(peer))) }
}

const PROGRAMS = [
    '[add(a=number, b=1) for number in range(3)]',
    "add(a=1, b='three')",
    'add(',
    'try:\n    split(cents=1000, people=3)\nexcept ToolFailed as failure:\n    print(failure.text)',
]

/** What a client sees of programs. */
export async function programmed(peer) {
    const run = async (code) => plain(await peer.call('run_program', { code }))
    const report = { protocol: peer.protocol }
    report.tools = (await peer.tools()).map((tool) => tool.name).sort()
    report.found = plain(await peer.call('search_tools', { query: 'two numbers', limit: 1 }))
    report.results = []
    for (const code of PROGRAMS) report.results.push(await run(code))
    const begun = Promise.withResolvers?.() ?? withResolvers()
    const endless = { code: 'add(a=1, b=2)\nwhile True: pass' }
    await peer.callUntilCancelled('run_program', endless, () => begun.resolve(), begun.promise)
    report.afterwards = await run('add(a=20, b=22)')
    return report
}

const FOREIGN = [
    ['all_echo', { message: 'hello' }],
    ['all_get-sum', { a: 2, b: 3 }],
    ['all_get-structured-content', { location: 'Chicago' }],
    ['files_list_allowed_directories', {}],
    ['py_add', { a: 2, b: 3 }],
    ['py_fail', {}],
]

/** What a client sees of mounted servers that nobody here wrote. */
export async function foreign(peer) {
    const progress = []
    const prefixes = [...new Set((await peer.tools()).map((tool) => tool.name.split('_')[0]))].sort()
    const calls = {}
    for (const [name, args] of FOREIGN) calls[name] = plain(await peer.call(name, args))
    const note = ({ progress: done, total }) => progress.push([done, total])
    // Both TypeScript clients drop the progress that they read together with the result.
    await peer.call('all_trigger-long-running-operation', { duration: 4, steps: 2 }, note)
    return { prefixes, calls, progress }
}

const OF_OTHERS = {
    add: { a: 1, b: 2 },
    fail: {},
    echo: { message: 'Grüße' },
    'get-sum': { a: 1, b: 2 },
    list_allowed_directories: {},
}

/** What a client sees of a server that others wrote, as far as this knows its tools. */
export async function wrapped(peer) {
    const tools = Object.fromEntries((await peer.tools()).map((tool) => [tool.name, tool]))
    const calls = {}
    for (const [name, args] of Object.entries(OF_OTHERS)) {
        if (name in tools) calls[name] = plain(await peer.call(name, args))
    }
    return { protocol: peer.protocol, tools, calls }
}

/** Everything a client sees of resources and prompts. */
export async function documents({ api }) {
    const failures = {}
    for (const uri of ['config://ap', 'notes://32/a']) {
        await api.readResource({ uri }).catch((error) => { failures[uri] = error.message })
    }
    const contents = []
    for (const uri of ['config://app', 'notes://3/a/b%20c?limit=2', 'pixel://one']) {
        contents.push((await api.readResource({ uri })).contents)
    }
    const made = await api.getPrompt({ name: 'review', arguments: { code: 'x = 1', level: '2' } })
    return {
        resources: (await api.listResources()).resources.map((entry) => entry.uri),
        templates: (await api.listResourceTemplates()).resourceTemplates.map((entry) => entry.uriTemplate),
        prompts: (await api.listPrompts()).prompts.map((entry) => entry.name),
        contents,
        failures,
        messages: made.messages,
    }
}

/** The answer of a tool that waits, at each progress, until it is told that the progress was seen. */
export async function withProgress(peer, name, args) {
    const progress = []
    const answer = await peer.call(name, args, (told) => {
        progress.push([told.progress, told.total ?? null, told.message ?? null])
        peer.call('seen', {})
    })
    return { answer: plain(answer), progress }
}

function withResolvers() {
    const made = {}
    made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }))
    return made
}
