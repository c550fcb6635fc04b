// npm run bench -- NAME [--quick] [--out FOLDER]: measures on a real CouchDB (COUCHDB_URL, COUCHDB_BIN or `couchdb` on
// the PATH), prints a table and writes the figures as JSON. Nothing is measured on the embedded store: it is not the product.
import { mkdir, writeFile } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { findCouchDb, startCouchDb } from './couchdb.js'
import { scrub } from '../core/index.js'

const benchmarks = {
  tilecache: () => import('./tilecache.js'),
  bulk: () => import('./bulk.js'),
  tilestache: () => import('./tilestache.js'),
  keyspace: () => import('./keyspace.js'),
  diskcache: () => import('./diskcache.js'),
  load: () => import('./load.js'),
  memory: () => import('./memory.js'),
  growth: () => import('./growth.js'),
  history: () => import('./history.js'),
  serve: () => import('./serve.js'),
  export: () => import('./export.js'),
  mirror: () => import('./mirror.js'),
  offline: () => import('./offline.js'),
  'serve-memory': () => import('./serve-memory.js'),
  drills: () => import('./drills.js')
}

const { positionals: [name], values } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false }, out: { type: 'string', default: 'bench/out' } }
})

if (!Object.hasOwn(benchmarks, name ?? '')) {
  console.error(`Usage: npm run bench -- NAME [--quick] [--out FOLDER]\nBenchmarks: ${Object.keys(benchmarks).join(', ')}`)
  process.exit(2)
}
const server = process.env.COUCHDB_URL ? { url: process.env.COUCHDB_URL.replace(/\/$/, ''), close () {} } : findCouchDb() && await startCouchDb()
if (!server) {
  console.error('Benchmarks need a real CouchDB: set COUCHDB_URL or COUCHDB_BIN, or put couchdb on the PATH.')
  process.exit(1)
}
try {
  const { version } = await (await fetch(server.url.replace(/\/\/.*@/, '//'))).json()
  const machine = { couchdb: version, node: process.version, cpu: cpus()[0].model, cores: cpus().length, memory: `${Math.round(totalmem() / 2 ** 30)} GiB`, date: new Date().toISOString().slice(0, 10) }
  console.log(`${name}: CouchDB ${version} at ${scrub(server.url)}, Node ${process.version}, ${machine.cores} cores, client on the same machine\n`)
  const { run } = await benchmarks[name]()
  // one of our own may be stopped in between
  const restart = 'start' in server ? async () => { await server.kill(); await server.start() } : undefined
  const result = await run({ server: server.url, restart, quick: values.quick, log: text => console.log(text) })
  if (result) {
    const file = path.join(values.out, `${name}.json`)
    await mkdir(values.out, { recursive: true })
    await writeFile(file, JSON.stringify({ name, quick: values.quick, machine, ...result }, null, 2) + '\n')
    console.log(`\n${file}`)
  } else process.exitCode = 130 // interrupted
} finally {
  await server.close()
}
