// A store and its mirror, with operations that may be killed in the middle, and the model of both.
import assert from 'node:assert/strict'
import { TilecouchError, fromSeconds, toSeconds } from '../../core/index.js'
import { Store, expire, mirror, prune, removeEdition, removeTiles, resolve } from '../../loader/index.js'
import { digestOf } from '../../loader/store/tile.js'
import { differences } from '../mirror/compare.js'
import { checkInvariants } from '../support/invariants.js'
import { png } from '../support/tiles.js'
import { Model } from './model.js'
import { publishFunctions } from '../support/published.js'

export const LAYER = 'osm'
const START = toSeconds('2024-01-01T00:00:00Z')

/** An hour of the test's time. */
export const hour = (number, seconds = 0) => fromSeconds(START + number * 3600 + seconds)

export const idOf = number => `${LAYER}:4:${number >> 4}:${number & 15}`
const placeOf = id => { const [layer, z, x, y] = id.split(':'); return { layer, z: +z, x: +x, y: +y } }

const images = new Map() // digest -> number of a picture
const pictureOf = number => {
  images.set(digestOf(png(number)), number)
  return png(number)
}

export const versionsOf = (time, loaded, expires) => [...loaded].map(([id, image]) =>
  (
    { ...placeOf(id), time, ...(expires && { expires }), ...(
      image === null ? { gone: true } : { bytes: pictureOf(image) }
    ) }
  ))

/** The content of a database in the form of Model. @param {string} url @param {{settled?: boolean}} [options] */
export async function contentOf (url, options) {
  const tiles = await checkInvariants(url, options)
  // a version that a head fell back to has a past document as well: count it once
  return Object.fromEntries([...tiles].sort().map(([id, versions]) => [id, [...new Set(versions
    .map(({ time, bytes }) => `${time} ${bytes ? images.get(digestOf(bytes)) ?? 'unknown' : null}`))].sort()]))
}

export class World {
  model = new Model()

  /** @param {string[]} urls of databases that do not exist yet @param {{revpos: boolean}} options as of differences */
  constructor (urls, { revpos }) {
    this.urls = urls
    this.revpos = revpos
  }

  async open () {
    this.store = await Store.create(this.urls[0], { public: false })
    await publishFunctions(this.store)
    await this.store.defineLayer(LAYER, { format: 'png' })
    await this.mirror()
    this.other = await Store.open(this.urls[1])
    return this
  }

  async close () {
    await Promise.all([this.store?.destroy(), this.other?.destroy()])
  }

  /**
   * Runs an operation that is killed at one of its writes, before or after its arrival, and then runs it again to its
   * end.
   * @param {(store: Store) => Promise<any>} run
   * @param {{at: number, arrives: boolean} | null} kill
   */
  async twice (run, kill) {
    if (kill) {
      const dyingCopy = await Store.open(this.urls[0], { retries: 0 })
      const request = dyingCopy.couch.request.bind(dyingCopy.couch)
      let writesLeft = kill.at
      dyingCopy.couch.request = async options => {
        if (writesLeft < 0) throw new TilecouchError('ABORTED')
        if (!isWrite(options) || writesLeft--) return request(options)
        if (kill.arrives) await request(options)
        throw new TilecouchError('ABORTED')
      }
      await run(dyingCopy).catch(error => { if (error.code !== 'ABORTED') throw error })
      await contentOf(this.urls[0], { settled: false }) // no invariant is broken in between
    }
    return run(this.store)
  }

  async load ({ time, loaded, expires, kill }) {
    const { failures } =
      await this.twice(store => store.write(versionsOf(time, loaded, expires), { stored: time }), kill)
    for (const { code } of failures) assert.equal(code, 'VERSION_TAKEN')
    this.model.load(time, loaded, expires)
  }

  async edition ({ time, loaded, kill }) {
    await this.store.putEdition(LAYER, time, { title: time })
    this.model.editions.add(time)
    await this.load({ time, loaded, kill })
  }

  async prune ({ policy, now, kill }) {
    const summary = await this.twice(store => prune(store, LAYER, { policy, now: () => now }), kill)
    assert.equal(summary.refused, 0)
    this.model.prune(policy, now)
  }

  async expire ({ now, kill }) {
    await this.twice(store => expire(store, { layers: [LAYER], action: 'remove', now: () => now }), kill)
    this.model.expire(now)
  }

  async removeEdition ({ time, kill }) {
    await this.twice(store => removeEdition(store, LAYER, time), kill)
    this.model.removeEdition(time)
  }

  async removeTiles ({ column, kill }) {
    const isInColumn = id => placeOf(id).x === column
    const only = Array.from({ length: 16 }, (_, y) => ({ z: 4, x: column, y }))
    await this.twice(store => removeTiles(store, LAYER, { only }), kill)
    this.model.removeTiles(isInColumn)
  }

  async resolve () {
    const { left, refused } = await resolve(this.store)
    assert.equal(left + refused, 0)
  }

  async mirror () {
    await mirror(this.urls[0], this.urls[1])
  }

  /** Loads two masters separately, and mirrors both ways. Then each has the versions of the other. */
  async apart ({ time, here, there }) {
    await this.mirror()
    const otherModel = this.model.clone()
    await this.load({ time, loaded: here, kill: null })
    const later = fromSeconds(toSeconds(time) + 1)
    await this.other.write(versionsOf(later, there), { stored: later })
    otherModel.load(later, there)
    await mirror(this.urls[0], this.urls[1])
    await mirror(this.urls[1], this.urls[0])
    for (const store of [this.store, this.other]) await resolve(store)
    this.model.join(otherModel)
  }

  /** Compares documents and index with the model. */
  async compare () {
    assert.deepEqual(await contentOf(this.urls[0]), this.model.content)
    const rows = await this.store.couch.view('_design/versions/_view/by_tile',
      { startkey: [LAYER], endkey: [LAYER, {}], reduce: false })
    assert.equal(new Set(rows.map(({ key }) => `${key}`)).size, this.model.versions, 'versions in the index')
  }

  async compareMirror () {
    await this.mirror()
    assert.deepEqual(await contentOf(this.urls[1]), this.model.content)
    assert.deepEqual(await differences(this.urls[0], this.urls[1], { revpos: this.revpos }), [])
  }
}

const isWrite = ({ method = 'GET', path = '' }) => method !== 'GET' &&
  method !== 'HEAD' && /^(_bulk_docs|_purge|_local|[^_].*)?$/.test(path.split('?')[0]) && path !== ''
