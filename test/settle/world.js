// Two stores that play a random history of a layer, and a model of each store. histories.test.js uses it.
import assert from 'node:assert/strict'
import path from 'node:path'
import { TilecouchError, layerId, parseArea, parseDocumentId } from '../../core/index.js'
import { Store, check, copyLayer, expire, load, mirror, moveLayer,
  prune, removeEdition, removeLayer, resolve } from '../../loader/index.js'
import { json } from '../support/backends.js'
import { memorySource } from '../support/memory-source.js'
import { png, yearStart } from '../support/tiles.js'
import { compareDear, compareReaders, compareStore, expectSound } from './comparison.js'
import { Model } from './model.js'
import { PLACES } from './readers.js'

export const YEARS = [2019, 2020, 2021, 2022, 2023]

/** Parts of the map: how a mirror selects them, and which tiles belong to them. */
export const PARTS = {
  west: {
    selection: { area: parseArea({ bbox: [-170, -80, -10, 80] }) },
    has: tile => tile === '0/0/0' || +tile.split('/')[1] < 4
  },
  deep: { selection: { zooms: { min: 3, max: 3 } }, has: tile => tile !== '0/0/0' }
}

/** The styles of the tests. */
const STYLES =
  ['one', 'two'].map(name => ({ style: { version: 8, name, sources: {}, layers: [] }, digest: name }))

const sourceOf = tiles => ({ ...memorySource(tiles), fields: { format: 'png' } })

/** Whether an id is of a tile, block, edition, manifest or removal. @param {string} id @param {string} layer */
const isOfMap = (id, layer) => {
  const { kind, layer: idLayer } = parseDocumentId(id) ?? {}
  return id.startsWith(`${layer}:`) || id.startsWith('block:') || (idLayer === layer && kind !== 'style')
}

const isWrite = ({ method, path: endpoint }) => endpoint === '_bulk_docs' || method === 'PUT' || method === 'DELETE'
const isKilled = ({ code }) => ['ABORTED', 'UNREACHABLE'].includes(code)

export class World {
  #runs = 0
  #layers = 0

  /** @param {string[]} urls @param {string[]} gateways @param {string} dir @param {() => Promise<string>} database */
  constructor (urls, gateways, dir, database) {
    this.urls = urls
    this.gateways = gateways
    this.dir = dir
    this.database = database
  }

  /** @param {boolean} isDear whether exports, backups and devices are compared too */
  begin (isDear) {
    this.isDear = isDear
    this.layer = `osm${this.#layers++}`
    this.copied = this.urls.map(() => `${this.layer}-copy`)
    this.models = this.urls.map(() => new Model())
    this.copies = this.urls.map(() => new Model())
    this.styles = this.urls.map(() => /** @type {Record<string, number>} */ ({}))
    this.loaded = /** @type {any[]} */ ([])
    this.yearsOfStyles = YEARS.map(yearStart)
  }

