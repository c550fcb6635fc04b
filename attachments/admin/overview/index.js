// The overview: what the store holds, how it grows, what is wrong with it and what it does at the moment. Figures come
// from a few requests for all layers together, which never wait for an index; documents from the change feed.
import { element, write } from '../../../client/timeline/dom.js'
import { breathe, soon } from '../../dom.js'
import { date, size } from '../../format.js'
import { texts } from '../words.js'
import { confirm } from '../confirm.js'
import { cards } from './cards.js'
import { disk, diskOf } from './disk.js'
import { figureDefaults, pendingOf, readDesigns, readExpiring, readFigures, readState } from './figures.js'
import { allFindings, ownFindings, reportOf } from './findings.js'
import { bytesADay, learntAt, monthsOf } from './growth.js'
import { layerList, rowsOf } from './layer-list.js'
import { needs } from './needs.js'
import { fromNow } from './part.js'
import { Pictures } from './pictures.js'
import { growth } from './plots.js'
import { running, runningOf } from './running.js'
import { failuresOf, tiles } from './tiles.js'

const words = texts.overview
const pauses = {
  look: 5000, // milliseconds between two looks at what goes on
  soon: 1000, // the same, while an index catches up
  change: 500, // the same, after a change of a layer or an edition
  share: 10, // figures are read again after so many times as long as that takes
  again: 60_000 // milliseconds after which expired tiles are counted again, and design documents read
}
const NEEDED = ['layer', 'edition', 'work'] // kinds of documents, before anything is drawn

/** @type {import('../index.js').Section} */
export const overview = {
  name: 'overview',
  needs: 'admin',
  open: app => new Overview(app)
}

class Overview {
  #app
  #stop = new AbortController()
  #timer
  #isLooking = false
  #isDrawing = false
  #isLate = false
  #draw = soon(() => this.#show())
  /** What was read, and when. @type {Record<string, any>} */
  #seen = { figures: undefined, figuresAt: -Infinity, figuresTook: 0, figuresOf: '', slowAt: -Infinity }
  /** What documents say; made again when they change. @type {Record<string, any>} */
  #made = {}

