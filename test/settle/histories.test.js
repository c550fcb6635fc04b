// Random histories of a layer on real stores: loads in any order of their times, complete or not, repeated, two at once, killed and
// run again; single writes, removals, corrections for the same time, copies into another layer and back, mirrors both ways,
// retention. A model of a few lines says what every tile shows at every time, and everybody who reads is compared with it.
import assert from 'node:assert/strict'
import path from 'node:path'
import fc from 'fast-check'
import { TilecouchError } from '../../core/index.js'
import { Store, copyLayer, load, mirror, prune, removeEdition, resolve } from '../../loader/index.js'
import { startGateway } from '../../server/gateway/index.js'
import { until } from '../../bench/wait.js'
import { furnish } from '../client/support/designs.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { png } from '../support/tiles.js'
import { Model } from './model.js'
import { PLACES, cheap, dear, gateway, trees } from './readers.js'

const LONG = Boolean(process.env.TILECOUCH_LONG)
const RUNS = +(process.env.TILECOUCH_HISTORIES ?? (LONG ? 200 : 10))
const SEED = +(process.env.TILECOUCH_SEED ?? 16)
const DEAR = LONG ? 3 : 4 // exports, backups and devices are looked at after one of so many histories
const RENEWED = 25 // histories until the stores are made anew

const YEARS = [2019, 2020, 2021, 2022, 2023]
const T = year => `${year}-01-01T00:00:00Z`
const places = fc.constantFrom(...PLACES.map(({ name }) => name))
const image = fc.nat(2)
const full = fc.dictionary(places, image, { minKeys: 1, maxKeys: 5 })
const part = fc.dictionary(places, fc.option(image, { freq: 3 }), { minKeys: 1, maxKeys: 4 })
const which = fc.nat(1)
const kills = fc.option(fc.record({ writes: fc.nat(8), how: fc.constantFrom('refused', 'lost', 'aborted') }), { freq: 2 })
// one time is said once, unless it was taken out before: the year is the next one that is free in a shuffled row
const edition = fc.oneof({ weight: 3, arbitrary: fc.record({ tiles: full, complete: fc.boolean(), kill: kills }) }, { weight: 1, arbitrary: fc.record({ tiles: part, complete: fc.constant(false), kill: kills }) })
const steps = fc.oneof(
  { weight: 8, arbitrary: fc.record({ does: fc.constant('load'), at: which, edition }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('together'), at: which, two: fc.tuple(edition, edition) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('apart'), two: fc.tuple(edition, edition) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('again'), at: which, which: fc.nat(9) }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('write'), at: which, name: places, image: fc.option(image, { freq: 4 }), kill: kills }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('remove'), at: which, which: fc.nat(9), kill: kills }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('mirror'), ways: fc.constantFrom('both', 'there', 'back') }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('copy'), at: which, across: fc.boolean(), kill: kills }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('copy back'), at: which }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('look') }) }, // what readers keep from one look to the next is put to the test
  { weight: 1, arbitrary: fc.record({ does: fc.constant('prune'), at: which, last: fc.integer({ min: 1, max: 3 }) }) }
)
const histories = fc.record({ years: fc.shuffledSubarray(YEARS, { minLength: YEARS.length }), steps: fc.array(steps, { minLength: 3, maxLength: 12, size: 'max' }) })

/** A source of tiles in order. @returns {any} */
const sourceOf = tiles => ({
  name: 'memory', fields: { format: 'png' }, counts: undefined, total: undefined, diff: Object.values(tiles).includes(null),
  async * tiles () {
    for (const { name, z, x, y } of PLACES) {
      if (name in tiles) yield { z, x, y, ...(tiles[name] === null ? { gone: true } : { read: async () => png(tiles[name]) }) }
    }
  },
  async close () {}
})

const isWrite = ({ method, path: asked }) => asked === '_bulk_docs' || method === 'PUT' || method === 'DELETE'

