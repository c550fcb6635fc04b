// tilecouch mirror
import { existsSync } from 'node:fs'
import { typedParts } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { databaseAt, resolveDatabase } from '../couchapp/environments.js'
import { Mirror, selectionOf } from '../maintain/mirror/index.js'
import { MirrorProgress, MirrorReport } from './mirror-report.js'
import { areaOptions } from './command.js'
import { partOf } from './options.js'
import { IndexProgress } from './progress.js'
import { followed, withWork } from './work.js'

const EMBEDDED = 'embedded' // instead of an address: the store in --data

const split = (value, before = []) => [...before, ...value.split(',').map(name => name.trim())]

/** @type {import('./command.js').Declaration} */
export const mirrorCommand = {
  name: 'mirror',
  description: 'copy a store to another one, all of it or a part, once or live',
  arguments: [
    ['[from]', 'the source: a URL, an environment of .couchapprc, a name on this machine, the /db of a gateway, or ' +
      '`embedded` for the store in --data'],
    ['[to]', 'the mirror: the same, but not a gateway; the database is created if it does not exist']
  ],
  options: [
    ['--layer <names>', '', { parse: split }],
    ...areaOptions, '--current', '--since <time>', '--live', '-n, --dry-run', '--public', '--data <folder>'
  ],
  help: `Examples:
  tilecouch mirror https://maps.example/tiles http://admin@localhost:5984/tiles
  tilecouch mirror https://gateway.example/db embedded --layer osm --bbox 5.9,45.8,10.5,47.8 --zoom 0-14 --live
  tilecouch mirror production backup --dry-run

Run it again, and it goes on where it was. Names: in the URLs; else, with passwords, TILECOUCH_FROM_USER and
TILECOUCH_FROM_PASSWORD for FROM, COUCHDB_USER and COUCHDB_PASSWORD for TO. A new mirror serves when everything is
there, and everybody may read it only if everybody may read FROM. Two stores that are both written to are mirrored both
ways, and \`tilecouch check --fix\` resolves their conflicts.
What TO refuses is tried again with every run, and every minute of a live one.
Exit codes: 0 everything is there, 1 something is refused or failed, 130 stopped before everything was there.`,
  run: runMirror
}

async function runMirror (context, options, from, to) {
  check(options, from, to)
  const selection = {
    layers: options.layer,
    ...await partOf(options),
    current: options.current,
    since: options.since
  }
  // the address of an embedded store changes each time
  const shown = (name, couch) => name === EMBEDDED ? name : couch.url
  return withSides(context, options, [from, to], async (source, target) => {
    const { live = false, dryRun = false } = options
    const progress = new MirrorProgress(context.output)
    const indexing = new IndexProgress(context.output)
    const mirror = new Mirror(source, target, {
      ...selection,
      live,
      dryRun,
      public: options.public,
      signal: context.signal,
      onProgress: status => progress.show(status),
      onState: status => report.state(status),
      onCopied: () => report.copied(mirror.status()),
      onIndex: indexing.show
    })
    const names = { from: shown(from, mirror.source), to: shown(to, mirror.target), data: options.data }
    const report = new MirrorReport(context.output, { ...names, live, dryRun, progress })
    const look = () => mirrorFigures(mirror.status(), { ...names, selection: selectionOf(selection) })
    const typed = typedParts(context.args)
    const args = typed && ['mirror', typed.names[0], ...typed.options] // the document is in TO
    const about = { command: 'mirror', args, unit: 'documents', follows: live, look }
    try {
      const couch = dryRun ? undefined : mirror.target ?? undefined
      report.end(await withWork(context, couch, about, () => mirror.run()))
    } catch (error) {
      const isStopped = error.code === 'ABORTED'
      if (mirror.status().checkpoint !== undefined) report.end(mirror.status(), isStopped ? 'stopped' : 'failed')
      // stopping a live mirror is no failure once it was complete
      if (!isStopped || !live || mirror.status().upToDate === undefined) throw error
    }
    return mirror.status().lacking ? 1 : 0
  })
}

function mirrorFigures (status, { from: source, to: target, selection }) {
  const { docs, missing, lacking, absent, refusals, tiles, bytes, pending } = status
  const counts = { tiles, bytes, pending, refused: lacking, absent }
  const about = followed(status, { source, target, selection, ...counts })
  return { done: docs, total: missing, failed: lacking, failures: refusals, about }
}

function check (options, from, to) {
  const wrong = (option, value, why) => new TilecouchError('BAD_OPTION', { option, value, why })
  if (to === undefined) {
    throw wrong(from === undefined ? 'FROM' : 'TO', null, 'name both stores: tilecouch mirror FROM TO')
  }
  if (from === EMBEDDED && to === EMBEDDED) throw new TilecouchError('SAME_DATABASE', { url: from, where: to })
  if (options.live && options.dryRun) throw wrong('--live', true, 'it does not go with --dry-run')
}

/** Calls an action with the URLs of both sides; an embedded store is open until it ends. */
async function withSides (context, { data, dryRun }, names, action) {
  let embedded
  try {
    const urls = /** @type {any[]} */ ([])
    for (const [index, name] of names.entries()) {
      if (name !== EMBEDDED) urls.push(await resolveDatabase(name, { side: index ? 'COUCHDB' : 'TILECOUCH_FROM' }))
      else if (!index && !existsSync(data)) throw new TilecouchError('SOURCE_NOT_FOUND', { value: data })
      else if (dryRun && !existsSync(data)) urls.push(null) // opening would create it
      else urls.push(databaseAt((embedded = await context.openEmbedded(data)).url))
    }
    return await action(...urls)
  } finally {
    await embedded?.close()
  }
}
