// Damaged tiles, found, repaired and found clean: nothing is lost of their bytes. In memory, where each can be killed
// after every write, and on every store. Tiles with wrong fields or bytes are left until they are deleted and loaded
// again.
import assert from 'node:assert/strict'
import { parseTileId } from '../../core/index.js'
import { check } from '../../loader/check/index.js'
import { load } from '../../loader/index.js'
import { repairTimelines } from '../../loader/check/tile-repair.js'
import { ownDesigns } from '../../loader/couchapp/compose.js'
import { push } from '../../loader/couchapp/push.js'
import { readTileLeaves } from '../../core/store/documents.js'
import { Store } from '../../loader/store/index.js'
import { MemoryCouch } from '../resolve/memory-couch.js'
import { onEachStore } from '../support/backends.js'
import { memorySource } from '../support/memory-source.js'
import { tile } from '../support/sample-tiles.js'
import { broken, damage, imagesOf, plant } from './damage.js'

/** Versions as they stand, oldest first, with their images. */
async function versionsOf (couch, id) {
  const [{ heads, pasts }] = await readTileLeaves(couch, [id])
  // a copy of the head may stand in the past
  const docs = [...pasts.filter(({ time }) => time !== heads[0]?.time), ...heads]
  for (const doc of docs) {
    const { layer, z, x, y, time } = parseTileId(doc._id)
    assert.deepEqual([doc.type, doc.layer, doc.z, doc.x, doc.y, doc.current, doc.time],
      ['tile', layer, z, x, y, time === undefined, time ?? doc.time], doc._id)
  }
  assert.equal(heads.length, 1, `${id} has a head`)
  const rows = await couch.docs(docs.map(({ _id }) => _id), { attachments: true })
  return {
    times: docs.map(({ time, contested }) => contested ? `${time} of ${contested}` : time),
    images: rows.map(({ doc }) => doc._attachments?.tile).filter(Boolean)
      .map(({ data }) => Buffer.from(data).toString('base64'))
  }
}

const sorted = values => [...new Set(values)].sort()

describe('a damaged tile in memory', () => {
  const id = 'osm:3:1:0'

  for (const [what, { docs, after }] of Object.entries(damage)) {
    it(`with ${what} is repaired, after whichever write the repair is killed`, async () => {
      const planted = await Promise.all(docs(id))
      for (let lives = 0, isDone = false; !isDone; lives++) {
        assert.ok(lives < 30, 'it comes to an end')
        const couch = new MemoryCouch('m')
        couch.validates = false
        const store = new Store(couch)
        await plant(store, structuredClone(planted))
        couch.validates = true
        const repair = () => repairTimelines(store, [id], { onLeft: (at, why) => assert.fail(`${at}: ${why}`) })
        couch.lives = lives
        await repair().then(() => { isDone = true }, error => assert.equal(error.code, 'ABORTED'))
        couch.lives = Infinity
        assert.deepEqual([...await repair()], [], `nothing is wrong after ${lives} writes and another run`)
        const { times, images } = await versionsOf(couch, id)
        assert.deepEqual(times, after, `${lives} writes`)
        assert.deepEqual(sorted(images), sorted(imagesOf(planted)), `every image is there after ${lives} writes`)
        const revs = couch.ids.map(at => couch.leavesAt(at).map(({ rev }) => rev))
        await repair()
        assert.deepEqual(couch.ids.map(at => couch.leavesAt(at).map(({ rev }) => rev)),
          revs, 'another run changes nothing')
      }
    })

    it(`with ${what} is repaired while loads write to it`, async () => {
      const planted = await Promise.all(docs(id))
      const loads = [['2024-01-01T00:00:00Z', 8], ['2021-12-01T00:00:00Z', 9]]
      for (let writes = 0, hasRun = true; hasRun && writes < 10; writes++) {
        const couch = new MemoryCouch('m')
        couch.validates = false
        const store = new Store(couch)
        await plant(store, structuredClone(planted))
        couch.validates = true
        const stored = []
        couch.meanwhile = {
          writes,
          run: async () => {
            for (const [time, seed] of loads) {
              const bytes = await tile(seed)
              const { created, advanced, backfilled } =
                await store.write([{ layer: 'osm', z: 3, x: 1, y: 0, time, bytes }])
              if (created + advanced + backfilled) stored.push(bytes.toString('base64'))
            }
          }
        }
        const repair = () => repairTimelines(store, [id], { onLeft: () => {} })
        await repair()
        hasRun = !couch.meanwhile
        couch.meanwhile = undefined
        assert.deepEqual([...await repair()], [], `nothing is wrong after a load at the write ${writes}`)
        const { images } = await versionsOf(couch, id)
        assert.deepEqual(sorted(images), sorted([...imagesOf(planted), ...stored]),
          `every image is there after a load at the write ${writes}`)
      }
    })
  }
})

