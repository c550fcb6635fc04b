// Who follows whom: mirrors and edges of this store, and the replications of CouchDB.
import { element, write } from '../../../client/timeline/dom.js'
import { soon } from '../../dom.js'
import { count, time } from '../../format.js'
import { texts } from '../../words/admin/index.js'
import { table } from '../table.js'
import { offerAgain } from '../work/again.js'
import { span, speed } from '../work/spans.js'
import { mirrorForm } from './form.js'
import { CLASSES, picture } from './picture.js'
import { readMirrors } from './read.js'
import { fromCheckpoints, fromScheduler, fromWork } from './sources.js'

const words = texts.mirrors
const { columns } = words
const LOOK = 5000 // milliseconds between two looks at what no change tells
const BADGES = { good: 'good', late: 'warn', bad: 'bad' }
const ROWS = 100 // of the table at once: the picture has as many arrows
const ORDER = ['failed', 'interrupted', 'waiting', 'behind', 'unknown', 'copying', 'live', 'complete', 'stopped']

/** @type {import('../index.js').Section} */
export const mirrors = {
  name: 'mirrors',
  needs: 'admin',
  open: app => new Mirrors(app)
}

class Mirrors {
  #app
  #stop = new AbortController()
  #timer
  #known = {}
  #seen = /** @type {Awaited<ReturnType<typeof readMirrors>> | undefined} */ (undefined)
  #isLooking = false
  #written = ''
  #draw = soon(() => this.#show())

  /** @param {import('../index.js').App} app */
  constructor (app) {
    this.#app = app
    const again = offerAgain(app)
    this.problem = element('p', { class: 'problem', role: 'status' })
    this.summary = element('p', { class: 'hint', role: 'status' })
    this.hidden = element('p', { class: 'hint', hidden: true }, words.hidden)
    this.picture = picture()
    this.table = table(words.table, [
      { label: columns.other, isHead: true, cell: ({ role, other }) => [element('small', { class: 'line' }, words.roles[role]), other] },
      { label: columns.state, cell: row => state(row, again) },
      { label: columns.lag, isNumber: true, cell: ({ lag, pending }) => [lag === undefined ? words.unknown : span(lag * 1000), pending > 0 && element('small', { class: 'line' }, words.pending(pending))] },
      { label: columns.rate, isNumber: true, cell: ({ rate }) => rate === undefined ? words.unknown : speed(rate) },
      { label: columns.copied, isNumber: true, cell: ({ copied }) => number(copied) },
      { label: columns.refused, isNumber: true, cell: ({ refused }) => number(refused) },
      { label: columns.failed, isNumber: true, cell: ({ failed }) => number(failed) },
      { label: columns.success, cell: ({ success }) => success ? time(success) : words.unknown },
      { label: columns.part, cell: ({ selection, by }) => [words.by[by], element('small', { class: 'line' }, partOf(selection))] },
      { label: columns.host, cell: ({ host }) => host ?? '' }
    ], { most: ROWS })
    this.form = mirrorForm(app)
    this.element = element('div', { class: 'mirrors', 'aria-busy': 'true' },
      element('h2', null, texts.sections.mirrors), this.problem,
      element('section', { class: 'card' }, element('h3', null, words.head), this.summary, this.picture.element, this.hidden),
      element('section', { class: 'card' }, element('h3', null, words.table), this.table.element),
      this.form.element)
    this.#look()
  }

  /** @param {Set<string>} kinds */
  update (kinds) {
    if (kinds.has('layer')) this.form.update()
    if (kinds.has('work')) this.#draw()
  }

  close () {
    this.#stop.abort()
    clearTimeout(this.#timer)
  }

  async #look () {
    if (this.#isLooking) return
    this.#isLooking = true
    const { signal } = this.#stop
    try {
      if (!document.hidden || !this.#seen) this.#seen = await readMirrors(this.#app, this.#known, signal)
      write(this.problem, { text: '' })
    } catch (error) {
      if (signal.aborted) return
      write(this.problem, { text: texts.failed(error.message) })
    } finally {
      this.#isLooking = false
    }
    this.#draw()
    if (!signal.aborted) this.#timer = setTimeout(() => this.#look(), LOOK)
  }

  #show () {
    const { docs, couch } = this.#app
    if (!docs.known.has('work')) return
    const now = couch.now()
    const seen = this.#seen
    const all = new Map(seen ? fromScheduler(seen.scheduler, seen.isHere, now) : [])
    for (const [key, mirror] of seen ? fromCheckpoints(seen.checkpoints, seen, now) : []) all.set(key, mirror)
    for (const [key, mirror] of fromWork(docs.all('work'), now)) all.set(key, mirror) // it knows most
    const rows = [...all.values()].sort((a, b) =>
      ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || (a.other < b.other ? -1 : a.other > b.other ? 1 : 0))
    const written = JSON.stringify(rows.map(row => ({ ...row, lag: row.lag && span(row.lag * 1000) })))
    this.hidden.hidden = !seen?.isHidden
    if (seen) write(this.element, { 'aria-busy': null })
    if (written === this.#written) return
    this.#written = written
    const bad = rows.filter(row => CLASSES[row.state] === 'bad').length
    write(this.summary, { text: rows.length ? words.count(rows.length) + (bad ? ` ${words.bad(bad)}` : '') : words.none })
    this.picture.element.hidden = rows.length === 0
    if (rows.length) this.picture.set(rows, words.here)
    this.table.set(rows, words.none)
  }
}

const number = value => value === undefined ? words.unknown : count(value)

function state ({ state: name, error, work }, again) {
  const isOver = ['interrupted', 'failed', 'stopped'].includes(name)
  return [
    element('span', { class: `state ${BADGES[CLASSES[name]] ?? ''}` }, words.states[name]),
    error && name !== 'live' && element('p', { class: 'hint' }, error),
    isOver && work && again(work, line => element('details', null, element('summary', null, texts.work.goOn), line))
  ]
}

function partOf (selection) {
  if (!selection) return ''
  const { layers, bbox, zooms, current, since } = selection
  return [
    layers?.length && layers.join(', '),
    bbox && bbox.join(', '),
    zooms && `z${zooms.min}–${zooms.max}`,
    current && words.parts.current,
    since && words.parts.since(since)
  ].filter(Boolean).join(' · ') || words.parts.all
}
