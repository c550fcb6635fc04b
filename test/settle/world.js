// Two stores that play a random history of a layer, and a model of what each of them shows (histories.test.js).
import assert from 'node:assert/strict'
import path from 'node:path'
import { TilecouchError, layerId, parseArea, parseDocumentId } from '../../core/index.js'
import { Store, check, copyLayer, expire, load, mirror, moveLayer,
  prune, removeEdition, removeLayer, resolve } from '../../loader/index.js'
import { json } from '../support/backends.js'
import { memorySource } from '../support/memory-source.js'
import { png } from '../support/tiles.js'
import { compareDear, compareReaders, compareStore, expectSound } from './comparison.js'
import { Model } from './model.js'
import { PLACES } from './readers.js'

export const YEARS = [2019, 2020, 2021, 2022, 2023]
export const T = year => `${year}-01-01T00:00:00Z`

/** Parts of the map that are mirrored: how a mirror selects them, and which tiles belong to them. */
export const PARTS = {
  west: {
    selection: { area: parseArea({ bbox: [-170, -80, -10, 80] }) },
    has: tile => tile === '0/0/0' || +tile.split('/')[1] < 4
  },
  deep: { selection: { zooms: { min: 3, max: 3 } }, has: tile => tile !== '0/0/0' }
}

/** Styles that a layer may have. */
const STYLES =
  ['one', 'two'].map(name => ({ style: { version: 8, name, sources: {}, layers: [] }, digest: name }))

/** A source of tiles. */
const sourceOf = tiles => ({ ...memorySource(tiles), fields: { format: 'png' } })

/** Tiles of a layer, and what editions and removals say of them. @param {string} id @param {string} layer */
const isOfMap = (id, layer) => {
  const { kind, layer: own } = parseDocumentId(id) ?? {}
  return id.startsWith(`${layer}:`) || id.startsWith('block:') || (own === layer && kind !== 'style')
}

