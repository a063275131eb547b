// node stylua.cjs NODE_MODULES [--write] FILE...: fails if stylua would change a file; its npm package has no program.
const { readFileSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')

const [modules, ...files] = process.argv.slice(2)
const { Config, IndentType, OutputVerification, formatCode } = require(join(modules, '@johnnymorganz/stylua'))
const isWriting = files[0] === '--write'
for (const file of isWriting ? files.slice(1) : files) {
  const config = Config.new()
  config.column_width = 120
  config.indent_type = IndentType.Spaces
  config.indent_width = 2
  const text = readFileSync(file, 'utf8')
  const formatted = formatCode(text, config, undefined, OutputVerification.Full)
  if (formatted === text) continue
  if (isWriting) writeFileSync(file, formatted)
  else {
    console.error(`stylua would change ${file}`)
    process.exitCode = 1
  }
}
