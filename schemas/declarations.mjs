// Writes the TypeScript declarations of all published schemas: node schemas/declarations.mjs [FILE]
//
// json-schema-to-typescript does the work (`tests/peers/install npm` installs it). It names types after titles, and
// knows no `$id`s; so the schemas become the definitions of one document first, without what says nothing about types.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const here = name => fileURLToPath(new URL(name, import.meta.url))
const installed = process.env.TOOLWIRE_PEERS ?? here('../.peers')
const { compile } = createRequire(`${installed}/package.json`)('json-schema-to-typescript')

const FOLDER = here('toolwire_schemas/v1/')
const PREFIX = 'urn:toolwire:v1:'
const HEAD = `// The types of Toolwire's published schemas, v1: what a tool server and its host say to each other, and more.
// Generated from the *.schema.json beside this file by schemas/declarations.mjs; not to be changed by hand.
`
// Words about values that no type can express, and about the schema itself.
const SILENT = ['$schema', '$id', 'examples', 'if', 'then', 'else', 'not', 'dependentRequired', 'unevaluatedProperties']
const NAMED = ['properties', '$defs']
const SEVERAL = ['anyOf', 'allOf', 'prefixItems']
const ONE = ['items', 'additionalProperties']

const named = new Map(
  readdirSync(FOLDER)
    .filter(file => file.endsWith('.schema.json'))
    .map(file => [file.replace('.schema.json', ''), JSON.parse(readFileSync(FOLDER + file, 'utf8'))]),
)

/** What `schema`, a part of the one called `own`, says about types. */
function typed(schema, own) {
  if (typeof schema !== 'object') return schema
  if (schema.$ref?.includes('/properties/')) return typed(...target(schema.$ref, own))
  const made = {}
  for (const [word, value] of Object.entries(schema)) {
    if (SILENT.includes(word)) continue
    else if (NAMED.includes(word)) made[word] = mapped(value, inner => typed(inner, own))
    else if (SEVERAL.includes(word)) made[word] = value.map(inner => typed(inner, own)).filter(saysMore)
    else if (ONE.includes(word)) made[word] = typed(value, own)
    else if (word === 'patternProperties') made.additionalProperties = true
    else if (word === '$ref') made.$ref = reference(value, own)
    else made[word] = value
  }
  if (made.title) made.title = made.title.replace('$/', '')
  return combined(opened(made))
}

function mapped(members, change) {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, change(value)]))
}

/** False for an alternative that only says which members it needs, as no type of an alternative does. */
const saysMore = schema => Object.keys(schema).some(word => !['required', 'tsType'].includes(word))

function reference(to, own) {
  const [name, pointer] = parted(to, own)
  return `#/definitions/${name}${pointer}`
}

function target(to, own) {
  const [name, pointer] = parted(to, own)
  return [pointer.split('/').reduce((at, step) => (step ? at[step] : at), named.get(name)), name]
}

function parted(to, own) {
  const [name, pointer = ''] = to.split('#')
  return [name.replace(PREFIX, '') || own, pointer]
}

/** The same, with any value or any member said to be such where nothing is said of them. */
function opened(schema) {
  const beside = ['title', 'description', 'default', 'anyOf', 'allOf']
  const words = Object.keys(schema).filter(word => !beside.includes(word))
  const combines = schema.anyOf?.length || schema.allOf?.length
  if (words.length === 0 && !combines) return { ...schema, tsType: 'unknown' }
  const bare = schema.type?.includes('object') && !words.some(word => word.endsWith('roperties'))
  return bare && !combines ? { ...schema, additionalProperties: true } : schema
}

/** The same, with whatever stands beside a reference or alternatives as one more part: else it gets a numbered name. */
function combined({ title, description, $defs, $ref, anyOf = [], allOf = [], ...rest }) {
  const about = Object.fromEntries(Object.entries({ title, description, $defs }).filter(([, value]) => value))
  const parts = [...allOf, ...($ref ? [{ $ref }] : []), ...(anyOf.length ? [{ anyOf }] : [])]
  if (parts.length > 0 && Object.keys(rest).some(word => word !== 'type')) parts.push(rest)
  if (parts.length === 0) return { ...about, ...rest }
  const alone = parts.length === 1 && !(parts[0].$ref && Object.keys(about).length > 0)
  return alone ? { ...about, ...parts[0] } : { ...about, allOf: parts }
}

const definitions = Object.fromEntries([...named].map(([name, schema]) => [name, typed(schema, name)]))
const written = await compile({ title: 'Nothing', type: 'object', definitions }, 'Nothing', {
  additionalProperties: false,
  bannerComment: HEAD,
  ignoreMinAndMaxItems: true,
  style: { printWidth: 120, semi: false, singleQuote: true },
  unreachableDefinitions: true,
})
// Where a type was found says nothing to whoever uses it.
const declarations = written
  .replace('export interface Nothing {}\n', '')
  .replace(/( \*\n)? \* This interface was referenced by .*\n \* via the .*\n/g, '')
writeFileSync(process.argv[2] ?? FOLDER + 'toolwire.d.ts', declarations)
