// tilecouch mirror
import { existsSync } from 'node:fs'
import { sequenceNumber } from '../../core/feed-position.js'
import { typedParts } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { databaseAt, resolveDatabase } from '../couchapp/environments.js'
import { Mirror, selectionOf } from '../maintain/mirror/index.js'
import { areaOptions, partOf, refuse } from './options.js'
import { byCause, bytes, count, duration, plural, secondsSince } from './output.js'
import { LiveReport, followed } from './live.js'
import { IndexProgress, ProgressLine } from './progress.js'
import { runTask } from './task.js'

/** @typedef {import('../maintain/mirror/index.js').MirrorStatus} Status */

const EMBEDDED = 'embedded' // instead of an address: the store in --data
const SHOWN = 20 // refused documents in the JSON
const KINDS = {
  layers: 'layer', editions: 'edition', styles: 'style', heads: 'tile', past: 'past version',
  marker: 'marker of the store', others: 'other document'
}

const COPIED = 'All documents are copied. Deploying the design documents and building their indexes …'
const RUN_AGAIN = 'Run it again: it goes on where it was.'
const WAS_COMPLETE = 'The mirror was complete. Run it again: it goes on with later changes.'

const split = (value, previous = []) => [...previous, ...value.split(',').map(name => name.trim())]

/** @type {import('./command.js').Declaration} */
export const mirrorCommand = {
  arguments: [
    ['[from]', 'a URL, an environment of .couchapprc, a database on this machine, or `embedded`: the store in --data'],
    ['[to]', 'the same; the database is created if it does not exist']
  ],
  options: [
    ['--layer <names>', '', { parse: split }],
    ...areaOptions, '--current', '--since <time>', '--live', '-n, --dry-run', '--public', '--data <folder>'
  ],
  help: `Examples:
  tilecouch mirror https://maps.example/tiles http://admin@localhost:5984/tiles
  tilecouch mirror https://gateway.example/db embedded --layer osm --bbox 5.9,45.8,10.5,47.8 --zoom 0-14 --live
  tilecouch mirror production backup --dry-run

Run it again, and it goes on where it was. Names and passwords are in the URLs, else in TILECOUCH_FROM_USER and
TILECOUCH_FROM_PASSWORD for FROM, COUCHDB_USER and COUCHDB_PASSWORD for TO. A new mirror serves when everything is
there, and everybody may read it only if everybody may read FROM. See docs/mirrors.md.`,
  run: runMirror
}

async function runMirror (context, options, from, to) {
  check(options, from, to)
  const { output, signal } = context
  const { layer: layers, current, since, data, live = false, dryRun = false } = options
  const selection = { layers, ...await partOf(options), current, since }
  // the address of an embedded store changes each time
  const nameOf = (name, couch) => name === EMBEDDED ? name : couch.url
  return withSides(context, options, [from, to], async (source, target) => {
    const progress = new ProgressLine(output, 'changes')
    const mirror = new Mirror(source, target, {
      ...selection,
      live,
      dryRun,
      public: options.public,
      signal,
      onProgress: status => { if (!status.ready) progress.drawFigures(drawnFigures(status)) },
      onState: status => report.change(status),
      onCopied () {
        if (mirror.status().docs) output.note(COPIED)
      },
      onIndex: new IndexProgress(output).show
    })
    const names = { from: nameOf(from, mirror.source), to: nameOf(to, mirror.target) }
    const started = performance.now()
    const linesOf = (status, ending) => statusLines(status, {
      title: `${names.from} -> ${names.to}${ending}`,
      to: to === EMBEDDED ? `--data ${data}` : names.to,
      seconds: secondsSince(started),
      dryRun,
      isCopying: !report.wasComplete
    })
    const report = new LiveReport(output, progress, {
      eventOf: () => ({ ...names, ...valueOf(mirror.status(), started) }),
      complete: () => linesOf(mirror.status(), ' (up to date, following the changes)')
    })
    const currentValue = () => ({ ...names, dryRun, ...valueOf(mirror.status(), started) })
    const typedCommand = typedParts(context.args)
    let ending = '' // in words, unless it ran to its end
    return runTask(context, dryRun ? undefined : mirror.target ?? undefined, {
      command: 'mirror',
      args: typedCommand && ['mirror', typedCommand.names[0], ...typedCommand.options], // the document is in TO
      unit: 'documents',
      follows: live,
      progress,
      look: () => workFigures(mirror.status(), { ...names, selection: selectionOf(selection) }),
      run: () => mirror.run().then(currentValue, error => {
        const { checkpoint, upToDate } = mirror.status()
        if (checkpoint !== undefined) error.summary = currentValue()
        // stopping a live mirror is no failure once it was complete
        if (error.code !== 'ABORTED' || !live || upToDate === undefined) throw error
        ending = ' (stopped)'
        return error.summary
      }),
      report (_, seconds, ended) {
        ending ||= ended
        return live && output.json ? report.event(ending.slice(2, -1) || 'stopped') : linesOf(mirror.status(), ending)
      },
      isFaulty: ({ lacking }) => lacking
    }).finally(() => {
      if (ending && !dryRun) output.note(mirror.status().upToDate === undefined ? RUN_AGAIN : WAS_COMPLETE)
    })
  })
}

