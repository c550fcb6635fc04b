// What `tilecouch mirror` prints: progress, changes of state, and the result.
import { byCause, bytes, count, duration, plural, secondsSince } from './output.js'
import { ProgressLine } from './progress.js'

const SHOWN = 20 // documents that were refused, in what programs read
const KINDS = {
  layers: 'layer', editions: 'edition', styles: 'style', heads: 'tile', past: 'past version',
  marker: 'marker of the store', others: 'other document'
}

/** @typedef {import('../maintain/mirror/index.js').MirrorStatus} Status */

export class MirrorProgress extends ProgressLine {
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

export class MirrorReport {
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
    const time = new Date().toISOString()
    output.stdout.write(`${JSON.stringify({ event, from, to, time, ...this.#value(status) })}\n`)
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
    const refused = this.#refusals(status)
    if (this.dryRun) return [title, ...unknown, ...this.#forecast(status), ...refused, 'Nothing was changed.']
    return [
      title,
      ...unknown,
      missing === 0
        ? '  Nothing was missing'
        : `  ${plural(missing, 'revision')} missing: ${plural(docs, 'document')} written, ${plural(tiles, 'tile')} ` +
          'of them ' +
          `(${bytes(size)}${rate}), ${plural(deleted, 'deletion')}`,
      absent && `  The source does not have ${count(absent)} of them any more`,
      ...refused,
      ready && describeReady(ready, this.pushed),
      status.since !== undefined && `  It goes on after change ${position(status.since)} (_local/${status.checkpoint})`
    ]
  }

  #forecast ({ missing, lacked = {} }) {
    const present = Object.entries(KINDS).filter(([kind]) => lacked[kind])
    const kinds = present.map(([kind, noun]) => plural(lacked[kind], noun))
    return [missing ? `  Would copy ${plural(missing, 'revision')}: ${kinds.join(', ')}` : '  Nothing is missing']
  }

  #refusals ({ lacking, refusals }) {
    if (!lacking) return []
    const causeOf = ({ error, reason }) => reason ?? error
    const wordsOf = refusal => [`${refusal.id}  ${causeOf(refusal)}`]
    return [`  ${plural(lacking, 'revision')} refused:`, ...byCause(refusals, lacking, { causeOf, wordsOf })]
  }
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
    access === 'closed' &&
      ['  Only admins read the mirror, since not everybody may read the source. To let members in, add them to ' +
        '_security:',
          `    PUT ${to}/_security  {"members": {"names": ["NAME"], "roles": []}}`]
  ]
}

/** The number that a sequence begins with. */
const position = seq => count(Number.parseInt(String(seq), 10) || 0)
