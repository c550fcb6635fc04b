// Stores that are loaded separately and then replicate: both on one kind of store, or one on each kind.
import assert from 'node:assert/strict'
import { Replication } from '../../core/mirror/index.js'
import { Store, publish } from '../../loader/index.js'
import { peerOf } from '../../loader/store/peer.js'
import { resolve } from '../../loader/check/conflicts.js'
import { backends, json } from '../support/backends.js'
import { checkInvariants } from '../support/invariants.js'
import { designFunctions } from '../support/published.js'
import { differences } from '../mirror/compare.js'
import { png, seedOf } from '../support/tiles.js'

export const T = day => `2024-01-0${day}T00:00:00Z`
export const S = hour => `2024-06-01T0${hour}:00:00Z`

/** The design documents that writing and resolving need: the validation, and the view of conflicts. */
const DESIGNS = ['_design/tiles', '_design/versions']

const [embedded, couchDb] = backends

/** @typedef {typeof embedded} Backend */
/** @type {Backend[][]} */
const mixtures = couchDb ? [[embedded, embedded], [couchDb, couchDb], [embedded, couchDb]]
  : [[embedded, embedded]]

/** @param {string} title @param {(mixture: Backend[]) => void} body */
export function onEachMixture (title, body) {
  for (const mixture of mixtures) {
    describe(`${title}: ${mixture.map(({ name }) => name).join(' and ')}`, () => body(mixture))
  }
}

/** Two stores for each test. @param {(masters: Masters) => void} onReady */
export function useMasters (mixture, onReady) {
  let masters
  beforeEach(async function () {
    this.timeout(60000)
    onReady(masters = await Masters.open(mixture))
  })
  afterEach(() => masters.close())
}

export class Masters {
  /** @param {Store[]} stores @param {string[]} urls */
  constructor (stores, urls) {
    this.stores = stores
    this.urls = urls
  }

  /** @param {Backend[]} mixture @param {number} [count] @param {string[]} [designs] */
  static async open (mixture, count = 2, designs = DESIGNS) {
    const urls = []
    for (let index = 0; index < count; index++) urls.push(await mixture[index % mixture.length].database())
    const stores = await Promise.all(urls.map(url => Store.create(url, { public: false })))
    const docs = (await designFunctions()).filter(({ _id }) => designs.includes(_id))
    for (const store of stores) await publish(store, { docs })
    return new Masters(stores, urls)
  }

  async close () {
    await Promise.all(this.stores.map(store => store.destroy()))
  }

  /** Loads one version of the tile 3/1/2. image: null for a gone version */
  async load (at, time, image, { stored = S(1), ...fields } = {}) {
    const version =
      { layer: 'osm', z: 3, x: 1, y: 2, time, ...(image === null ? { gone: true } : { bytes: png(image) }), ...fields }
    return this.stores[at].write([version], { stored })
  }

  /** Deletes a document of one store. @param {number} at @param {string} id */
  async remove (at, id) {
    const { couch } = this.stores[at]
    const { _rev: rev } = await couch.get(id)
    return couch.request({ method: 'DELETE', path: id, qs: { rev } })
  }

  /** Replicates one store to another. */
  async hand (from, to) {
    const { refused } =
      await new Replication({ source: peerOf(this.stores[from].couch), target: peerOf(this.stores[to].couch) }).run()
    assert.equal(refused, 0)
  }

  /** Replicates every store to every other one. */
  async meet () {
    const indexes = this.stores.map((store, index) => index)
    for (let round = 1; round < indexes.length; round++) for (const from of indexes) {
      for (const to of indexes) if (from !== to) await this.hand(from, to)
    }
  }

  resolve (at, options) {
    return resolve(this.stores[at], options)
  }

  /**
   * Resolves each store separately. Then all are the same, before and after replication.
   * @param {boolean} [settled]
   */
  async settle (settled = true) {
    const summaries = []
    for (const at of this.stores.keys()) summaries.push(await this.resolve(at))
    for (const url of this.urls.slice(1)) {
      assert.deepEqual(await differences(this.urls[0], url), [], 'the same came of it')
    }
    await this.meet()
    for (const at of this.stores.keys()) assert.equal((await this.resolve(at)).conflicts, 0, 'no conflict came of it')
    for (const url of this.urls) await checkInvariants(url, { settled })
    return summaries[0]
  }

  /**
   * The versions of a tile at the first master: time, image, and the time of its load if that differs.
   * @param {string} [place] z:x:y
   */
  async history (place = '3:1:2') {
    const { rows } = await json(`${this.urls[0]}/_all_docs?startkey="osm:${place}"&endkey="osm:${place}@~"` +
      '&include_docs=true&attachments=true')
    return rows.map(({ doc }) => {
      const bytes = doc._attachments && Buffer.from(doc._attachments.tile.data, 'base64')
      const image = bytes ? seedOf(bytes) : null
      return `${doc.time.slice(5, 19)}${doc.current ? '' : ' past'} ` +
        `${image}${doc.contested ? ` of ${doc.contested.slice(5, 19)}` : ''}`
    })
  }

  /** Writes leaves unchanged into one store. */
  async graft (at, docs) {
    const refused = await peerOf(this.stores[at].couch).write(docs)
    assert.deepEqual(refused, [])
  }
}
