// npm run bench -- NAME [--quick] [--out FOLDER]: measures on a real CouchDB (COUCHDB_URL, COUCHDB_BIN or `couchdb` on
// the PATH), prints a table and writes the figures as JSON. The embedded store is not measured: it is not the
// product.
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { all, ours, runSeveral } from './all.js'
import { findCouchDb, startCouchDb } from './couchdb.js'
import { BUSY, describeMachine } from './machine.js'
import { writeResult } from './results.js'
import { scrub } from '../core/index.js'

const groups = { all, ours }

const { positionals: [name], values: { quick = false, out, most, help = false } } = readArguments()

const usage = `Usage: npm run bench -- NAME [--quick] [--out FOLDER] [--most VERSIONS]

Benchmarks: ${all.join(', ')}
Together:   all (each of them)
            ours (${ours.join(', ')})

\`growth\` goes up to so many versions (--most 10000000: hours).

Each writes FOLDER/NAME.json: bench/out, if no other one is given. \`all\` and \`ours\` in full write into
bench/results, and then the pages and plots in docs/.`

if (help) console.log(usage)
else if (![...all, ...Object.keys(groups)].includes(name)) {
  console.error(usage)
  process.exitCode = 2
} else if (!process.env.COUCHDB_URL && !findCouchDb()) {
  console.error('Benchmarks need a real CouchDB: set COUCHDB_URL or COUCHDB_BIN, or put couchdb on the PATH.')
  process.exitCode = 1
} else if (Object.hasOwn(groups, name)) {
  const isForPages = !quick && out === undefined // figures of a short run are not published
  const folder = out ?? (isForPages ? 'bench/results' : 'bench/out')
  process.exitCode = await runSeveral(groups[name], { quick, out: folder, pages: isForPages, log: console.log }) ? 0 : 1
} else await measure()

/** @returns {{positionals: string[], values: {quick?: boolean, out?: string, most?: string, help?: boolean}}} */
function readArguments () {
  const options = {
    quick: { type: 'boolean' }, out: { type: 'string' }, most: { type: 'string' }, help: { type: 'boolean', short: 'h' }
  }
  try {
    return /** @type {any} */ (parseArgs({ allowPositionals: true, options: /** @type {any} */ (options) }))
  } catch (error) {
    console.error(`${error.message}\n`)
    return { positionals: [], values: {} }
  }
}

async function measure () {
  const { COUCHDB_URL } = process.env
  const server = COUCHDB_URL ? { url: COUCHDB_URL.replace(/\/$/, ''), close () {} } : await startCouchDb()
  try {
    const { version } = await (await fetch(server.url.replace(/\/\/.*@/, '//'))).json()
    const machine = await describeMachine(version)
    const clientNote = `Node ${process.version}, ${machine.cores} cores, client on the same machine`
    console.log(`${name}: CouchDB ${version} at ${scrub(server.url)}, ${clientNote}`)
    const busyShare = `${Math.round(machine.busy * 100)} % of its cores`
    if (machine.busy > BUSY) {
      console.log(`This machine is busy with something else (${busyShare}): these figures are worth little.`)
    }
    console.log()
    const { run } = await import(`./${name}.js`)
    // only a CouchDB that this process started may be restarted
    const restart = 'start' in server ? async () => { await server.kill(); await server.start() } : undefined
    const start = performance.now()
    const result =
      await run({ server: server.url, restart, quick, most: most && Number(most), log: text => console.log(text) })
    if (!result) {
      process.exitCode = 130 // interrupted
      return
    }
    const { budgets } = result
    if (budgets.length) console.log()
    for (const { what, target, figure, met } of budgets) {
      console.log(`${met ? 'pass' : 'FALLS SHORT'}  ${what}: ${figure} (target ${target})`)
    }
    const file = path.join(out ?? 'bench/out', `${name}.json`)
    await mkdir(path.dirname(file), { recursive: true })
    await writeResult(file, { name, quick, machine, took: Math.round((performance.now() - start) / 1000), ...result })
    console.log(`\n${file}`)
  } finally {
    await server.close()
  }
}
