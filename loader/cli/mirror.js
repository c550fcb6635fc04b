// tilecouch mirror
import { existsSync } from 'node:fs'
import { typedParts } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { databaseAt, resolveDatabase } from '../couchapp/environments.js'
import { Mirror, selectionOf } from '../maintain/mirror/index.js'
import { areaOptions, partOf, refuse } from './options.js'
import { byCause, bytes, count, duration, plural, secondsSince } from './output.js'
import { IndexProgress, ProgressLine } from './progress.js'
import { followed, withWork } from './store.js'

/** @typedef {import('../maintain/mirror/index.js').MirrorStatus} Status */

const EMBEDDED = 'embedded' // instead of an address: the store in --data
const SHOWN = 20 // documents that were refused, in what programs read
const KINDS = {
  layers: 'layer', editions: 'edition', styles: 'style', heads: 'tile', past: 'past version',
  marker: 'marker of the store', others: 'other document'
}

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

Run it again, and it goes on where it was. Names and passwords are in the URLs, else in TILECOUCH_FROM_USER and
TILECOUCH_FROM_PASSWORD for FROM, COUCHDB_USER and COUCHDB_PASSWORD for TO. A new mirror serves when everything is
there, and everybody may read it only if everybody may read FROM. See docs/mirrors.md.`,
  run: runMirror
}

async function runMirror (context, options, from, to) {
  check(options, from, to)
  const { layer: layers, current, since, data, live = false, dryRun = false } = options
  const selection = { layers, ...await partOf(options), current, since }
  // the address of an embedded store changes each time
  const shown = (name, couch) => name === EMBEDDED ? name : couch.url
  return withSides(context, options, [from, to], async (source, target) => {
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
    const names = { from: shown(from, mirror.source), to: shown(to, mirror.target), data }
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
  const { docs, missing, lacking, absent, refusals, tiles, bytes: size, pending } = status
  const counts = { tiles, bytes: size, pending, refused: lacking, absent }
  const about = followed(status, { source, target, selection, ...counts })
  return { done: docs, total: missing, failed: lacking, failures: refusals, about }
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

// The report.

class MirrorProgress extends ProgressLine {
  quiet = false // while it follows: single changes are not shown

  /** @param {import('./output.js').Output} output */
  constructor (output) {
    super(output, 'changes')
  }

  /** @param {Status} status */
  show ({ changes, pending, tiles, bytes: size, missing, docs, absent, refused, lacking, ready }) {
    if (this.quiet || ready) return
    // changes are read before their documents are written
    const done = Math.max(0, changes - (missing - docs - absent - refused))
    this.draw(done, pending === undefined ? undefined : changes + pending, () => [
      plural(tiles, 'tile'),
      bytes(size),
      !missing && 'nothing missing',
      lacking && `${count(lacking)} refused`
    ])
  }
}

class MirrorReport {
  #started = performance.now()
  #before = ''
  #wasComplete = false

  /**
   * @param {import('./output.js').Output} output
   * @param {{from: string, to: string, data: string, live: boolean, dryRun: boolean, progress: MirrorProgress}} what
   */
  constructor (output, { from, to, data, live, dryRun, progress }) {
    this.output = output
    this.title = `${from} -> ${to}`
    this.from = from
    this.to = to
    this.pushed = to === 'embedded' ? `--data ${data}` : to
    this.live = live
    this.dryRun = dryRun
    this.progress = progress
  }

  /** A change of state of a live mirror. @param {Status} status */
  state (status) {
    const { output, progress } = this
    const { state, error, reason } = status
    const before = this.#before
    this.#before = state
    progress.quiet = state === 'following'
    progress.end()
    if (output.json) this.#event(state, status)
    else if (state === 'away') output.note(`Away: ${reason} [${error}]. Trying again until it is back.`)
    else if (before === 'away' && state !== 'following') output.note('Back: reading what has changed …')
    if (state !== 'following') return
    const again = `${before === 'away' ? 'Back, and up' : 'Up'} to date again: following the changes.`
    const first = () => this.#described(status, 'up to date, following the changes')
    if (!output.json) output.note(this.#wasComplete ? again : first())
    this.#wasComplete = true
  }

  /** Before the indexes are built, which may take a while. @param {Status} status */
  copied ({ docs }) {
    this.progress.end()
    if (!docs) return
    this.output.note('All documents are copied. Deploying the design documents and building their indexes …')
  }

  /** @param {Status} status @param {'' | 'stopped' | 'failed'} [how] */
  end (status, how = '') {
    const { output, progress, live, dryRun, from, to } = this
    progress.end()
    if (live && output.json) return this.#event(how || 'stopped', status)
    output.result({ from, to, dryRun, ...this.#value(status) }, this.#described(status, how))
    if (!how || dryRun) return
    output.note(status.upToDate === undefined
      ? 'Run it again: it goes on where it was.'
      : 'The mirror was complete. Run it again: it goes on with later changes.')
  }

  #event (event, status) {
    const { from, to, output } = this
    output.event({ event, from, to, time: new Date().toISOString(), ...this.#value(status) })
  }

  #value ({ upToDate, refusals, ...status }) {
    const completed = upToDate !== undefined && { upToDate: new Date(upToDate).toISOString() }
    return { ...status, failures: refusals.slice(0, SHOWN), ...completed, seconds: secondsSince(this.#started) }
  }

  #described (status, how) {
    const seconds = secondsSince(this.#started)
    const { changes, docs, tiles, deleted, bytes: size, missing, absent, ready } = status
    const title = `${this.title}${how && ` (${how})`}: ${plural(changes, 'change')} looked at in ${duration(seconds)}`
    const rate = this.#wasComplete ? '' : `, ${count(Math.round(tiles / seconds))}/s` // a live mirror mostly waits
    const unknown = status.unknown.map(layer => `  The source has no layer ${layer}`)
    const refused = refusalLines(status)
    if (this.dryRun) return [title, unknown, forecast(status), refused, 'Nothing was changed.']
    return [
      title,
      unknown,
      missing === 0
        ? '  Nothing was missing'
        : `  ${plural(missing, 'revision')} missing: ${plural(docs, 'document')} written, ` +
          `${plural(tiles, 'tile')} of them (${bytes(size)}${rate}), ${plural(deleted, 'deletion')}`,
      absent && `  The source does not have ${count(absent)} of them any more`,
      refused,
      ready && describeReady(ready, this.pushed),
      status.since !== undefined && `  It goes on after change ${position(status.since)} (_local/${status.checkpoint})`
    ]
  }
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

/** The number that a sequence begins with. */
const position = seq => count(Number.parseInt(String(seq), 10) || 0)
