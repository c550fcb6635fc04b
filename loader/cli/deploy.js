// tilecouch push, setup, build
import { TilecouchError } from '../../core/index.js'
import { build, buildClient } from '../couchapp/build.js'
import { compose } from '../couchapp/compose.js'
import { resolveDatabase } from '../couchapp/environments.js'
import { push } from '../couchapp/push.js'
import { publish } from '../publish.js'
import { setup } from '../setup.js'
import { Couch } from '../store/couch.js'
import { Store } from '../store/index.js'
import { withDatabase } from './connect.js'
import { wholeNumber } from './options.js'
import { bytes, count, plural } from './output.js'

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addDeployCommands (program, run) {
  program.command('push')
    .description('compose the design documents and deploy them: index first, then swap')
    .argument('[env]', 'environment of .couchapprc, URL, or name of a database on this machine')
    .option('-n, --dry-run', 'say what would change, and change nothing')
    .option('--app <folder>', 'a couchapp of your own: holds _design/, views/ and attachments/')
    .addHelpText('after', '\nExamples:\n  tilecouch push\n  tilecouch push production --dry-run')
    .action(run(pushCommand))

  program.command('setup')
    .description('check what a CouchDB needs to serve maps, and with --fix set it')
    .option('--fix', 'create and set what is missing; what holds for other databases of the server only with the next two')
    .option('--cors <origins>', 'let pages of these origins read, such as https://maps.example.org, or * for all: from every database of the server')
    .option('--allow-viewer', 'let browsers run the scripts of the viewer that CouchDB serves, from every database of the server; `tilecouch serve` needs no such thing')
    .option('-q, --shards <n>', 'shards of a new database')
    .option('-N, --copies <n>', 'copies of each shard in a cluster')
    .option('--tiles <n>', 'how many tiles there will be, with every version that is kept, such as 40000000 or 40M: advises shards and copies, and makes a new database with them')
    .option('--tile-bytes <n>', 'bytes a tile, for --tiles (default: 10000)')
    .addHelpText('after', '\nExamples:\n  tilecouch setup --db http://admin@localhost:5984/tiles\n  tilecouch setup --fix\n  tilecouch setup --fix --cors https://maps.example.org --allow-viewer\n  tilecouch setup --tiles 40M --fix')
    .action(run(setupCommand))

  program.command('build')
    .description('write classic couchapp folders, for couchapp, erica and couchdb-push, and the bundles of the client library')
    .argument('[folder]', 'where the couchapp goes', 'build/couchapp')
    .option('--client <folder>', 'where the bundles go', 'build/client')
    .action(run(async ({ output }, options, folder) => {
      const written = [...await build(folder), ...await buildClient(options.client)]
      output.result(written, written)
    }))
}

async function pushCommand (context, options, target) {
  const { output, signal } = context
  const docs = await compose(options.app)
  return withDatabase(context, { ...options, db: target ?? options.db }, async url => {
    /** @param {{id: string, step: string, done?: number}} event */
    const onProgress = ({ id, step, done }) => output.note(step === 'index' ? `${id}: building the index${done === undefined ? '' : ` (${done} %)`} …` : `${id}: swapping`)
    const { pushed, opened } = options.dryRun
      ? { pushed: await dryRun(url, docs), opened: false }
      : await publish(await Store.create(url, { public: false }), { docs, signal, onProgress })
    const { url: where } = new Couch(url)
    output.result({ url: where, dryRun: Boolean(options.dryRun), pushed, opened }, [
      ...pushed.map(({ id, action, fields }) => `${id}  ${action}${fields.length ? ` (${fields.join(', ')})` : ''}`),
      ...(opened ? ['The store is open: everybody reads, admins and the role tilecouch-writer write.'] : []),
      options.dryRun ? 'Nothing was changed.' : `Deployed to ${where}`
    ])
  })
}

async function dryRun (url, docs) {
  try {
    return await push(new Couch(url, { retries: 2 }), docs, { dryRun: true })
  } catch (error) {
    if (error.code !== 'DATABASE_NOT_FOUND') throw error
    return docs.map(({ _id }) => ({ id: _id, action: 'new', fields: [] }))
  }
}

const MARK = { ok: 'ok     ', fixed: 'fixed  ', missing: 'MISSING', skipped: 'skipped' }

async function setupCommand (context, options) {
  const { output } = context
  const named = options.db ?? await resolveDatabase()
  return withDatabase(context, { ...options, db: named ?? undefined }, async url => {
    const result = await setup(url, {
      fix: options.fix,
      cors: options.cors,
      allowViewer: options.allowViewer,
      q: wholeNumber('--shards', options.shards, 4),
      n: wholeNumber('--copies', options.copies, 4),
      tiles: tilesOf(options.tiles),
      tileBytes: wholeNumber('--tile-bytes', options.tileBytes, 9)
    })
    const missing = result.findings.filter(({ state }) => state === 'missing')
    output.result(result, [
      `${result.server} at ${result.url}`,
      ...describeAdvice(result.advice),
      ...result.findings.map(({ check, state, found, wanted, note }) =>
        `${MARK[state]}  ${check}: ${found}${state === 'missing' ? ` (wanted: ${wanted})` : ''}${note ? `\n           ${note}` : ''}`),
      missing.length && !options.fix ? `${missing.length} to do. \`tilecouch setup --fix\` does ${missing.some(({ check }) => check === 'shards') ? 'all but the shards' : 'it'}.` : missing.length ? `${missing.length} could not be mended.` : 'Ready.'
    ])
    return missing.length ? 1 : 0
  })
}

const UNITS = { '': 1, k: 1e3, M: 1e6, G: 1e9 }

/** @param {string | undefined} value */
function tilesOf (value) {
  if (value === undefined) return undefined
  const [, number, unit] = /^(\d{1,12}(?:\.\d{1,3})?)([kMG]?)$/.exec(value) ?? []
  const tiles = Math.round(+number * UNITS[unit])
  if (!(tiles > 0)) throw new TilecouchError('BAD_OPTION', { option: '--tiles', value })
  return tiles
}

/** @param {import('../advice.js').Advice} [advice] */
function describeAdvice (advice) {
  if (!advice) return []
  const { q, n, tiles, nodes, bytes: size, shardDocs, shardBytes, notes } = advice
  return [
    `${count(tiles)} tiles are about ${bytes(size)}${n > 1 ? `, ${bytes(size * n)} with all copies` : ''}. Advised on ${plural(nodes, 'node')}: q=${q} n=${n}`,
    `           a shard then has ${count(shardDocs)} tiles, ${bytes(shardBytes)}, and its compaction needs as much room again`,
    ...notes.map(note => `           ${note}`)
  ]
}
