// Runs one client through one exercise: `DRIVER EXERCISE MODE COMMAND…`.
import { documents, exercise, foreign, programmed, searched, withProgress, wrapped } from './exercise.mjs'
import { asked, changes, mute, talkative } from './live.mjs'

const EXERCISES = {
    everyday: exercise,
    silent: (peer) => withProgress(peer, 'silent', { beats: 3 }),
    documents,
    foreign,
    wrapped,
    searched,
    programmed,
    asked,
    mute,
    changes,
}

export const [name, mode, command, ...args] = process.argv.slice(2)
export const user = name === 'asked' ? talkative() : null

/** Print the report of the exercise once `close` has closed the client. */
export async function run(peer, close) {
    const report = await EXERCISES[name](peer, user)
    await close()
    console.log(JSON.stringify(report))
}