  /** @param {import('../index.js').App} app */
  constructor (app) {
    this.#app = app
    const act = remedy => this.#act(remedy)
    this.problem = element('p', { class: 'problem', role: 'status' })
    this.index = element('p', { class: 'hint', role: 'status' })
    this.parts = {
      cards: cards(), needs: needs(act), disk: disk(), running: running(act), growth: growth(), tiles: tiles(),
      layers: layerList(new Pictures(app.couch, this.#stop.signal))
    }
    const { parts } = this
    this.content = element('div', { hidden: true }, parts.cards.element, this.index, parts.needs.element,
      element('div', { class: 'pair' }, parts.disk.element, parts.running.element),
      parts.growth.element, parts.tiles.element, parts.layers.element)
    this.waiting = element('p', { class: 'hint' }, words.reading)
    this.element = element('div', { class: 'overview', 'aria-busy': 'true' },
      element('h2', null, texts.sections.overview), this.problem, this.waiting, this.content)
    document.addEventListener('visibilitychange', this.#onVisible)
    this.#look()
  }

  /** @param {Set<string>} kinds */
  update (kinds) {
    for (const kind of kinds) delete this.#made[kind]
    if (kinds.has('layer')) this.#seen.slowAt = -Infinity // a ttl may be another one
    this.#draw()
    if (!this.#seen.expiring && this.#isKnown) this.#lookSoon(0)
    else if (kinds.has('layer') || kinds.has('edition')) this.#lookSoon(pauses.change)
  }

  close () {
    this.#stop.abort()
    clearTimeout(this.#timer)
    document.removeEventListener('visibilitychange', this.#onVisible)
  }

  #onVisible = () => { if (!document.hidden) this.#look() }

  get #isKnown () {
    return NEEDED.every(kind => this.#app.docs.known.has(kind))
  }

  #lookSoon (delay) {
    clearTimeout(this.#timer)
    if (!this.#stop.signal.aborted) this.#timer = setTimeout(() => this.#look(), delay)
  }

  async #look () {
    if (this.#isLooking || document.hidden) return
    this.#isLooking = true
    try {
      await this.#read()
      write(this.problem, { text: '' })
    } catch (error) {
      if (this.#stop.signal.aborted) return
      write(this.problem, { text: words.notRead(error.message) })
      this.#finished()
    } finally {
      this.#isLooking = false
    }
    this.#draw()
    const pending = pendingOf(this.#seen.now?.index)
    const isMissing = !this.#seen.expiring && this.#isKnown
    this.#lookSoon(pending && pending <= figureDefaults.soon || isMissing ? pauses.soon : pauses.look)
  }

  async #read () {
    const { couch, user, docs } = this.#app
    const { signal } = this.#stop
    const seen = this.#seen
    seen.isEmbedded ??= await couch.isEmbedded(signal)
    seen.now = await readState(couch, user, signal)
    const { index } = seen.now
    const isOld = performance.now() - seen.slowAt > pauses.again
    if (isOld) seen.designs = await readDesigns(couch, signal)
    // the figures change with the index
    const state = index ? `${index.signature} ${JSON.stringify(index.update_seq)} ${pendingOf(index)}` : ''
    const isDue = performance.now() - seen.figuresAt > pauses.share * seen.figuresTook
    const isChanged = state !== seen.figuresOf || seen.figures === undefined
    if (isChanged && isDue) {
      const began = performance.now()
      seen.figures = await readFigures(couch, index, signal)
      Object.assign(seen, { figuresOf: state, figuresAt: performance.now(), figuresTook: performance.now() - began })
    }
    if (docs.known.has('layer') && (isOld || !seen.expiring || (isChanged && isDue))) {
      seen.expiring = await readExpiring(couch, docs.all('layer'), couch.now(), signal)
      seen.slowAt = performance.now()
    }
  }

  /** What is shown of documents of a kind, made once. */
  #of (kind, make) {
    return this.#made[kind] ??= make(this.#app.docs.all(kind))
  }

  /** Draws everything, a part at a time. What changes meanwhile is drawn afterwards. */
  async #show () {
    if (this.#isDrawing) {
      this.#isLate = true
      return
    }
    this.#isDrawing = true
    try {
      do {
        this.#isLate = false
        for (const step of this.#steps()) {
          if (this.#stop.signal.aborted) return
          step()
          await breathe()
        }
      } while (this.#isLate)
    } finally {
      this.#isDrawing = false
    }
  }

  * #steps () {
    const { couch, docs, user, security } = this.#app
    const { now: state, figures, expiring, designs, isEmbedded } = this.#seen
    const { parts } = this
    if (!state || !designs || !this.#isKnown) return
    const now = couch.now()
    const { info, index } = state
    const own = isEmbedded ? null : index // the embedded store has it in its own size
    const layers = docs.all('layer')
    /** @type {any} */
    let editions, work, failures
    yield () => {
      editions = this.#of('edition', all =>
        ({ all, ...factsOf(all), months: monthsOf(all, now), aDay: bytesADay(all, now) }))
    }
    yield () => { work = this.#of('work', all => ({ all, running: all.filter(isRunning), report: reportOf(all) })) }
    yield () => {
      const made = this.#made.failures
      const isOfThem = made?.editions === editions && made.work === work // some may have changed since the steps above
      failures = isOfThem ? made.found : failuresOf(editions.all, work.all)
      this.#made.failures = { editions, work, found: failures }
    }
    yield () => {
      parts.cards.set({
        layers: layers.length,
        editions: { number: editions.all.length, newest: editions.newest && date(editions.newest) },
        total: figures?.total,
        disk: { file: info.sizes.file, active: info.sizes.active, index: own?.sizes.file ?? 0 },
        expired: expiring?.expired,
        failed: failures.reduce((sum, { failed }) => sum + failed, 0)
      })
      const pending = pendingOf(index)
      const late = pending && (index.updater_running ? words.building : words.notBuilt)(pending)
      write(this.index, { text: !figures ? words.noIndex : late || '' })
      this.content.hidden = false
      this.waiting.hidden = true
    }
    yield () => {
      const { report, running: open } = work
      const seen = ownFindings({ info, index, designs, security, user, work: open, now, figures }, words.own, size)
      const when = report && fromNow(Date.parse(report.finished ?? report.seen) - now)
      parts.needs.set({ findings: allFindings(seen, report), checked: report ? { when, who: report.user ?? '' } : null })
    }
    yield () => {
      const used = info.sizes.active + (own?.sizes.active ?? 0)
      const ratio = figures?.total.bytes ? used / figures.total.bytes : 1
      parts.disk.set(diskOf(work.all, work.report, editions.aDay * Math.max(1, ratio), now, isEmbedded))
      parts.running.set(runningOf(state))
    }
    yield () => parts.growth.set(editions.months)
    yield () => parts.tiles.set({ expiring, canRefresh: layers.some(({ upstream }) => upstream), failures })
    yield () => {
      parts.layers.set(rowsOf(layers, figures?.layers, editions.last))
      if (expiring !== undefined) this.#finished()
    }
  }

  #finished () {
    write(this.element, { 'aria-busy': null })
  }

  /** Asks, and has CouchDB do it. @param {{name: string, path: string}} remedy */
  async #act ({ name, path }) {
    const { couch, say } = this.#app
    const { ask, text, name: action } = words.needs.actions[name]
    if (!await confirm({ head: ask, content: [element('p', null, text)], action })) return
    try {
      if (name === 'build') await couch.ask(path, { query: { limit: 1, update: 'lazy' } })
      else await couch.ask(path, { method: 'POST', body: {} })
      say(words.needs.asked)
    } catch (error) {
      return say(texts.failed(error.message), true)
    }
    this.#lookSoon(0)
  }
}

const isRunning = ({ state }) => state === 'running'

/** The newest edition of each layer, and when the store learnt of the last one. @param {any[]} editions */
function factsOf (editions) {
  const last = new Map()
  let newest = ''
  for (const edition of editions) {
    const { layer, time } = edition
    if (!(last.get(layer) >= time)) last.set(layer, time)
    const learnt = learntAt(edition)
    if (learnt > newest) newest = learnt
  }
  return { last, newest }
}