/** @param {Status} status */
const drawnFigures = ({ changes, pending, tiles, bytes: size, missing, docs, absent, refused, lacking }) => ({
  // changes are read before their documents are written
  done: Math.max(0, changes - (missing - docs - absent - refused)),
  total: pending === undefined ? undefined : changes + pending,
  about: { bytes: size, tiles, refused: lacking }
})

/** @param {Status} status */
function workFigures (status, { from: source, to: target, selection }) {
  const { docs, missing, lacking, absent, refusals, tiles, bytes: size, pending } = status
  const counts = { tiles, bytes: size, pending, refused: lacking, absent }
  const about = followed(status, { source, target, selection, ...counts })
  return { done: docs, total: missing, failed: lacking, failures: refusals, about }
}

/** The JSON of a mirror. @param {Status} status @param {number} started */
function valueOf ({ upToDate, refusals, ...status }, started) {
  const completed = upToDate !== undefined && { upToDate: new Date(upToDate).toISOString() }
  return { ...status, failures: refusals.slice(0, SHOWN), ...completed, seconds: secondsSince(started) }
}

function check (options, from, to) {
  if (to === undefined) {
    refuse(from === undefined ? 'FROM' : 'TO', null, 'name both stores: tilecouch mirror FROM TO')
  }
  if (from === EMBEDDED && to === EMBEDDED) throw new TilecouchError('SAME_DATABASE', { url: from, where: to })
  if (options.live && options.dryRun) refuse('--live', true, 'it does not go with --dry-run')
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

/** @param {Status} status @param {any} parts isCopying: a live mirror mostly waits, so its rate says nothing */
function statusLines (status, { title, to, seconds, dryRun, isCopying }) {
  const { changes, docs, tiles, deleted, missing, absent, ready, since } = status
  const rate = isCopying ? `, ${count(Math.round(tiles / seconds))}/s` : ''
  return [
    `${title}: ${plural(changes, 'change')} looked at in ${duration(seconds)}`,
    status.unknown.map(layer => `  The source has no layer ${layer}`),
    dryRun && [forecast(status), refusalLines(status), 'Nothing was changed.'],
    !dryRun && missing === 0 && '  Nothing was missing',
    !dryRun && missing > 0 && `  ${plural(missing, 'revision')} missing: ${plural(docs, 'document')} written, ` +
      `${plural(tiles, 'tile')} of them (${bytes(status.bytes)}${rate}), ${plural(deleted, 'deletion')}`,
    !dryRun && absent && `  The source does not have ${count(absent)} of them any more`,
    !dryRun && [refusalLines(status), ready && describeReady(ready, to)],
    !dryRun && since !== undefined &&
      `  It goes on after change ${count(sequenceNumber(since) || 0)} (_local/${status.checkpoint})`
  ]
}

function forecast ({ missing, lacked = {} }) {
  const kinds = Object.entries(KINDS).filter(([kind]) => lacked[kind]).map(([kind, noun]) => plural(lacked[kind], noun))
  return missing ? `  Would copy ${plural(missing, 'revision')}: ${kinds.join(', ')}` : '  Nothing is missing'
}

function refusalLines ({ lacking, refusals }) {
  const causeOf = ({ error, reason }) => reason ?? error
  const wordsOf = refusal => [`${refusal.id}  ${causeOf(refusal)}`]
  return lacking && [`  ${plural(lacking, 'revision')} refused:`, byCause(refusals, lacking, { causeOf, wordsOf })]
}

/**
 * @param {import('../maintain/mirror/target.js').Ready} ready
 * @param {string} to address of the target, or the options that name it
 */
function describeReady ({ designs, skipped, access }, to) {
  const deployed = designs.filter(({ action }) => ['new', 'changed', 'copied'].includes(action)).length
  const different = designs.filter(({ action }) => action === 'differs').map(({ id }) => id).join(', ')
  return [
    skipped && `  Design documents were not deployed: ${skipped} An admin deploys them with: tilecouch push ${to}`,
    different && `  Other design documents were kept: ${different}. To replace them: tilecouch push ${to}`,
    deployed && `  ${plural(deployed, 'design document')} deployed, indexes built`,
    access === 'opened' && '  Everybody reads the mirror; admins and the role tilecouch-writer write',
    access === 'closed' && [
      '  Only admins read the mirror, since not everybody may read the source. To let members in, add them to ' +
        '_security:',
      `    PUT ${to}/_security  {"members": {"names": ["NAME"], "roles": []}}`
    ]
  ]
}
