// tilecouch mirror FROM TO --replicator
import { TilecouchError } from '../../core/index.js'
import { idsOf, mirrorByReplicator, stopReplicator } from '../mirror/replicator.js'
import { describeReady } from './mirror-report.js'
import { count, duration, plural, secondsSince } from './output.js'
import { ProgressLine } from './progress.js'

const SAID = {
  initializing: 'The replicator has not begun yet.',
  running: 'The replicator is at work.',
  pending: 'The replicator waits for its turn: the server runs as many replications as it may (max_jobs).',
  crashing: 'The replicator had an error, and tries again later',
  error: 'The replicator cannot begin, and tries again later',
  away: 'The server does not answer, and is asked again'
}

const ACTIONS = { new: 'written', changed: 'changed', again: 'written again: it had ended', unchanged: 'there already, and at work' }

/**
 * @param {import('./program.js').Context} context
 * @param {Record<string, any>} options of the command line
 * @param {{from: string, to: string, wanted: Pick<import('../mirror/index.js').MirrorOptions, 'layers' | 'area' | 'zooms' | 'current' | 'since'>}} what URLs, with names and passwords
 */
export async function replicatorCommand ({ output, signal }, options, { from, to, wanted }) {
  const { live = false, winningRevsOnly, push, replace, public: isForAll } = options
  if (options.dryRun) throw new TilecouchError('BAD_OPTION', { option: '--dry-run', value: true, why: 'the replicator has no such thing; without --replicator it says what is missing' })
  const what = { ...wanted, live, winningRevsOnly, push, replace, public: isForAll }
  if (options.stop) return stopCommand(output, from, to, what)
  const report = new ReplicatorReport(output, live)
  try {
    const last = await mirrorByReplicator(from, to, {
      ...what,
      signal,
      onStart: replicated => report.start(replicated),
      onState: status => report.state(status),
      onReady: ready => report.ready(ready)
    })
    report.end(last)
    return last.state === 'completed' && !last.refused ? 0 : 1
  } catch (error) {
    report.leave(error.code)
    if (error.code !== 'ABORTED' || !live || !report.wasThere) throw error
    return 0
  }
}

async function stopCommand (output, from, to, what) {
  const stopped = []
  for (const id of idsOf(from, to, what)) if (await stopReplicator(from, to, { ...what, id })) stopped.push(id)
  output.result({ stopped }, stopped.length ? stopped.map(id => `Stopped: ${id}. What is copied stays.`) : ['There is no such replication. `tilecouch mirrors` says which there are.'])
  return stopped.length ? 0 : 1
}

class ReplicatorReport {
  #started = performance.now()
  #said = ''
  #status = /** @type {import('../mirror/replicator.js').ReplicatorStatus | undefined} */ (undefined)
  #replicated = /** @type {import('../mirror/replicator.js').Replicated | undefined} */ (undefined)
  wasThere = false

  /** @param {import('./output.js').Output} output @param {boolean} live */
  constructor (output, live) {
    this.output = output
    this.live = live
    this.progress = new ProgressLine(output, 'documents')
  }

  get #title () {
    return `${this.#replicated?.doc.source} -> ${this.#replicated?.doc.target}`
  }

  /** @param {import('../mirror/replicator.js').Replicated} replicated */
  start (replicated) {
    const { output } = this
    this.#replicated = replicated
    if (output.json) return
    output.note(`_replicator/${replicated.id} at ${replicated.url} is ${ACTIONS[replicated.action]}.`)
    for (const { id, stopped } of replicated.others) {
      output.note(stopped ? `Another selection of the same two is stopped: ${id}` : `Another selection of the same two goes on as well: ${id}. To stop it: tilecouch mirrors --stop ${id}, or --replace here.`)
    }
  }

  /** @param {import('../mirror/replicator.js').ReplicatorStatus} status */
  state (status) {
    this.#status = status
    const { output, live } = this
    const following = live && Boolean(status.upToDate)
    const said = following ? 'following' : `${status.state}${status.error ?? ''}`
    if (said !== this.#said) {
      this.#said = said
      this.progress.end()
      if (output.json && live) this.#event(following ? 'following' : status.state)
      else if (following) output.note(`${this.#title}: up to date, the server follows the changes.${this.wasThere ? '' : ` ${plural(status.written ?? 0, 'document')} written so far.`}`)
      else if (SAID[status.state]) output.note(`${SAID[status.state]}${status.error ? `: ${status.error}` : ''}`)
    }
    if (following) this.wasThere = true
    else if (status.state === 'running') this.#draw(status)
  }

  /** @param {import('../mirror/replicator.js').ReplicatorStatus} status */
  #draw ({ checked = 0, written = 0, pending }) {
    this.progress.draw(checked, pending === undefined ? undefined : checked + pending, rate => [`${count(Math.round(rate))}/s`, `${count(written)} written`])
  }

  /** @param {import('../mirror/ready.js').Ready} ready */
  ready (ready) {
    this.progress.end()
    const { output, live } = this
    if (!live || output.json) return
    for (const line of describeReady(ready, this.#replicated?.doc.target)) output.note(line)
  }

  /** @param {Awaited<ReturnType<typeof mirrorByReplicator>>} status */
  end (status) {
    this.progress.end()
    const { output, live } = this
    const { replicated, ready, ...counts } = status
    const { read = 0, written = 0, missing = 0, refused, state, error, id } = counts
    const seconds = secondsSince(this.#started)
    if (live && output.json) return this.#event(state)
    const { url, action, others } = replicated
    output.result({ from: replicated.doc.source, to: replicated.doc.target, url, action, others, ...counts, ready, seconds }, [
      `${this.#title}: ${OUTCOME[state] ?? state} after ${duration(seconds)}${error ? `: ${error}` : ''}`,
      // of one that was there before, CouchDB adds up what it ever did
      `  ${plural(missing, 'revision')} missing: ${plural(read, 'document')} read, ${count(written)} written${action === 'new' ? ` (${count(Math.round(written / seconds))}/s)` : ', since it was first begun'}${refused ? `, ${count(refused)} refused: see the log of ${url}` : ''}`,
      ...(ready ? describeReady(ready, replicated.doc.target) : []),
      ...(state === 'stopped' ? [] : [`  The server keeps _replicator/${id} as a record; tilecouch mirrors --stop ${id} removes it.`])
    ])
  }

  /** Nobody watches any more; the server goes on. @param {string} code */
  leave (code) {
    this.progress.end()
    const { output, live } = this
    const replicated = this.#replicated
    if (!replicated || code !== 'ABORTED') return
    if (live && output.json) return this.#event('left')
    output.note(`No longer watched: ${replicated.url} goes on with it. To stop it: the same command with --stop, or tilecouch mirrors --stop ${replicated.id}`)
  }

  #event (event) {
    const { doc, url, action } = /** @type {import('../mirror/replicator.js').Replicated} */ (this.#replicated)
    this.output.stdout.write(JSON.stringify({ event, from: doc.source, to: doc.target, url, action, time: new Date().toISOString(), ...this.#status }) + '\n')
  }
}

const OUTCOME = { completed: 'everything is there', failed: 'given up by the replicator', stopped: 'the replication was stopped, its document is gone' }
