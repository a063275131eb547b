// Loads the packages that tests/peers/install put away from this folder.
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const installed = process.env.TOOLWIRE_PEERS ?? fileURLToPath(new URL('../../../.peers', import.meta.url))
export const load = createRequire(`${installed}/package.json`)
