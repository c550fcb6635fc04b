// Mirrors of parts hold exactly the selected documents after random changes of the source. naive.js says which.
import assert from 'node:assert/strict'
import { parseArea, tileBounds } from '../../core/index.js'
import { Store } from '../../loader/index.js'
import { random } from '../../bench/tiles.js'
import { onEachStore } from '../support/backends.js'
import { png } from '../support/tiles.js'
import { belonging, shownAt, tilesOf } from './naive.js'
import { caughtUp, documentsOf, replicationOf } from './part.js'

const ROUNDS = +(process.env.TILECOUCH_MIRROR_ROUNDS ?? 4)
const SEED = +(process.env.TILECOUCH_MIRROR_SEED ?? 6)
const LIMIT = 60000 + 20000 * ROUNDS // milliseconds, generous for busy machines

const TIMES = Array.from({ length: 8 }, (_, index) => `${2016 + index}-01-01T00:00:00Z`)
const SINCE = TIMES[3]
const SIDE = 4

const within = ([west, south, east, north]) => [west + 0.1, south + 0.1, east - 0.1, north - 0.1]
const box = within([tileBounds(3, 1, 1)[0], tileBounds(3, 1, 2)[1], tileBounds(3, 2, 1)[2], tileBounds(3, 1, 1)[3]])
const [west, south, east, north] = box
const triangle = parseArea(
  { polygon: { type: 'Polygon', coordinates: [[[west, south], [east, south], [west, north], [west, south]]] } }
)

/** @type {Record<string, Parameters<typeof belonging>[1]>} */
const selections = {
  layer: { layers: ['osm'] },
  box: { bbox: box },
  polygon: { polygon: triangle },
  zooms: { zooms: { min: 4, max: 5 } },
  present: { current: true },
  'present of a box': { current: true, bbox: box, layers: ['day'] },
  'later past': { since: SINCE },
  'later past of a box': { since: SINCE, bbox: box }
}

/** Changes a store at random. */
class Life {
  constructor (url, store, seed) {
    this.url = url
    this.store = store
    this.next = random(seed)
  }

  pick (list) {
    return list[Math.floor(this.next() * list.length)]
  }

  place () {
    return {
      layer: this.pick(['osm', 'day']), z: this.pick([3, 4]), x: Math.floor(this.next() * SIDE),
      y: Math.floor(this.next() * SIDE)
    }
  }

  async step () {
    const { store } = this
    const action = this.pick(['load', 'load', 'load', 'backfill', 'gone',
      'deleteHead', 'deletePast', 'deletePast', 'extend', 'undelete', 'overwrite', 'describe'])
    const pickVersion = async current => this.pick((await documentsOf(this.url)).filter(doc => doc.current === current))
    const remove = doc => doc && store.couch.bulk([{ _id: doc._id, _rev: doc._rev, _deleted: true }])
    const write = (count, time, gone = false) => store.write(Array.from({ length: count },
      () => ({ ...this.place(), time, ...(gone ? { gone } : { bytes: png(Math.floor(this.next() * 50)) }) })))
    if (action === 'load') return write(12, this.pick(TIMES.slice(2)))
    if (action === 'backfill') return write(6, this.pick(TIMES.slice(0, 5)))
    if (action === 'gone') return write(2, this.pick(TIMES), true)
    if (action === 'deleteHead') return remove(await pickVersion(true))
    if (action === 'deletePast') return remove(await pickVersion(false))
    if (action === 'describe') return this.next() < 0.5 ? store.defineLayer('osm', { name: `${this.next()}` })
      : store.putEdition('day', this.pick(TIMES), { title: `${this.next()}` })
    const head = await pickVersion(true)
    if (!head) return
    const { layer, z, x, y, time } = head
    if (action === 'extend') return store.extend([{ id: head._id, expires: '2099-01-01T00:00:00Z' }])
    if (action === 'undelete') {
      await remove(head)
      return store.write([{ layer, z, x, y, time: this.pick(TIMES), bytes: png(Math.floor(this.next() * 50)) }])
    }
    // as a program does that keeps no past versions
    const laterTimes = TIMES.filter(laterTime => laterTime > time)
    const data = png(Math.floor(this.next() * 50)).toString('base64')
    if (laterTimes.length) {
      await store.couch.put(
        { ...head, time: this.pick(laterTimes), _attachments: { tile: { content_type: 'image/png', data } } }
      )
    }
  }
}