const isWrite = ({ method, path: asked }) => asked === '_bulk_docs' || method === 'PUT' || method === 'DELETE'
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

  /** @param {boolean} isDear whether exports, backups and devices are looked at, too */
  begin (isDear) {
    this.isDear = isDear
    this.layer = `osm${this.#layers++}`
    this.copied = this.urls.map(() => `${this.layer}-copy`)
    this.models = this.urls.map(() => new Model())
    this.copies = this.urls.map(() => new Model())
    this.styles = this.urls.map(() => /** @type {Record<string, number>} */ ({}))
    this.loaded = /** @type {any[]} */ ([])
    this.yearsOfStyles = YEARS.map(T)
  }

  /** @param {number} at @param {any} [kill] @returns {Promise<Store>} */
  async #open (at, kill) {
    const store = await Store.open(this.urls[at], { retries: kill ? 0 : 3 })
    if (!kill) return store
    const { couch } = store
    const request = couch.request.bind(couch)
    let { writes } = kill
    couch.request = async asked => {
      if (!isWrite(asked) || writes-- > 0) return request(asked)
      if (kill.how === 'lost') await request(asked)
      throw new TilecouchError(kill.how === 'aborted' ? 'ABORTED' : 'UNREACHABLE', { url: couch.url, why: 'killed' })
    }
    return store
  }

  /** Does it, or is killed and does it again. */
  async #do (at, kill, work) {
    if (kill) {
      const killed = await this.#open(at, kill)
      await work(killed).then(() => {}, error => { if (!isKilled(error)) throw error })
    }
    return work(await this.#open(at))
  }

  /** The layer says from the beginning how far it reaches: single writes do not widen it. @param {Store} store */
  async #define (store, layer = this.layer) {
    if (await store.couch.get(layerId(layer))) return
    await store.defineLayer(layer, { format: 'png', minzoom: 0, maxzoom: 3, bounds: [-180, -85.05, 180, 85.05] })
  }

  async #load (at, { tiles, complete, kill, time }, run) {
    await this.#define(await this.#open(at))
    const summary =
      await this.#do(at, kill, store => load(store, sourceOf(tiles), { layer: this.layer, time, complete }))
    assert.equal(summary.failed, 0, JSON.stringify(summary.failures))
    this.models[at].say(run, { tiles, complete, time })
  }

  /** @param {any} step @param {string[]} free times of which nothing is said */
  async play (step, free) {
    const run = this.#runs += 2 // two at once are said of different times
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

  async #loadAll (at, editions, run) {
    await Promise.all(editions.map((edition, index) => this.#load(at, edition, run + index)))
    this.loaded.push(...editions.map(edition => ({ ...edition, kill: null })))
  }

  /** Two that have not heard of each other say one time: the later one counts. */
  async _apart (step, { free, run }) {
    const time = free.shift()
    if (time) for (const [at, edition] of step.two.entries()) await this.#load(at, { ...edition, time }, run + at)
  }

  async _again (step, { run, model }) {
    const again = this.loaded.filter(({ time }) => model.standing.some(statements => statements.time === time))
    if (again.length) await this.#load(step.at, again[step.which % again.length], run)
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
    // it is free where the removal is known: everywhere, from now on
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

  /** A part is mirrored, and what came is settled. */
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

  /** A replicator that is stopped: some documents came, in any order, and somebody settles them. */
  async _pieces ({ at: from, every }) {
    if (!this.models[from].said.size) return
    const to = 1 - from
    const [source, target] = [await this.#open(from), await this.#open(to)]
    const { rows } = await json(`${this.urls[from]}/_all_docs`)
    const ids = rows.map(({ id }) => id)
      .filter((id, index) => isOfMap(id, this.layer) && (index * 7 + every) % 3 < every)
    const asked = '_bulk_get?revs=true&attachments=true'
    const { results } =
      await source.couch.request({ method: 'POST', path: asked, body: { docs: ids.map(id => ({ id })) } })
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

  /** The copy gets another name, while an edition is loaded into it. */
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
    if (await store.couch.get(layerId(from))) { // the load came after the move: it is a layer of its own
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
    const kept = listed.filter(({ by }) => by.length).map(({ time }) => time).sort()
    if (kept.length && kept[0] > model.since) model.since = kept[0]
  }

  /** Tiles whose head has expired are removed with their past. */
  async _expire ({ at, kill }, { run, model }) {
    if (!model.said.size) return
    const store = await this.#open(at)
    const heads =
      await Promise.all(PLACES.map(({ name }) => store.couch.get(`${this.layer}:${name.replaceAll('/', ':')}`)))
    const expired = PLACES.filter((_, index) => heads[index]?.expires && !heads[index].gone)
    await this.#do(at, kill, one => expire(one, { layers: [this.layer], action: 'remove', withPast: true }))
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

  /** Everything that `check` can repair is repaired: nothing may change. */
  async _fix ({ at }) {
    const model = this.models[at]
    if (!model.said.size) return
    const store = await this.#open(at)
    await check(store, { layers: [this.layer], fix: true })
  }

  /** What every style shows. */
  async #compareStyles (store, at) {
    const styles = this.styles[at]
    for (const time of YEARS.map(T)) {
      const newest = Object.keys(styles).filter(styleTime => styleTime <= time).sort().at(-1)
      const expected = newest && STYLES[styles[newest]].digest
      assert.equal((await store.style(this.layer, time))?.digest, expected,
        `style of ${this.layer} as of ${time}, store ${at}`)
    }
  }

  async check () {
    for (const [at, url] of this.urls.entries()) {
      const store = await this.#open(at)
      const dir = path.join(this.dir, `${this.layer}-${at}`)
      const place = { url, store, dir, gateway: this.gateways[at], database: this.database, what: `store ${at}` }
      const copy = this.copies[at]
      if (copy.said.size) await compareStore({ ...place, layer: this.copied[at], model: copy, times: timesOf(copy) })
      const model = this.models[at]
      if (!model.said.size) continue
      const scene = { ...place, layer: this.layer, model, times: timesOf(model) }
      await compareStore(scene)
      await this.#compareStyles(store, at)
      await compareReaders(scene)
      if (!model.isOpen) await expectSound({ ...scene, isBehind: model.isBehind(PLACES.map(({ name }) => name)) })
      if (this.isDear && model.isWhole) await compareDear(scene)
    }
  }
}

/** Now, and times at which a store may be asked. @param {Model} model */
function timesOf ({ since }) {
  const times = [undefined, ...YEARS.map(T), '2021-07-01T00:00:00Z', T(2030)]
  return times.filter(time => time === undefined || time >= since)
}
