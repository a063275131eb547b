// Judges values by the published schemas, with ajv: the schemas' folder is the first argument; on standard input there
// is a line for each value, [name of the schema, value]. Prints a line of JSON: for each value whether it is valid.
import { readdirSync, readFileSync } from 'node:fs'
import { load } from './peers.mjs'

const { default: Ajv } = load('ajv/dist/2020')

// A word that ajv does not know, or takes for a slip, is an error; three things that it only advises against are meant.
const ajv = new Ajv({ strict: true, allowUnionTypes: true, strictRequired: false, strictTuples: false })
const folder = process.argv[2]
for (const file of readdirSync(folder)) {
  if (file.endsWith('.schema.json')) ajv.addSchema(JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')))
}
const lines = readFileSync(0, 'utf8').trimEnd().split('\n')
console.log(JSON.stringify(lines.map(line => {
  const [name, value] = JSON.parse(line)
  return ajv.getSchema(`urn:toolwire:v1:${name}`)(value)
})))