class World {
  #runs = 0
  #layers = 0
  unknown = 0 // differences that the store itself told of

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
    this.copied = `${this.layer}-copy`
    this.models = this.urls.map(() => new Model())
    this.copies = this.urls.map(() => new Model())
    this.loaded = /** @type {any[]} */ ([])
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
      await work(killed).then(() => {}, error => { if (!['ABORTED', 'UNREACHABLE'].includes(error.code)) throw error })
    }
    return work(await this.#open(at))
  }

  /** The layer says from the beginning how far it reaches: single writes do not widen it. @param {Store} store */
  async #define (store) {
    if (!await store.couch.get(`layer:${this.layer}`)) await store.defineLayer(this.layer, { format: 'png', minzoom: 0, maxzoom: 3, bounds: [-180, -85.05, 180, 85.05] })
  }

  async #load (at, { tiles, complete, kill, time }, run) {
    await this.#define(await this.#open(at))
    const summary = await this.#do(at, kill, store => load(store, sourceOf(tiles), { layer: this.layer, time, complete }))
    assert.equal(summary.failed, 0, JSON.stringify(summary.failures))
    this.models[at].say(run, { tiles, complete, time })
  }

  /** @param {string[]} free */
  async play (step, free) {
    const { layer, models } = this
    const run = this.#runs += 2 // two at once are said of different times
    const model = models[step.at]
    if (step.does === 'load' || step.does === 'together') {
      const mine = []
      for (const one of step.does === 'load' ? [step.edition] : step.two) if (free.length) mine.push({ ...one, time: free.shift() })
      await Promise.all(mine.map((one, index) => this.#load(step.at, one, run + index)))
      this.loaded.push(...mine.map(one => ({ ...one, kill: null })))
    } else if (step.does === 'apart') {
      // two that have not heard of each other say one time: the later one counts
      const time = free.shift()
      if (time) for (const [at, one] of step.two.entries()) await this.#load(at, { ...one, time }, run + at)
    } else if (step.does === 'again') {
      const again = this.loaded.filter(({ time }) => model.standing.some(one => one.time === time))
      if (again.length) await this.#load(step.at, again[step.which % again.length], run)
    } else if (step.does === 'write') {
      const time = free.shift()
      if (!time) return
      const [z, x, y] = step.name.split('/').map(Number)
      await this.#define(await this.#open(step.at))
      const { failed } = await this.#do(step.at, step.kill, store => store.write([{ layer, z, x, y, time, ...(step.image === null ? { gone: true } : { bytes: png(step.image) }) }]))
      assert.equal(failed, 0)
      model.say(run, { time, tiles: { [step.name]: step.image } })
    } else if (step.does === 'remove') {
      const times = [...new Set(model.standing.map(({ time }) => time))].filter(time => time > model.since)
      if (!times.length) return
      const time = times[step.which % times.length]
      await this.#do(step.at, step.kill, store => removeEdition(store, layer, time))
      model.remove(run, time)
      this.loaded = this.loaded.filter(one => one.time !== time)
      // it is free where the removal is known: everywhere, from now on
      if (models.every(other => other === model || !other.said.size)) free.push(time)
      else await this.#mirror('both').then(() => { free.push(time) })
    } else if (step.does === 'look') await this.check()
    else if (step.does === 'mirror') await this.#mirror(step.ways)
    else if (step.does === 'copy') {
      if (!model.said.size) return
      const to = step.across ? 1 - step.at : step.at
      const source = await this.#open(step.at)
      await this.#do(to, step.kill, target => copyLayer(target, layer, this.copied, { source }))
      this.copies[to].hear(model.copy)
    } else if (step.does === 'copy back') {
      const store = await this.#open(step.at)
      if (!this.copies[step.at].said.size || !model.said.size) return
      await copyLayer(store, this.copied, layer)
      model.hear(this.copies[step.at].copy)
    } else if (step.does === 'prune') {
      if (!model.standing.length) return
      const store = await this.#open(step.at)
      const { moments: { listed: told } } = await prune(store, layer, { policy: { last: step.last }, compact: 'never' })
      const kept = told.filter(({ by }) => by.length).map(({ time }) => time).sort()
      if (kept.length && kept[0] > model.since) model.since = kept[0]
    }
  }

  async #mirror (ways) {
    const layers = [this.layer]
    const [a, b] = this.models
    for (const [from, to] of ways === 'there' ? [[0, 1]] : ways === 'back' ? [[1, 0]] : [[0, 1], [1, 0]]) {
      if (!this.models[from].said.size) continue
      await mirror(this.urls[from], this.urls[to], { layers })
      await resolve(await this.#open(to), { layers })
      this.models[to].hear(this.models[from])
    }
    if (ways !== 'both' || !a.said.size || !b.said.size) return
    await mirror(this.urls[0], this.urls[1], { layers })
    await resolve(await this.#open(1), { layers })
  }

  /** What cannot be: one master took out the last bytes while the other confirmed them. It is told, with the edition to load again. */
  async #isUnknown (store, layer, tile, time = '~') {
    const { named } = await resolve(store, { layers: [layer], dryRun: true })
    const isTold = named.some(({ what, id, reason }) => what === 'unknown' && id === `${layer}:${tile.replaceAll('/', ':')}` && time >= (/@(\S+) has/.exec(reason)?.[1] ?? ''))
    if (isTold) this.unknown++
    return isTold
  }

  async check () {
    for (const [at, url] of this.urls.entries()) {
      for (const [layer, model] of /** @type {[string, Model][]} */ ([[this.layer, this.models[at]], [this.copied, this.copies[at]]])) {
        if (!model.said.size) continue
        const isCopy = layer === this.copied
        const times = [undefined, ...YEARS.map(T), '2021-07-01T00:00:00Z', T(2030)].filter(time => time === undefined || time >= model.since)
        const scene = { url, store: await this.#open(at), layer, dir: path.join(this.dir, `${layer}-${at}`), gateway: this.gateways[at], database: this.database }
        const compare = async (name, time, shown) => {
          const [expected, found] = [{}, {}]
          for (const { name: tile } of PLACES) {
            const seed = model.shown(tile, time)
            const bytes = shown.get(tile)
            const seen = bytes ? [0, 1, 2].find(one => png(one).equals(bytes)) ?? 'something else' : null
            if (seen === seed || await this.#isUnknown(scene.store, layer, tile, time)) continue
            expected[tile] = seed
            found[tile] = seen
          }
          assert.deepEqual(found, expected, `${name}, store ${at}, ${isCopy ? 'the copy' : 'the layer'} ${time ? `as of ${time}` : 'now'}`)
        }
        const compareAll = async (name, all, those) => {
          for (const [index, shown] of all.entries()) await compare(name, those[index], shown)
        }
        const readers = isCopy ? { 'store.at and store.head': cheap['store.at and store.head'] } : cheap
        for (const [name, read] of Object.entries(readers)) await compareAll(name, await read(scene, times), times)
        if (isCopy) continue
        for (const [name, read] of Object.entries(gateway)) {
          let error
          const agrees = async () => {
            try {
              await compareAll(name, await read(scene, times), times)
              return true
            } catch (met) {
              error = met
            }
          }
          await until(agrees, { every: 50, timeout: 3000 }).catch(() => { throw error })
        }
        if (!this.isDear) continue
        const few = [undefined, ...times.slice(2, 5).filter((_, index) => index % 2)]
        for (const [name, read] of Object.entries(dear)) await compareAll(name, await read(scene, few), few)
        for (const { time, shown } of await trees(scene)) if (!time || time >= model.since) await compare('a tree of files', time, shown)
      }
    }
  }
}

onEachStore(`histories of a layer (${RUNS}, seed ${SEED})`, backend => {
  const folder = useFolder()
  const opened = /** @type {{stores: Store[], gateways: any[]}} */ ({ stores: [], gateways: [] })
  const close = async () => {
    for (const one of opened.gateways.splice(0)) await one.close()
    for (const store of opened.stores.splice(0)) await store.destroy()
  }
  afterEach(close)

  async function newWorld () {
    await close()
    const urls = [await backend.database(), await backend.database()]
    for (const url of urls) {
      const store = await Store.create(url)
      opened.stores.push(store)
      await furnish(store)
      opened.gateways.push(await startGateway({ db: url, port: 0, viewer: false, logLevel: 'silent' }))
    }
    return new World(urls, opened.gateways.map(({ url }) => url), folder.dir, () => backend.database())
  }

  it('is shown by everybody as it was said', async function () {
    this.timeout(60000 + RUNS * 20000)
    this.slow(60000)
    let world
    let played = 0
    await fc.assert(fc.asyncProperty(histories, async ({ years, steps: all }) => {
      if (played % RENEWED === 0) world = await newWorld()
      world.begin(played++ % DEAR === 0)
      const free = years.map(T)
      for (const step of all) await world.play(step, free)
      await world.check()
    }), { seed: SEED, numRuns: RUNS, path: process.env.TILECOUCH_PATH, endOnFailure: Boolean(process.env.TILECOUCH_NO_SHRINK) })
  })
})