onEachStore('damaged tiles', backend => {
  /** @type {Store} */
  let store
  const layers = new Map(Object.keys(damage).map((what, at) => [`damage${at}`, what]))
  const planted = new Map()
  const [found, repaired, again] = [new Map(), new Map(), new Map()]
  /** @type {Awaited<ReturnType<typeof check>>} */
  let report

  before(async function () {
    this.timeout(60000)
    store = await Store.create(await backend.database(), { public: false })
    for (const [layer, what] of layers) {
      await store.defineLayer(layer, { minzoom: 0, maxzoom: 8 })
      planted.set(layer, await Promise.all(damage[what].docs(`${layer}:3:1:0`)))
    }
    await plant(store, [...planted.values()].flat())
    await push(store.couch, (await ownDesigns()).filter(({ _id }) => _id === '_design/tiles'))
    const look = (into, options) => check(store, {
      layers: [...layers.keys()],
      onFinding: ({ code, where }) => into.set(where.split(':')[0],
        [...into.get(where.split(':')[0]) ?? [], code].sort()), ...options
    })
    await look(found)
    report = await look(repaired, { fix: true, decode: false })
    await look(again)
  })
  after(() => store.destroy())

  for (const [layer, what] of layers) {
    it(`are found and repaired: ${what}`, async () => {
      assert.deepEqual(found.get(layer), damage[what].found)
      assert.deepEqual(repaired.get(layer), damage[what].found, 'what was found is what was repaired')
      const { times, images } = await versionsOf(store.couch, `${layer}:3:1:0`)
      assert.deepEqual(times, damage[what].after)
      assert.deepEqual(sorted(images), sorted(imagesOf(planted.get(layer))), 'every image is there')
      assert.equal(again.get(layer), undefined, 'nothing is found any more')
    })
  }

  it('are all counted as repaired, and none as remaining', () => {
    const counted = [...found.values()].flat().length
    assert.deepEqual(report.repair?.remaining, {})
    assert.deepEqual([report.faults + report.warnings,
      Object.values(report.repair?.repaired ?? {}).reduce((a, b) => a + b)], [counted, counted])
  })
})

onEachStore('tiles with wrong fields or bytes', backend => {
  const layers = Object.keys(broken).map((_, at) => `broken${at}`)
  const T1 = '2021-06-01T00:00:00Z'
  /** @type {Store} */
  let store

  before(async function () {
    this.timeout(60000)
    store = await Store.create(await backend.database(), { public: false })
    const planted = []
    for (const [at, { docs }] of Object.values(broken).entries()) {
      await store.defineLayer(layers[at], { minzoom: 0, maxzoom: 8 })
      planted.push(...await Promise.all(docs(`${layers[at]}:3:1:0`)))
    }
    await plant(store, planted)
    await push(store.couch, (await ownDesigns()).filter(({ _id }) => _id === '_design/tiles'))
  })
  after(() => store.destroy())

  const look = async options => {
    const found = new Map()
    const note = ({ code, where }) => {
      const [layer] = where.split(':')
      found.set(layer, [...found.get(layer) ?? [], code].sort())
    }
    const report = await check(store, { layers, onFinding: note, ...options })
    return { found, report }
  }

  it('are found, and are not changed by a repair', async function () {
    this.timeout(60000)
    const { found, report } = await look({ fix: true, decode: false })
    const codes = Object.values(broken).map(({ found: own }) => own)
    assert.deepEqual(layers.map(layer => found.get(layer)), codes)
    assert.deepEqual(report.repair?.repaired, {})
    assert.equal(report.repair?.faults, codes.flat().length)
    assert.deepEqual((await look()).found, found, 'nothing was written')
  })

  it('are correct after they were deleted and loaded again', async function () {
    this.timeout(60000)
    for (const layer of layers) {
      const [{ heads, pasts }] = await readTileLeaves(store.couch, [`${layer}:3:1:0`])
      const deletions = [...heads, ...pasts].map(({ _id, _rev }) => ({ _id, _rev, _deleted: true }))
      for (const { ok, id } of await store.couch.write(deletions)) assert.ok(ok, id)
      await load(store, memorySource({ '3/1/0': 1 }), { layer, time: T1 })
    }
    assert.equal((await look({ decode: false })).report.faults, 0)
  })
})