  /** @param {number} storeIndex 0 or 1 @param {any} [kill] @returns {Promise<Store>} */
  async #open (storeIndex, kill) {
    const store = await Store.open(this.urls[storeIndex], { retries: kill ? 0 : 3 })
    if (!kill) return store
    const { couch } = store
    const request = couch.request.bind(couch)
    let { writes } = kill
    couch.request = async options => {
      if (!isWrite(options) || writes-- > 0) return request(options)
      if (kill.how === 'lost') await request(options)
      throw new TilecouchError(kill.how === 'aborted' ? 'ABORTED' : 'UNREACHABLE', { url: couch.url, why: 'killed' })
    }
    return store
  }

  /** Does some work on a store. With `kill`, the work is killed first and then done again. */
  async #do (storeIndex, kill, work) {
    if (kill) {
      const killed = await this.#open(storeIndex, kill)
      await work(killed).then(() => {}, error => { if (!isKilled(error)) throw error })
    }
    return work(await this.#open(storeIndex))
  }

  /** Defines a layer with its zooms and bounds, since single writes do not extend these. @param {Store} store */
  async #define (store, layer = this.layer) {
    if (await store.couch.get(layerId(layer))) return
    await store.defineLayer(layer, { format: 'png', minzoom: 0, maxzoom: 3, bounds: [-180, -85.05, 180, 85.05] })
  }

  async #load (storeIndex, { tiles, complete, kill, time }, run) {
    await this.#define(await this.#open(storeIndex))
    const summary =
      await this.#do(storeIndex, kill, store => load(store, sourceOf(tiles), { layer: this.layer, time, complete }))
    assert.equal(summary.failed, 0, JSON.stringify(summary.failures))
    this.models[storeIndex].say(run, { tiles, complete, time })
  }

  /** @param {any} step @param {string[]} free times without statements */
  async play (step, free) {
    const run = this.#runs += 2 // a step may have two loads, each with its own run
    await this[`_${step.does}`](step, { free, run, model: this.models[step.at] })
  }

  async _load (step, { free, run }) {
    if (free.length) await this.#loadAll(step.at, [{ ...step.edition, time: free.shift() }], run)
  }

  async _together (step, { free, run }) {
    const editions = step.two.filter((_, index) => index < free.length)
      .map(edition => ({ ...edition, time: free.shift() }))
    await this.#loadAll(step.at, editions, run)
  }

  async #loadAll (storeIndex, editions, run) {
    await Promise.all(editions.map((edition, index) => this.#load(storeIndex, edition, run + index)))
    this.loaded.push(...editions.map(edition => ({ ...edition, kill: null })))
  }

  /** Each store loads an edition for the same time without knowing the other one: the later run counts. */
  async _apart (step, { free, run }) {
    const time = free.shift()
    if (time) for (const [index, edition] of step.two.entries()) {
      await this.#load(index, { ...edition, time }, run + index)
    }
  }

  async _again (step, { run, model }) {
    const repeatable = this.loaded.filter(({ time }) => model.standing.some(statements => statements.time === time))
    if (repeatable.length) await this.#load(step.at, repeatable[step.which % repeatable.length], run)
  }

  async _write ({ at, name, image, kill, expires }, { free, run, model }) {
    const time = free.shift()
    if (!time) return
    const [z, x, y] = name.split('/').map(Number)
    await this.#define(await this.#open(at))
    const version =
      { layer: this.layer, z, x, y, time, ...(expires && { expires: `${time.slice(0, 4)}-06-01T00:00:00Z` }) }
    const content = image === null ? { gone: true } : { bytes: png(image) }
    const { failed } = await this.#do(at, kill, store => store.write([{ ...version, ...content }]))
    assert.equal(failed, 0)
    model.say(run, { time, isSingle: true, tiles: { [name]: image } })
  }

  async _remove ({ at, which, kill }, { free, run, model }) {
    const times = [...new Set(model.standing.map(({ time }) => time))].filter(time => time > model.since)
    if (!times.length) return
    const time = times[which % times.length]
    await this.#do(at, kill, store => removeEdition(store, this.layer, time))
    model.remove(run, { time })
    this.loaded = this.loaded.filter(edition => edition.time !== time)
    // a removed time is free on stores that have the removal: mirror it to all of them
    if (!this.models.every(other => other === model || !other.said.size)) await this._mirror({ ways: 'both' })
    free.push(time)
  }

  _look () { return this.check() }

  async _mirror ({ ways }) {
    const [a, b] = this.models
    const directions = { there: [[0, 1]], back: [[1, 0]], both: [[0, 1], [1, 0]] }[ways]
    for (const [from, to] of directions) await this.#mirrorWhole(from, to)
    if (ways === 'both' && a.said.size && b.said.size) await this.#mirrorWhole(0, 1)
  }

  async #mirrorWhole (from, to) {
    if (!this.models[from].said.size) return
    const layers = [this.layer]
    await mirror(this.urls[from], this.urls[to], { layers })
    await resolve(await this.#open(to), { layers })
    this.models[to].hear(this.models[from])
    this.styles[to] = { ...this.styles[from], ...this.styles[to] }
    if (!this.models[from].isOpen) this.models[to].isOpen = false
  }

  /** Mirrors a part and settles it. */
  async _part ({ at: from, name }) {
    if (!this.models[from].said.size) return
    const to = 1 - from
    const { selection, has } = PARTS[name]
    const layers = [this.layer]
    await mirror(this.urls[from], this.urls[to], { layers, ...selection })
    await resolve(await this.#open(to), { layers })
    this.models[to].hear(this.models[from], has)
    if (this.models[from].isOpen) this.models[to].isOpen = true
    this.styles[to] = { ...this.styles[from], ...this.styles[to] }
  }

  /** A replicator that is stopped: only some documents arrive, and are settled. */
  async _pieces ({ at: from, every }) {
    if (!this.models[from].said.size) return
    const to = 1 - from
    const [source, target] = [await this.#open(from), await this.#open(to)]
    const { rows } = await json(`${this.urls[from]}/_all_docs`)
    const ids = rows.map(({ id }) => id)
      .filter((id, index) => isOfMap(id, this.layer) && (index * 7 + every) % 3 < every)
    const bulkGetPath = '_bulk_get?revs=true&attachments=true'
    const { results } =
      await source.couch.request({ method: 'POST', path: bulkGetPath, body: { docs: ids.map(id => ({ id })) } })
    const docs = results.flatMap(result => result.docs).map(({ ok }) => ok).filter(Boolean)
    await target.couch.request({ method: 'POST', path: '_bulk_docs', body: { docs, new_edits: false } })
    await resolve(target, { layers: [this.layer] })
    this.models[to].isOpen = true
  }

  /** Another database mirrors a part, and then the whole. */
  async _edge ({ at: from, name }) {
    const model = this.models[from]
    if (!model.said.size || !model.isWhole) return
    const url = await this.database()
    const layers = [this.layer]
    const { selection, has } = PARTS[name]
    const edge = new Model()
    try {
      for (const part of [selection, {}]) {
        await mirror(this.urls[from], url, { layers, ...part })
        const store = await Store.open(url)
        await resolve(store, { layers })
        edge.hear(model, part === selection ? has : undefined)
        edge.since = model.since
        const what = `an edge with ${part === selection ? name : 'all'}`
        const scene = {
          url, store, layer: this.layer, dir: this.dir, database: this.database,
          model: edge, what, times: timesOf(edge), isPart: true
        }
        await compareStore(scene)
        await expectSound(scene)
      }
    } finally {
      await (await Store.open(url)).destroy()
    }
  }

  async _copy ({ at, across, kill }) {
    const model = this.models[at]
    if (!model.said.size || !model.isWhole) return
    const to = across ? 1 - at : at
    const source = await this.#open(at)
    await this.#do(to, kill, target => copyLayer(target, this.layer, this.copied[to], { source }))
    this.copies[to].hear(model.copy)
  }

  async _copyBack ({ at }, { model }) {
    if (!this.copies[at].said.size || !model.said.size || !model.isWhole) return
    await copyLayer(await this.#open(at), this.copied[at], this.layer)
    model.hear(this.copies[at].copy)
  }

  /** Moves the copy to another name while an edition is loaded into it. */
  async _move ({ at, edition, kill }, { free, run }) {
    const copy = this.copies[at]
    const time = free[0]
    if (!copy.said.size || !time) return
    free.shift()
    const from = this.copied[at]
    const to = from.endsWith('-copy') ? from.replace(/copy$/, 'moved') : from.replace(/moved$/, 'copy')
    const { tiles, complete } = edition
    const loadEdition = async () => load(await this.#open(at), sourceOf(tiles), { layer: from, time, complete })
    const move = store => moveLayer(store, from, to)
      .catch(error => { if (error.code !== 'LAYER_NOT_FOUND') throw error })
    const [summary] = await Promise.all([loadEdition(), this.#do(at, kill, move)])
    assert.equal(summary.failed, 0, JSON.stringify(summary.failures))
    const store = await this.#open(at)
    await move(store)
    if (await store.couch.get(layerId(from))) { // the load came after the move and created the layer again
      await copyLayer(store, from, to)
      await removeLayer(store, from)
    }
    copy.say(run, { tiles, complete, time })
    this.copied[at] = to
  }

  async _prune ({ at, last }, { model }) {
    if (!model.standing.length) return
    const store = await this.#open(at)
    const { moments: { listed } } = await prune(store, this.layer, { policy: { last }, compact: 'never' })
    const keptTimes = listed.filter(({ by }) => by.length).map(({ time }) => time).sort()
    if (keptTimes.length && keptTimes[0] > model.since) model.since = keptTimes[0]
  }

  /** Removes tiles whose head has expired, with their past. */
  async _expire ({ at, kill }, { run, model }) {
    if (!model.said.size) return
    const store = await this.#open(at)
    const heads =
      await Promise.all(PLACES.map(({ name }) => store.couch.get(`${this.layer}:${name.replaceAll('/', ':')}`)))
    const expired = PLACES.filter((_, index) => heads[index]?.expires && !heads[index].gone)
    await this.#do(at, kill, openStore => expire(openStore, { layers: [this.layer], action: 'remove', withPast: true }))
    for (const { name } of expired) model.remove(run, { tile: name })
  }

  async _style ({ at, which }) {
    const time = this.yearsOfStyles.pop()
    if (!time) return
    const store = await this.#open(at)
    await this.#define(store)
    await store.putStyle(this.layer, { time, ...STYLES[which] })
    this.styles[at][time] = which
  }

  /** Repairs every fault that `check` can repair. The tiles must not change. */
  async _fix ({ at }) {
    const model = this.models[at]
    if (!model.said.size) return
    const store = await this.#open(at)
    await check(store, { layers: [this.layer], fix: true })
  }

  /** Compares the style of the layer at each time with the expected one. */
  async #compareStyles (store, storeIndex) {
    const styles = this.styles[storeIndex]
    for (const time of YEARS.map(yearStart)) {
      const newest = Object.keys(styles).filter(styleTime => styleTime <= time).sort().at(-1)
      const expected = newest && STYLES[styles[newest]].digest
      assert.equal((await store.style(this.layer, time))?.digest, expected,
        `style of ${this.layer} as of ${time}, store ${storeIndex}`)
    }
  }

  async check () {
    for (const [index, url] of this.urls.entries()) {
      const store = await this.#open(index)
      const dir = path.join(this.dir, `${this.layer}-${index}`)
      const place = { url, store, dir, gateway: this.gateways[index], database: this.database, what: `store ${index}` }
      const copy = this.copies[index]
      if (copy.said.size) await compareStore({ ...place, layer: this.copied[index], model: copy, times: timesOf(copy) })
      const model = this.models[index]
      if (!model.said.size) continue
      const scene = { ...place, layer: this.layer, model, times: timesOf(model) }
      await compareStore(scene)
      await this.#compareStyles(store, index)
      await compareReaders(scene)
      if (!model.isOpen) await expectSound({ ...scene, isBehind: model.isBehind(PLACES.map(({ name }) => name)) })
      if (this.isDear && model.isWhole) await compareDear(scene)
    }
  }
}

/** Now (undefined), and the times since the last prune. @param {Model} model */
function timesOf ({ since }) {
  const times = [undefined, ...YEARS.map(yearStart), '2021-07-01T00:00:00Z', yearStart(2030)]
  return times.filter(time => time === undefined || time >= since)
}
