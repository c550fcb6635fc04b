// Tables of the reference that are made from the source, so that they cannot disagree with it: `npm run docs` writes
// them between their markers, and a test compares.
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { catalogue } from '../core/index.js'
import { bundle, clientBundles, viewerBundles } from '../loader/couchapp/bundle.js'
import { createProgram } from '../loader/cli/program.js'
import { retryDefaults } from '../loader/store/couch.js'
import { tunerDefaults } from '../loader/store/tuner.js'
import { addServerCommands } from '../server/commands.js'
import { clientTables } from './client-tables.js'
import { exportTables } from './export-tables.js'
import { gatewayTables } from './gateway-tables.js'
import { historyTables } from './history-tables.js'
import { mirrorTables } from './mirror-tables.js'
import { offlineTables } from './offline-tables.js'
import { serveMemoryTables, serveTables } from './serve-tables.js'
import { upstreamTables } from './upstream-tables.js'
import { verifyTables } from './verify-tables.js'

const pages = ['reference.md', 'benchmarks.md', 'client.md', 'gateway.md', 'upstreams.md', 'exports.md', 'offline.md', 'checking.md']
const row = cells => `| ${cells.map(cell => String(cell ?? '').replaceAll('|', '\\|')).join(' | ')} |`
const table = (head, rows) => [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n')

function commands () {
  const { program } = createProgram({ openEmbedded: async () => { throw new Error('not here') }, extend: addServerCommands })
  return program.commands.map(command => {
    const usage = command.usage().replace('[options]', '').trim()
    return `### \`tilecouch ${command.name()}${usage && ` ${usage}`}\`\n\n${command.description()}\n\n${table(['option', 'meaning', 'default'],
      command.options.filter(({ hidden }) => !hidden).map(({ flags, description, defaultValue }) => [`\`${flags}\``, description, defaultValue === undefined || typeof defaultValue === 'boolean' ? '' : `\`${defaultValue}\``]))}`
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

/** What a browser downloads, in whole kilobytes. */
async function sizes () {
  const kilobytes = bytes => `${Math.ceil(bytes.length / 1000)} kB`
  const made = Object.entries(await bundle({ ...clientBundles, ...viewerBundles }))
  return table(['file', 'size', 'gzipped'], made.map(([name, { bytes }]) => [`\`${name}\``, kilobytes(bytes), kilobytes(gzipSync(bytes))]))
}

const result = async name => JSON.parse(await readFile(new URL(`../bench/results/${name}.json`, import.meta.url), 'utf8'))

const rates = results => table(['what', 'median', 'lowest', 'highest'], Object.entries(results).map(([name, { median, min, max }]) => [name, `${median}/s`, `${min}/s`, `${max}/s`]))

/** The benchmarks as they were measured: bench/results holds what the runs wrote. */
async function benchmarks () {
  const [load, memory] = [await result('load'), await result('memory')]
  const { machine } = load
  return {
    budgets: table(['what', 'target', 'measured', ''], [...load.budgets, ...memory.budgets].map(({ what, target, figure, met }) => [what, target, figure, met ? 'pass' : '**falls short**'])),
    machine: `CouchDB ${machine.couchdb}, Node ${machine.node}, ${machine.cpu}, ${machine.cores} cores, ${machine.memory}, ${machine.date}; ${load.tiles} tiles of ${load.bytes} bytes, ${load.rounds} rounds.`,
    first: rates(load.first),
    second: rates(load.second),
    memory: table(['tiles', 'resident memory'], memory.samples.map(({ tiles, rss }) => [tiles, `${rss} MB`]))
  }
}

/** A page with its tables as they should be. */
export async function withTables (text) {
  const made = {
    ...await benchmarks(),
    ...historyTables(await result('history'), table),
    ...serveTables(await result('serve'), table),
    ...exportTables(await result('export'), table),
    ...mirrorTables(await result('mirror'), table),
    ...offlineTables(await result('offline'), table),
    ...serveMemoryTables(await result('serve-memory'), table),
    ...clientTables(table),
    ...gatewayTables(table),
    ...verifyTables(table),
    sizes: await sizes(),
    ...await upstreamTables(defaults),
    commands: commands(),
    errors: errors(),
    tuner: await defaults('../loader/store/tuner.js', 'tunerDefaults', tunerDefaults),
    retry: await defaults('../loader/store/couch.js', 'retryDefaults', retryDefaults)
  }
  return text.replace(/(<!-- table: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g, (_, begin, name, end) => `${begin}\n${made[name]}\n\n${end}`)
}

/** Every page with tables, by name. @returns {Promise<[string, string][]>} */
export const readPages = () => Promise.all(pages.map(async name => /** @type {[string, string]} */ ([name, await readFile(new URL(name, import.meta.url), 'utf8')])))

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, text] of await readPages()) await writeFile(new URL(name, import.meta.url), await withTables(text))
}
