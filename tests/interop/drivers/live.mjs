// What the clients in JavaScript are made to do with the tools that ask the user, and with those that come and go.
// `peer.news()` is {granted, next(), close()}: what the server agreed to, if it was asked, and what waits for a change.
import { plain } from './exercise.mjs'

const ORDER = { count: 3, size: 'large', gift: true }

/** Whoever sits at the client: answers each question in its turn, and remembers what was asked. */
export function talkative() {
    const orders = [{ action: 'accept', content: ORDER }, { action: 'decline' }, { action: 'cancel' }]
    const travels = [{ answer: 'Oslo' }, { answer: 4 }].map((content) => ({ action: 'accept', content }))
    const replies = [...orders, ...orders, ...travels]
    const questions = []
    const reply = ({ params }) => {
        questions.push([params.message, params.requestedSchema])
        return replies.shift()
    }
    return { questions, reply }
}

/** News, to be waited for one by one. */
export function inbox() {
    const come = []
    const wanted = []
    return {
        tell: (news) => wanted.length ? wanted.shift()(news) : come.push(news),
        next: () => come.length ? come.shift() : new Promise((resolve) => wanted.push(resolve)),
    }
}

/** Every answer a user can give, to a tool in a thread and to one on the event loop. */
export async function asked(peer, user) {
    const calls = []
    for (const name of ['order', 'order_async']) {
        for (let turn = 0; turn < 3; turn++) calls.push([name, plain(await peer.call(name, { what: 'tea' }))])
    }
    calls.push(['travel', plain(await peer.call('travel', {}))])
    return { protocol: peer.protocol, questions: user.questions, calls }
}

/** The same tools, when there is nobody to ask. */
export async function mute(peer) {
    const calls = []
    for (const name of ['order', 'order_async']) calls.push([name, plain(await peer.call(name, { what: 'tea' }))])
    calls.push(['careful', plain(await peer.call('careful', {}))])
    return { protocol: peer.protocol, calls }
}

/** A tool adds another: the client hears of it, finds it and calls it. */
export async function changes(peer) {
    const names = async () => (await peer.tools()).map((tool) => tool.name).sort()
    const news = await peer.news()
    const report = { protocol: peer.protocol, granted: news.granted }
    report.before = await names()
    report.learn = plain(await peer.call('learn', {}))
    report.news = await news.next()
    report.after = await names()
    await news.close()
    report.taught = plain(await peer.call('taught', {}))
    return report
}
