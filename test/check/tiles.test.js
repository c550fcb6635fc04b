// Damaged tiles: found, repaired, and then not found any more, without losing an image. Tested in memory, where the
// repair is killed after every write, and on every store. Tiles with wrong fields or bytes stay until they are deleted
// and loaded again.
import assert from 'node:assert/strict'
import { Store, check, load, parseTileId, publish, push } from '../../loader/index.js'
import { Couch } from '../../loader/store/couch.js'
import { repairTimelines } from '../../loader/check/tile-repair.js'
import { ownDesigns } from '../../loader/couchapp/compose.js'
import { TilecouchError } from '../../core/index.js'
import { readTileLeaves } from '../../core/store/documents.js'
import { MemoryCouch } from '../resolve/memory-couch.js'
import { onEachStore } from '../support/backends.js'
import { checkInvariants } from '../support/invariants.js'
import { memorySource } from '../support/memory-source.js'
import { tile } from '../support/sample-tiles.js'
import { useStore } from '../support/store.js'
import { broken, damage, imagesOf, plant } from './damage.js'

/** The versions of a tile, oldest first, with their images. */
async function versionsOf (couch, id) {
  const [{ heads, pasts }] = await readTileLeaves(couch, [id])
  // a copy of the head may be in the past
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
/** Collects findings by layer. */
const noteIn = findings => ({ code, where }) => {
  const [layer] = where.split(':')
  findings.set(layer, [...findings.get(layer) ?? [], code].sort())
}

describe('a damaged tile in memory', () => {
  const id = 'osm:3:1:0'
  const open = async planted => {
    const couch = new MemoryCouch('m')
    couch.validates = false
    const store = new Store(couch)
    await plant(store, structuredClone(planted))
    couch.validates = true
    return { couch, store, repair: (onLeft = () => {}) => repairTimelines(store, [id], { onLeft }) }
  }

  for (const [kind, { docs, after }] of Object.entries(damage)) {
    it(`with ${kind} is repaired, after whichever write the repair is killed`, async () => {
      const planted = await Promise.all(docs(id))
      for (let lives = 0, isDone = false; !isDone; lives++) {
        assert.ok(lives < 30, 'it comes to an end')
        const { couch, repair: repairTile } = await open(planted)
        const repair = () => repairTile((tileId, why) => assert.fail(`${tileId}: ${why}`))
        couch.lives = lives
        await repair().then(() => { isDone = true }, error => assert.equal(error.code, 'ABORTED'))
        couch.lives = Infinity
        assert.deepEqual([...await repair()], [], `nothing is wrong after ${lives} writes and another run`)
        const { times, images } = await versionsOf(couch, id)
        assert.deepEqual(times, after, `${lives} writes`)
        assert.deepEqual(sorted(images), sorted(imagesOf(planted)), `every image is there after ${lives} writes`)
        const revs = couch.ids.map(docId => couch.leavesAt(docId).map(({ rev }) => rev))
        await repair()
        assert.deepEqual(couch.ids.map(docId => couch.leavesAt(docId).map(({ rev }) => rev)),
          revs, 'another run changes nothing')
      }
    })

    it(`with ${kind} is repaired while loads write to it`, async () => {
      const planted = await Promise.all(docs(id))
      const loads = [['2024-01-01T00:00:00Z', 8], ['2021-12-01T00:00:00Z', 9]]
      for (let writes = 0, hasRun = true; hasRun && writes < 10; writes++) {
        const { couch, store, repair } = await open(planted)
        const stored = []
        couch.meanwhile = { writes, async run () {
          for (const [time, seed] of loads) {
            const bytes = await tile(seed)
            const { created, advanced, backfilled } =
              await store.write([{ layer: 'osm', z: 3, x: 1, y: 0, time, bytes }])
            if (created + advanced + backfilled) stored.push(bytes.toString('base64'))
          }
        } }
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
  let store, report
  const layers = new Map(Object.keys(damage).map((kind, index) => [`damage${index}`, kind]))
  const planted = new Map()
  const [reported, repaired, remaining] = [new Map(), new Map(), new Map()]
  useStore(backend, { once: true, public: false, async fill (opened) {
    store = opened
    for (const [layer, kind] of layers) {
      await store.defineLayer(layer, { minzoom: 0, maxzoom: 8 })
      planted.set(layer, await Promise.all(damage[kind].docs(`${layer}:3:1:0`)))
    }
    await plant(store, [...planted.values()].flat())
    await push(store.couch, (await ownDesigns()).filter(({ _id }) => _id === '_design/tiles'))
    const look = (notes, options) => check(store, { layers: [...layers.keys()], onFinding: noteIn(notes), ...options })
    await look(reported)
    report = await look(repaired, { fix: true, decode: false })
    await look(remaining)
  } })

  for (const [layer, kind] of layers) {
    it(`are found and repaired: ${kind}`, async () => {
      assert.deepEqual(reported.get(layer), damage[kind].found)
      assert.deepEqual(repaired.get(layer), damage[kind].found, 'what was found is what was repaired')
      const { times, images } = await versionsOf(store.couch, `${layer}:3:1:0`)
      assert.deepEqual(times, damage[kind].after)
      assert.deepEqual(sorted(images), sorted(imagesOf(planted.get(layer))), 'every image is there')
      assert.equal(remaining.get(layer), undefined, 'nothing is found any more')
    })
  }

  it('are all counted as repaired, and none as remaining', () => {
    const counted = [...reported.values()].flat().length
    assert.deepEqual(report.repair?.remaining, {})
    assert.deepEqual([report.faults + report.warnings,
      Object.values(report.repair?.repaired ?? {}).reduce((a, b) => a + b)], [counted, counted])
  })
})

onEachStore('tiles with wrong fields or bytes', backend => {
  const layers = Object.keys(broken).map((_, at) => `broken${at}`)
  const T1 = '2021-06-01T00:00:00Z'
  let store
  useStore(backend, { once: true, public: false, async fill (opened) {
    store = opened
    const planted = []
    for (const [index, { docs }] of Object.values(broken).entries()) {
      await store.defineLayer(layers[index], { minzoom: 0, maxzoom: 8 })
      planted.push(...await Promise.all(docs(`${layers[index]}:3:1:0`)))
    }
    await plant(store, planted)
    await push(store.couch, (await ownDesigns()).filter(({ _id }) => _id === '_design/tiles'))
  } })

  const look = async options => {
    const findings = new Map()
    return { found: findings, report: await check(store, { layers, onFinding: noteIn(findings), ...options }) }
  }

  it('are found, and are not changed by a repair', async () => {
    const { found: foundCodes, report } = await look({ fix: true, decode: false })
    const codes = Object.values(broken).map(({ found: findings }) => findings)
    assert.deepEqual(layers.map(layer => foundCodes.get(layer)), codes)
    assert.deepEqual([report.repair?.repaired, report.repair?.faults], [{}, codes.flat().length])
    assert.deepEqual((await look()).found, foundCodes, 'nothing was written')
  }).timeout(60000)

  it('are correct after they were deleted and loaded again', async () => {
    for (const layer of layers) {
      const [{ heads, pasts }] = await readTileLeaves(store.couch, [`${layer}:3:1:0`])
      const deletions = [...heads, ...pasts].map(({ _id, _rev }) => ({ _id, _rev, _deleted: true }))
      for (const { ok, id } of await store.couch.write(deletions)) assert.ok(ok, id)
      await load(store, memorySource({ '3/1/0': 1 }), { layer, time: T1 })
    }
    assert.equal((await look({ decode: false })).report.faults, 0)
  }).timeout(60000)
})

// A repair loses nothing while loads write to the same tiles.
onEachStore('a repair', backend => {
  let store, url, planted
  useStore(backend, { public: false, async fill (...opened) {
    [store, url] = opened
    await store.defineLayer('osm', { minzoom: 3, maxzoom: 3 })
    const docs = Object.values(damage).flatMap((kind, index) => kind.docs(`osm:3:${index >> 3}:${index % 8}`))
    planted = await Promise.all(docs)
    await plant(store, planted)
    await publish(store)
  } })

  const kindsOf = async () => (await check(store, { decode: false })).kinds
  const assertImages = async images => {
    const tiles = await checkInvariants(url)
    const stored = new Set([...tiles.values()].flat().flatMap(({ bytes }) => bytes ? [bytes.toString('base64')] : []))
    for (const image of images) assert.ok(stored.has(image))
  }

  it('loses no image while loads write to the same tiles', async () => {
    const stored = []
    const loadAt = async (time, seed) => {
      const versions = await Promise.all(Object.keys(damage)
        .map(async (_, at) => ({ layer: 'osm', z: 3, x: at >> 3, y: at % 8, time, bytes: await tile(seed + at) })))
      const { failures } = await store.write(versions, { batch: 5, concurrency: 2 })
      const failed = new Set(failures.map(({ id }) => id))
      for (const { x, y, bytes } of versions) if (!failed.has(`osm:3:${x}:${y}`)) stored.push(bytes.toString('base64'))
    }
    const loads = (async () => {
      for (const [time, seed] of [['2024-01', 100], ['2020-06', 200], ['2024-06', 300]]) {
        await loadAt(`${time}-01T00:00:00Z`, seed)
      }
    })()
    const repaired = check(store, { decode: false, fix: true })
    await Promise.all([loads, repaired])
    await check(store, { decode: false, fix: true }) // repairs tiles that a refused write of a load left unsettled
    assert.deepEqual(await kindsOf(), {})
    await assertImages([...stored, ...imagesOf(planted)])
  }).timeout(60000)

  const longTest = process.env.TILECOUCH_LONG ? it : it.skip
  longTest('loses no image when it is killed after any number of writes and run again', async () => {
    let runs = 0
    for (let isDone = false; !isDone; runs++) {
      let lives = runs
      store.couch.request = async request => {
        const writes = /_bulk_docs$/.test(request.path) || ['PUT', 'DELETE'].includes(request.method)
        if (writes && lives-- <= 0) throw new TilecouchError('ABORTED')
        return Couch.prototype.request.call(store.couch, request)
      }
      await check(store, { decode: false, fix: true })
        .then(() => { isDone = true }, error => assert.equal(error.code, 'ABORTED'))
      store.couch.request = Couch.prototype.request
    }
    assert.ok(runs > 2, `${runs} runs`)
    assert.deepEqual(await kindsOf(), {})
    await assertImages(imagesOf(planted))
  }).timeout(600000)
})
