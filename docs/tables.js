// Tables of the reference that are made from the source, so that they cannot disagree with it: `npm run docs` writes
// them between their markers, and a test compares.
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { catalogue } from '../core/index.js'
import { createProgram } from '../loader/cli/program.js'
import { retryDefaults } from '../loader/store/couch.js'
import { tunerDefaults } from '../loader/store/tuner.js'
import { addUpCommand } from '../server/up-command.js'

const page = fileURLToPath(new URL('./reference.md', import.meta.url))
const row = cells => `| ${cells.map(cell => String(cell ?? '').replaceAll('|', '\\|')).join(' | ')} |`
const table = (head, rows) => [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n')

function commands () {
  const { program } = createProgram({ openEmbedded: async () => { throw new Error('not here') }, extend: addUpCommand })
  return program.commands.map(command => {
    const usage = command.usage().replace('[options]', '').trim()
    return `### \`tilecouch ${command.name()}${usage && ` ${usage}`}\`\n\n${command.description()}\n\n${table(['option', 'meaning', 'default'],
      command.options.map(({ flags, description, defaultValue }) => [`\`${flags}\``, description, defaultValue === undefined || typeof defaultValue === 'boolean' ? '' : `\`${defaultValue}\``]))}`
  }).join('\n\n')
}

const errors = () => table(['code', 'status', 'what to do'], Object.entries(catalogue).map(([code, { status, advice }]) => [`\`${code}\``, status, advice]))

/** Option tables come from the one literal that holds the defaults, and its comments. */
async function defaults (file, name, values) {
  const source = await readFile(new URL(file, import.meta.url), 'utf8')
  const body = source.slice(source.indexOf(`export const ${name} = {`))
  return table(['option', 'default', 'meaning'], Object.entries(values).map(([option, value]) =>
    [`\`${option}\``, value, new RegExp(`^ {2}${option}: .*?// (.*)$`, 'm').exec(body)?.[1]]))
}

/** The page with its tables as they should be. */
export async function withTables (text) {
  const made = {
    commands: commands(),
    errors: errors(),
    tuner: await defaults('../loader/store/tuner.js', 'tunerDefaults', tunerDefaults),
    retry: await defaults('../loader/store/couch.js', 'retryDefaults', retryDefaults)
  }
  return text.replace(/(<!-- table: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g, (_, begin, name, end) => `${begin}\n${made[name]}\n\n${end}`)
}

export const readReference = () => readFile(page, 'utf8')

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeFile(page, await withTables(await readReference()))
