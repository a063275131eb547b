// Judges values by the published schemas, with ajv. The first argument is their folder, or a bundle of one of them; on
// standard input there is a line for each value, [name of the schema, value]. Prints for each whether it is valid.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { load } from './peers.mjs'

const { default: Ajv } = load('ajv/dist/2020')

// A word that ajv does not know, or takes for a slip, is an error; three things that it only advises against are meant.
const ajv = new Ajv({ strict: true, allowUnionTypes: true, strictRequired: false, strictTuples: false })
const read = path => JSON.parse(readFileSync(path, 'utf8'))
const source = process.argv[2]
let judge = name => ajv.getSchema(`urn:toolwire:v1:${name}`)
if (statSync(source).isDirectory()) {
  const files = readdirSync(source).filter(name => name.endsWith('.schema.json'))
  for (const file of files) ajv.addSchema(read(`${source}/${file}`))
} else {
  const bundled = ajv.compile(read(source))
  judge = () => bundled
}
const lines = readFileSync(0, 'utf8').trimEnd().split('\n')
console.log(JSON.stringify(lines.map(line => {
  const [name, value] = JSON.parse(line)
  return judge(name)(value)
})))