/** Lists the faults of a mirror. exactly: versions that formerly were visible at `since` are faults too. */
function findFaults (source, mirror, selection, exactly) {
  const expectedIds = belonging(source, selection)
  const sourceDocs = new Map(source.map(doc => [doc._id, doc]))
  const mirrorDocs = new Map(mirror.map(doc => [doc._id, doc]))
  const missing = [...expectedIds].filter(id => !mirrorDocs.has(id)).map(id => `${id} is missing`)
  const unexpected = [...mirrorDocs.keys()].filter(id => !expectedIds.has(id)).filter(id => {
    const doc = sourceDocs.get(id)
    const wasInForce = selection.since && doc?.current === false &&
      doc.time < selection.since && belonging([doc], selection).has(id)
    return exactly || !wasInForce
  }).map(id => `${id} should not be there`)
  const revised = [...mirrorDocs.values()].filter(({ _id: id, _rev: rev }) => sourceDocs.get(id)?._rev !== rev)
    .map(({ _id: id }) => `${id} is another revision`)
  const times = selection.current ? ['9999-12-31T23:59:59Z']
    : [...TIMES, '2019-07-01T00:00:00Z'].filter(time => !selection.since || time >= selection.since)
  const [sourceTiles, mirrorTiles] =
    [source.filter(doc => belonging([doc], { ...selection, since: undefined }).has(doc._id)), mirror].map(tilesOf)
  const wrongTiles = [...sourceTiles]
    .filter(([tile, versions]) => shownAt(versions, times) !== shownAt(mirrorTiles.get(tile) ?? [], times))
    .map(([tile, versions]) =>
      `${tile} shows ${shownAt(mirrorTiles.get(tile) ?? [], times)} instead of ${shownAt(versions, times)}`)
  return [...missing, ...unexpected, ...revised, ...wrongTiles]
}

onEachStore('Mirrors of parts', backend => {
  it(`hold exactly the selected documents, live and when they are created again (${ROUNDS} rounds)`, async () => {
    const from = await backend.database()
    const store = await Store.create(from)
    const life = new Life(from, store, SEED)
    for (let step = 0; step < 10; step++) await life.step()
    const stop = new AbortController()
    const mirrors = await Promise.all(Object.entries(selections).map(async ([name, selection]) => {
      const to = await backend.database()
      const replication = await replicationOf(from, to, selection, { live: true, signal: stop.signal })
      return { name, wanted: selection, to, replication, running: replication.run().catch(error => error) }
    }))
    try {
      for (let round = 0; round < ROUNDS; round++) {
        for (let step = 0; step < 12; step++) await life.step()
        const source = await documentsOf(from)
        for (const { name, wanted: selection, to, replication } of mirrors) {
          await caughtUp(replication, from)
          assert.deepEqual(findFaults(source, await documentsOf(to), selection, false),
            [], `the mirror of ${name} in round ${round} of seed ${SEED}`)
        }
      }
    } finally {
      stop.abort()
      for (const { running } of mirrors) assert.equal((await running).code, 'ABORTED')
    }
    const source = await documentsOf(from)
    assert.ok(source.length > 50 && source.some(({ current }) => current === false),
      `${source.length} documents at the end`)
    for (const [name, selection] of Object.entries(selections)) {
      const to = await backend.database()
      const status = await (await replicationOf(from, to, selection)).run()
      const mirror = await documentsOf(to)
      assert.deepEqual(findFaults(source, mirror, selection, true), [], `the new mirror of ${name} with seed ${SEED}`)
      assert.equal(status.refused + status.absent, 0)
    }
  }).timeout(LIMIT)
})
