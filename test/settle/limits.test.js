// A store that holds only a part of the tiles or times, or that was pruned. Tiles and times that it lacks are no
// faults, and no reader shows another version in their place.
import assert from 'node:assert/strict'
import { parseArea } from '../../core/index.js'
import { check, copyLayer, load, mirror, moveLayer, prune, removeLayer, resolve } from '../../loader/index.js'
import { peerOf } from '../../loader/store/peer.js'
import { Store } from '../../loader/store/index.js'
import { startGateway } from '../../server/gateway/index.js'
import { until } from '../../bench/wait.js'
import { json, onEachStore } from '../support/backends.js'
import { checkInvariants } from '../support/invariants.js'
import { memorySource } from '../support/memory-source.js'
import { publishedStore } from '../support/published.js'
import { seedOf, yearStart } from '../support/tiles.js'

const FAR = [8, 131, 132] // a tile outside the mirrored part
const BESIDE = [8, 133, 134] // a tile in the same block as FAR
const NEAR = [8, 3, 20] // a tile in the mirrored part
const WEST = parseArea({ bbox: [-179, 1, -91, 84] })

/** @param {[number[], number | null][]} tiles */
const sourceOf = tiles => memorySource(Object.fromEntries(tiles.map(([place, image]) => [place.join('/'), image])))

