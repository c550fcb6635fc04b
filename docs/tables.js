// Tables of the pages that are made from the source, so that they cannot disagree with it: `npm run docs` writes them
// between their markers, and a test compares. The pages of the benchmarks are made with them: bench/pages.js.
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { fill, makeTables, readResults, writePages } from '../bench/pages.js'
import { table } from '../bench/plots/words.js'
import { catalogue } from '../loader/errors.js'
import { bundle, clientBundles, viewerBundles } from '../loader/couchapp/bundle.js'
import { meanings } from '../loader/cli/options.js'
import { createProgram } from '../loader/cli/program.js'
import { serverCommands } from '../server/commands.js'
import { clientTables } from './client-tables.js'
import { doctorTables } from './doctor-tables.js'
import { gatewayLists } from './gateway-lists.js'
import { gridTables } from './grid-tables.js'
import { writePicture } from './imports-picture.js'
import { upstreamLists } from './upstream-lists.js'
import { verifyLists } from './verify-lists.js'

const pages = ['reference.md', 'troubleshooting.md', 'sources.md',
  'client.md', 'gateway.md', 'upstreams.md', 'offline.md', 'checking.md', 'grids.md']

const COMMON = ['--db <env|url>', '--data <folder>', '--password-file <file>', '--json'] // options of all commands

/** Commands whose options another page has. */
const ELSEWHERE = { serve: 'gateway.md#options' }

/** The options of all commands, then those of several, then each command with its own. */
async function commands () {
  const openEmbedded = async () => { throw new Error('not here') }
  const program = await createProgram({ openEmbedded, more: serverCommands }).completed()
  const longOf = flags => flags.split(' ')[0]
  const isCommon = ({ flags, long, description }) => COMMON.includes(flags) && description === meanings[long]
  const listed = program.commands.map(command => ({
    command,
    options: command.options.filter(option => !option.hidden && !isCommon(option))
  }))
  const counts = new Map()
  for (const option of listed.flatMap(({ options }) => options)) {
    counts.set(keyOf(option), (counts.get(keyOf(option)) ?? 0) + 1)
  }
  const isShared = option => counts.get(keyOf(option)) > 1
  const shared = [
    ...new Map(
      listed.flatMap(({ options }) => options.filter(isShared)).map(option => [keyOf(option), option])
    ).values()
  ]
  return [
    '**Options of all commands**',
    COMMON.map(flags => `- \`${flags}\`: ${meanings[longOf(flags)]}`).join('\n'),
    '**Options of several commands**',
    shared.map(optionItem).join('\n'),
    ...listed.map(({ command, options }) => commandSection(command, options, isShared))
  ].join('\n\n')
}

/** Options with the same flags and meaning are one. */
const keyOf = ({ long, description }) => `${long} ${description}`

const optionItem = ({ flags, description, defaultValue }) => {
  const standard = defaultValue === undefined || typeof defaultValue === 'boolean' ? '' : ` (default: ${defaultValue})`
  return `- \`${flags}\`: ${description}${standard}`
}

/** A command: its own options with their meanings, those that it shares by name. */
function commandSection (command, options, isShared) {
  const page = ELSEWHERE[command.name()]
  if (page) return `### \`tilecouch ${command.name()}\`\n\n${command.description()}: [options](${page})`
  const usage = command.usage().replace('[options]', '').trim()
  const own = options.filter(option => !isShared(option))
  const shared = options.filter(isShared).map(({ long }) => `\`${long}\``)
  return [
    `### \`tilecouch ${command.name()}${usage && ` ${usage}`}\``,
    command.description(),
    own.map(optionItem).join('\n'),
    shared.length && `${own.length ? 'Also' : 'Options'}: ${shared.join(', ')}.`
  ].filter(Boolean).join('\n\n')
}

/** The codes by their status; an error says itself what to do. */
function errors () {
  const codes = Object.entries(catalogue).map(([code, { status }]) => ({ code, status }))
  const statuses = [...new Set(codes.map(({ status }) => status))].sort((a, b) => a - b)
  const codesOf = status => codes.filter(entry => entry.status === status).map(({ code }) => `\`${code}\``).sort()
  return table(['status', 'codes'], statuses.map(status => [status, codesOf(status).join(', ')]))
}

/** A list of options comes from the one literal that holds the defaults, and its comments. */
async function optionItems (file, name, values) {
  const source = await readFile(new URL(file, import.meta.url), 'utf8')
  const body = source.slice(source.indexOf(`export const ${name} = {`))
  return Object.entries(values).map(([option, value]) => {
    const meaning = new RegExp(`^ {2}${option}: .*?// (.*)$`, 'm').exec(body)?.[1]
    return `- \`${option}\`: ${meaning}${value === undefined ? '' : ` (default: ${value})`}`
  }).join('\n')
}

/** What a browser downloads, in whole kilobytes. */
async function sizes () {
  const made = Object.entries(await bundle({ ...clientBundles, ...viewerBundles }))
  const kilobytes = bytes => Math.ceil(gzipSync(bytes).length / 1000)
  return `${made.map(([name, { bytes }]) => `\`${name}\` ${kilobytes(bytes)}`).join(', ')}.`
}

/** Made once: the bundles of the client take their time. @type {Promise<Record<string, string>> | undefined} */
let made

async function makeAll () {
  return {
    ...await makeTables(await readResults()),
    ...clientTables(),
    ...gatewayLists(),
    ...gridTables(table),
    ...verifyLists(),
    ...doctorTables(table),
    sizes: await sizes(),
    ...await upstreamLists(optionItems),
    commands: await commands(),
    errors: errors()
  }
}

/** A page with its tables as they should be. */
export const withTables = async text => fill(text, await (made ??= makeAll()))

/** Every page with tables, by name. @returns {Promise<[string, string][]>} */
export const readPages = () => Promise.all(pages.map(
  async name => /** @type {[string, string]} */ ([name, await readFile(new URL(name, import.meta.url), 'utf8')])
))

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, text] of await readPages()) await writeFile(new URL(name, import.meta.url), await withTables(text))
  await writePages()
  writePicture()
}
