// npm run bench -- NAME [--quick] [--out FOLDER]: measures on a real CouchDB (COUCHDB_URL, COUCHDB_BIN or `couchdb` on
// the PATH), prints a table and writes the figures as JSON. Nothing is measured on the embedded store: it is not the product.
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { all, ours, runSeveral } from './all.js'
import { findCouchDb, startCouchDb } from './couchdb.js'
import { BUSY, describeMachine } from './machine.js'
import { writeResult } from './results.js'
import { scrub } from '../core/index.js'

const benchmarks = {
  tilecache: () => import('./tilecache.js'),
  bulk: () => import('./bulk.js'),
  tilestache: () => import('./tilestache.js'),
  keyspace: () => import('./keyspace.js'),
  diskcache: () => import('./diskcache.js'),
  load: () => import('./load.js'),
  memory: () => import('./memory.js'),
  history: () => import('./history.js'),
  serve: () => import('./serve.js'),
  export: () => import('./export.js'),
  mirror: () => import('./mirror.js'),
  offline: () => import('./offline.js')
}
const groups = { all, ours }

const { positionals: [name], values: { quick, out } } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false }, out: { type: 'string' } }
})

const usage = `Usage: npm run bench -- NAME [--quick] [--out FOLDER]

Benchmarks: ${Object.keys(benchmarks).join(', ')}
Together:   all (${all.join(', ')})
            ours (${ours.join(', ')})

Each writes FOLDER/NAME.json: bench/out, if no other one is given. \`all\` and \`ours\` in full write into bench/results, and then
the pages and plots in docs/.`

if (!Object.hasOwn({ ...groups, ...benchmarks }, name ?? '')) {
  console.error(usage)
  process.exitCode = 2
} else if (!process.env.COUCHDB_URL && !findCouchDb()) {
  console.error('Benchmarks need a real CouchDB: set COUCHDB_URL or COUCHDB_BIN, or put couchdb on the PATH.')
  process.exitCode = 1
} else if (Object.hasOwn(groups, name)) {
  // figures of a first look never stand on the project's own page
  const kept = !quick && out === undefined
  const folder = out ?? (kept ? 'bench/results' : 'bench/out')
  process.exitCode = await runSeveral(groups[name], { quick, out: folder, pages: kept, log: console.log }) ? 0 : 1
} else await measure(benchmarks[name])

/** @param {() => Promise<{run: (options: any) => Promise<any>}>} load */
async function measure (load) {
  const server = process.env.COUCHDB_URL ? { url: process.env.COUCHDB_URL.replace(/\/$/, ''), close () {} } : await startCouchDb()
  try {
    const { version } = await (await fetch(server.url.replace(/\/\/.*@/, '//'))).json()
    const machine = await describeMachine(version)
    console.log(`${name}: CouchDB ${version} at ${scrub(server.url)}, Node ${process.version}, ${machine.cores} cores, client on the same machine`)
    if (machine.busy > BUSY) console.log(`This machine does something else as well (${Math.round(machine.busy * 100)} % of its cores): these figures are worth little.`)
    console.log()
    const { run } = await load()
    // one of our own may be stopped in between
    const restart = 'start' in server ? async () => { await server.kill(); await server.start() } : undefined
    const began = performance.now()
    const result = await run({ server: server.url, restart, quick, log: text => console.log(text) })
    if (!result) {
      process.exitCode = 130 // interrupted
      return
    }
    const file = path.join(out ?? 'bench/out', `${name}.json`)
    await mkdir(path.dirname(file), { recursive: true })
    await writeResult(file, { name, quick, machine, took: Math.round((performance.now() - began) / 1000), ...result })
    console.log(`\n${file}`)
  } finally {
    await server.close()
  }
}