onEachStore('the limits of a store', backend => {
  let source, target, from, to
  beforeEach(async function () {
    this.timeout(180000)
    ;({ store: source, url: from } = await publishedStore(backend))
    ;({ store: target, url: to } = await publishedStore(backend))
  })
  afterEach(async () => {
    await source.destroy()
    await target.destroy()
  })

  const edition = async (store, year, tiles, options) => {
    const { failures } = await load(store, sourceOf(tiles), { layer: 'osm', time: yearStart(year), ...options })
    assert.deepEqual(failures, [])
  }
  const fetchPart = async options => {
    await mirror(from, to, options)
    return resolve(target)
  }

  /** Counts faults, except odd sizes of the small test images, and a store without the files of the viewer. */
  const faultsOf = async (store, options) => {
    const { kinds: { 'odd-size': small, 'other-design': withoutViewer, ...kinds } } = await check(store, options)
    return kinds
  }

  /** The number of the image that a tile shows, null, or an error code. */
  const read = async (store, tile, time, layer = 'osm') => {
    const reading = time === undefined ? store.head(layer, ...tile) : store.at(layer, ...tile, time)
    const result = await reading.catch(error => error)
    if (result.code) return result.code === 'TILE_NOT_FOUND' ? null : result.code
    return seedOf(result.bytes)
  }

  it('tiles outside the mirrored area are NOT_KEPT and no fault until everything is mirrored', async () => {
    await edition(source, 2021, [[FAR, 1], [BESIDE, 1], [NEAR, 1]])
    await edition(source, 2023, [[FAR, 2], [NEAR, 2]], { complete: true })
    const { unknown, settled } = await fetchPart({ area: WEST })
    assert.deepEqual([unknown, settled], [0, 0])
    assert.deepEqual(await faultsOf(target), {})
    assert.deepEqual(await Promise.all([NEAR, FAR, BESIDE].map(tile => read(target, tile))),
      [2, 'NOT_KEPT', 'NOT_KEPT'])
    assert.deepEqual(await Promise.all([NEAR, FAR].map(tile => read(target, tile, '2022'))), [1, 'NOT_KEPT'])
    const options = { db: to, port: 0, viewer: false, logLevel: 'silent', grace: 0 }
    const gateway = await startGateway(options)
    const ask = async (tile, layer) => {
      const answer = await fetch(`${gateway.url}/${layer}/${tile.join('/')}.png`)
      return answer.ok ? 200 : (await answer.json()).error
    }
    const answers = ['osm', 'osm@2022'].flatMap(layer => [NEAR, FAR].map(tile => ask(tile, layer)))
    assert.deepEqual(await Promise.all(answers), [200, 'NOT_KEPT', 200, 'NOT_KEPT'])
    await gateway.close()
    const empty = await startGateway({ ...options, missing: '204' })
    const { status, headers } = await fetch(`${empty.url}/osm/${FAR.join('/')}.png`)
    assert.deepEqual([status, headers.get('cache-control')], [204, 'public, max-age=60'])
    await empty.close()
    // a lost image of a tile in the mirrored part is a fault
    const { _id, _rev } = await target.couch.get('osm:8:3:20')
    await target.couch.bulk([{ _id, _rev, _deleted: true }])
    assert.equal((await faultsOf(target))['image-missing'], 1)
    // a mirror of everything removes the limits
    await fetchPart({})
    assert.deepEqual(await Promise.all([FAR, BESIDE].map(tile => read(target, tile))), [2, null])
    assert.equal(await target.couch.get('limits:osm'), undefined)
  })

  it('a loaded block also shows the tiles of a mirrored edition that shares it', async () => {
    await edition(source, 2019, [[FAR, 1], [BESIDE, 2]])
    await edition(source, 2021, [[NEAR, 1]])
    await fetchPart({ area: WEST })
    await edition(target, 2020, [[FAR, 1], [BESIDE, 2]]) // the same block as that of 2019, which was not mirrored
    assert.deepEqual(await faultsOf(target), {})
    assert.deepEqual(await Promise.all([FAR, BESIDE].map(tile => read(target, tile, '2019'))), [1, 2])
  })

  it('an area of 14000 points becomes limits, and one of 60000 is refused before anything is copied', async () => {
    await edition(source, 2021, [[FAR, 1], [NEAR, 1]])
    const circle = count => {
      const ring = Array.from({ length: count }, (_, index) => {
        const angle = 2 * Math.PI * index / count
        return [+(-135 + 44 * Math.cos(angle)).toFixed(7), +(50 + 34.9 * Math.sin(angle)).toFixed(7)]
      })
      return parseArea({ polygon: { type: 'Polygon', coordinates: [[...ring, ring[0]]] } })
    }
    const empty = await backend.database() // without validation
    for (const url of [to, empty]) {
      await assert.rejects(mirror(from, url, { area: circle(60000) }), { code: 'BAD_DOCUMENT', message: /limits:osm/ })
      const { couch } = await Store.open(url)
      assert.equal(await couch.get('layer:osm'), undefined)
      await mirror(from, url, { area: circle(14000) })
      assert.ok(JSON.stringify(await couch.get('limits:osm')).length > 262144)
      assert.equal(await read(await Store.open(url), FAR), 'NOT_KEPT')
    }
  })

  it('limits that are not valid are reported by check', async () => {
    await edition(source, 2021, [[NEAR, 1]])
    const bareUrl = await backend.database()
    await mirror(from, bareUrl, { area: WEST })
    const store = await Store.open(bareUrl)
    const { _id, _rev, ...design } = await store.couch.get('_design/tiles')
    await store.couch.put({ ...design, _id, _rev, validate_doc_update: undefined })
    await store.couch.update('limits:osm', doc => ({ ...doc, parts: [{ zooms: 7 }] }))
    assert.equal((await faultsOf(store))['bad-limits'], 1)
  })

  it('times before the mirrored ones are NOT_KEPT until a whole mirror brings them', async () => {
    await edition(source, 2018, [[FAR, 3], [NEAR, 1]])
    await edition(source, 2019, [[FAR, 3], [NEAR, 2]])
    await edition(source, 2020, [[FAR, 3], [NEAR, 1]])
    await edition(source, 2022, [[FAR, 3], [NEAR, 3]])
    const { unknown, settled } = await fetchPart({ since: '2021' })
    assert.deepEqual([unknown, settled], [0, 0])
    assert.deepEqual(await faultsOf(target, { fix: true }), {})
    const times = [yearStart(2018), yearStart(2019), yearStart(2020), yearStart(2021), '2021', yearStart(2022)]
    const shownImages = await Promise.all(times.map(time => read(target, NEAR, time)))
    assert.deepEqual(shownImages, ['NOT_KEPT', 'NOT_KEPT', 'NOT_KEPT', 1, 1, 3])
    assert.equal(await read(target, FAR, yearStart(2019)), 3, 'the head is right at any time from its own on')
    await fetchPart({})
    assert.deepEqual(await Promise.all(times.map(time => read(target, NEAR, time))), [1, 2, 1, 1, 1, 3])
  })

  it('limits are copied, moved and removed with their layer', async () => {
    for (const [year, image] of [[2018, 1], [2019, 2], [2020, 1], [2022, 3]]) {
      await edition(source, year, [[NEAR, image]])
    }
    await fetchPart({ since: '2020' })
    await edition(target, 2021, [[NEAR, 2]], { layer: 'other' })
    for (const layer of ['two', 'other', 'two']) await copyLayer(target, 'osm', layer)
    assert.deepEqual(await faultsOf(target, { fix: true }), {})
    const yearsOf = layer =>
      Promise.all([2018, 2019, 2020, 2021, 2022].map(year => read(target, NEAR, yearStart(year), layer)))
    assert.deepEqual(await yearsOf('two'), ['NOT_KEPT', 'NOT_KEPT', 1, 1, 3])
    assert.deepEqual(await yearsOf('other'), [null, null, 1, 2, 3], 'it was here before')
    const { done, left } = await moveLayer(target, 'osm', 'new')
    assert.deepEqual([done, left], [true, 0])
    assert.deepEqual(await yearsOf('new'), ['NOT_KEPT', 'NOT_KEPT', 1, 1, 3])
    assert.deepEqual(await faultsOf(target, { fix: true }), {})
    for (const layer of ['two', 'other']) await removeLayer(target, layer)
    const [rows] = await target.couch.ranges([{ startkey: 'limits:', endkey: 'limits;' }])
    assert.deepEqual(rows.map(({ id }) => id), ['limits:new'])
  })

  it('a complete edition makes a tile that it lacks gone only after its block arrives', async () => {
    await edition(target, 2021, [[FAR, 1]])
    await edition(source, 2023, [[BESIDE, 2]], { complete: true })
    const bringDocuments = async kind => {
      const [rows] = await source.couch.ranges([{ startkey: `${kind}:`, endkey: `${kind};` }])
      for (const { doc } of await source.couch.docs(rows.map(({ id }) => id), { attachments: true })) {
        const { _rev, ...fields } = doc
        const { digests } = doc._attachments ?? {}
        const data = digests && Buffer.from(digests.data, typeof digests.data === 'string' ? 'base64' : undefined)
        const files = digests && { digests: { content_type: digests.content_type, data: data.toString('base64') } }
        await target.couch.update(fields._id, () => ({ ...fields, ...(files && { _attachments: files }) }))
      }
      await resolve(target)
      return read(target, FAR)
    }
    assert.equal(await bringDocuments('manifest'), 1, 'without the block nothing is known')
    assert.equal(await bringDocuments('block'), null)
  })

  it('versions that are loaded into pruned times after the prune are shown, in any order', async () => {
    for (const year of [2018, 2020, 2022]) await edition(source, year, [[FAR, 3], [NEAR, year % 3 + 1]])
    await prune(source, 'osm', { policy: { last: 1 }, compact: 'never' })
    const loadTile = (time, image) => load(source, sourceOf([[NEAR, image]]), { layer: 'osm', time })
    await loadTile('2019-05-01T00:00:00Z', 1)
    await loadTile('2019-06-01T00:00:00Z', 1)
    await loadTile('2019-05-15T00:00:00Z', 2)
    assert.deepEqual(await Promise.all(['2019-05-10', '2019-05-20', '2019-06'].map(time => read(source, NEAR, time))),
      [1, 2, 1])
    assert.deepEqual(await faultsOf(source), {})
  })

  it('check does not restore pruned versions, but reports a lost version that the prune kept', async () => {
    await edition(source, 2018, [[FAR, 3], [NEAR, 1]])
    await edition(source, 2019, [[FAR, 3], [NEAR, 2]])
    await edition(source, 2020, [[FAR, 3], [NEAR, 1]])
    await edition(source, 2022, [[FAR, 3], [NEAR, 3]])
    const pruneAgain = () => prune(source, 'osm', { policy: { last: 2 }, compact: 'never' })
    assert.equal((await pruneAgain()).versions, 2)
    const [[firstTime, untilTime, run], ...moreRanges] = (await source.layer('osm')).dropped
    assert.deepEqual([firstTime, untilTime, moreRanges], [yearStart(2018), yearStart(2020), []])
    assert.match(run, /^\d{8}T\d{9}-/)
    assert.deepEqual(await faultsOf(source, { fix: true }), {})
    assert.equal((await pruneAgain()).versions, 0)
    assert.deepEqual(await Promise.all([2020, 2021, 2022].map(year => read(source, NEAR, yearStart(year)))), [1, 1, 3])
    // a lost version that the prune kept is reported
    const { _id, _rev } = await source.couch.get(`osm:8:3:20@${yearStart(2020)}`)
    await source.couch.bulk([{ _id, _rev, _deleted: true }])
    assert.equal((await faultsOf(source))['image-missing'], 1)
  })

  it('a layer that existed before the partial mirror keeps its tiles and sends no limits back', async () => {
    await edition(target, 2021, [[FAR, 1]])
    await edition(source, 2023, [[BESIDE, 2], [NEAR, 2]], { complete: true })
    await fetchPart({ area: WEST })
    assert.deepEqual(await Promise.all([NEAR, FAR, BESIDE].map(tile => read(target, tile))), [2, 1, null])
    assert.deepEqual(await faultsOf(target), {})
    await mirror(to, from, { layers: ['osm'] })
    assert.equal(await source.couch.get('limits:osm'), undefined, 'the source is whole')
  })

  it('the next mirror run adds the limits that an older release did not store', async () => {
    await edition(source, 2021, [[FAR, 1], [BESIDE, 1], [NEAR, 1]])
    await fetchPart({ area: WEST })
    const forgetLimits = async () => {
      const peer = peerOf(target.couch)
      const { rows } =
        await json(`${to}/_local_docs?startkey="_local/tilecouch-mirror-"&endkey="_local/tilecouch-mirror-~"`)
      const id = rows[0].id.slice('_local/'.length)
      await peer.updateLocal(id, ({ notesLimits, ...doc }) => doc)
      const { _id, _rev } = await target.couch.get('limits:osm')
      await target.couch.bulk([{ _id, _rev, _deleted: true }])
    }
    for (const year of [undefined, 2022]) {
      await forgetLimits()
      if (year) await edition(source, year, [[NEAR, 2]])
      else assert.equal((await faultsOf(target))['manifest-incomplete'], 1)
      await fetchPart({ area: WEST })
      assert.equal((await target.couch.get('limits:osm')).own, undefined)
      assert.equal(await read(target, FAR), 'NOT_KEPT')
      assert.deepEqual(await faultsOf(target), {})
    }
    // after a whole mirror, a partial run does not add limits again
    await fetchPart({})
    await fetchPart({ area: WEST })
    assert.equal(await target.couch.get('limits:osm'), undefined)
  })

  it('a tile that is loaded outside the mirrored area is shown, also by further mirrors', async () => {
    await edition(source, 2021, [[FAR, 1], [BESIDE, 1], [NEAR, 1]])
    await fetchPart({ area: WEST })
    await edition(target, 2024, [[BESIDE, 3]])
    assert.deepEqual(await Promise.all([NEAR, BESIDE].map(tile => read(target, tile))), [1, 3])
    assert.deepEqual(await faultsOf(target), {}, 'FAR is in the same block, but its image was not mirrored')
    const east = parseArea({ bbox: [0, -84, 179, 84] })
    for (const options of [{}, { area: east }, { area: WEST }]) {
      const url = await backend.database()
      await mirror(to, url, options)
      const further = await Store.open(url)
      assert.equal(await read(further, NEAR), options.area === east ? 'NOT_KEPT' : 1)
      assert.equal(await read(further, BESIDE), options.area === WEST ? 'NOT_KEPT' : 3)
      assert.deepEqual(await faultsOf(further), {})
      await further.destroy()
    }
  })

  it('a mirror of a part has the limits that its source gets later, live or in the next run', async () => {
    await edition(source, 2021, [[FAR, 1], [BESIDE, 1], [NEAR, 1]])
    const { store: middle, url } = await publishedStore(backend)
    await mirror(from, url, { area: WEST })
    const stop = new AbortController()
    let isReady = false
    const live = mirror(url, to, { live: true, signal: stop.signal, onReady: () => { isReady = true } })
    const ended = assert.rejects(live, { code: 'ABORTED' })
    await until(async () => isReady, { what: 'the first copy' })
    await mirror(from, url, { area: parseArea({ bbox: [0, -84, 179, 84] }) })
    await until(async () => await read(target, FAR) === 1, { what: 'the tile of the added part' })
    await mirror(from, url)
    await until(async () => !await target.couch.get('limits:osm'), { what: 'the end of the limits' })
    stop.abort()
    await ended
    // of a mirror that missed the change
    const limitTo = (store, max) =>
      store.couch.update('limits:osm', () => ({ type: 'limits', layer: 'osm', parts: [{ zooms: { min: 0, max } }] }))
    await limitTo(middle, 9)
    await limitTo(target, 5)
    await mirror(url, to)
    assert.equal(await read(target, FAR), 1)
    await middle.destroy()
  })

  it('a complete edition that was mirrored in two parts makes every other tile gone', async () => {
    await edition(target, 2021, [[FAR, 1], [BESIDE, 1]])
    await edition(source, 2023, [[BESIDE, 2], [NEAR, 2]], { complete: true })
    await fetchPart({ area: WEST })
    await fetchPart({})
    assert.deepEqual(await Promise.all([NEAR, FAR, BESIDE].map(tile => read(target, tile))), [2, null, 2])
    assert.equal(await read(target, FAR, yearStart(2022)), 1)
    await checkInvariants(to)
    assert.deepEqual(await faultsOf(target), {})
  })
})
