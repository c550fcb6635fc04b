// What is made on a device, before any of it is sent: the documents, what is to be seen, and what becomes of bad input.
import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { inspectTile, parseTileId, tileBounds } from '../../core/index.js'
import { digestOf } from '../../loader/store/tile.js'
import { png } from '../support/tiles.js'
import { takeImages } from '../client/support/pouches.js'
import { madeOn, useDevices } from './support/devices.js'

const SEED = +(process.env.TILECOUCH_SEED ?? 2026)
const RUNS = +(process.env.TILECOUCH_HISTORIES ?? 12)
const NOWHERE = 'http://127.0.0.1:9/nowhere'
const T = year => `${year}-01-01T00:00:00Z`
const ID = 'osm:5:1:2'

const outline = versions => versions.map(({ _id, time, current, gone }) => [_id, time, current, gone ?? false])

describe('an edition made on a device', () => {
  const device = useDevices()
  const begin = async (year, options) => {
    const offline = await device(NOWHERE, options)
    return { offline, edition: await offline.edits.begin({ layer: 'osm', time: T(year) }) }
  }

  it('has documents as the store has them, seen at once', async () => {
    const { offline, edition } = await begin(2024)
    await edition.put(5, 1, 2, png(1))
    const [[doc]] = [(await madeOn(offline)).get(ID)]
    const { _rev, stored, _attachments: { tile }, ...fields } = doc
    assert.deepEqual(fields, { _id: ID, type: 'tile', layer: 'osm', z: 5, x: 1, y: 2, current: true, time: T(2024) })
    assert.ok(Date.parse(stored) > Date.now() - 60000)
    assert.deepEqual([tile.content_type, tile.digest, tile.data], ['image/png', digestOf(png(1)), png(1).toString('base64')])
    const { blob, version } = await offline.device.head('osm', 5, 1, 2)
    assert.ok(png(1).equals(Buffer.from(await blob.arrayBuffer())))
    assert.equal(version.time, T(2024))
    const { minzoom, maxzoom, bounds, format } = await offline.device.layer('osm')
    assert.deepEqual([minzoom, maxzoom, format], [5, 5, 'png'])
    assert.deepEqual(bounds, tileBounds(5, 1, 2))
    assert.deepEqual((await offline.device.editions('osm')).map(({ time }) => time), [T(2024)])
  })

  it('goes to the past when a newer one comes, and comes back when that is taken away', async () => {
    const { offline, edition } = await begin(2024)
    const newer = await offline.edits.begin({ layer: 'osm', time: T(2025) })
    const older = await offline.edits.begin({ layer: 'osm', time: T(2020) })
    await edition.put(5, 1, 2, png(1))
    await newer.gone(5, 1, 2)
    await older.put(5, 1, 2, png(2))
    const all = [[`${ID}@${T(2020)}`, T(2020), false, false], [`${ID}@${T(2024)}`, T(2024), false, false], [ID, T(2025), true, true]]
    assert.deepEqual(outline((await madeOn(offline)).get(ID)), all)
    const [versions] = await offline.device.versions('osm', [{ z: 5, x: 1, y0: 2, y1: 2 }])
    assert.deepEqual(versions.map(({ time, gone }) => [time, gone]), [[T(2020), false], [T(2024), false], [T(2025), true]])
    assert.equal(await newer.remove(5, 1, 2), true)
    assert.deepEqual(outline((await madeOn(offline)).get(ID)), [all[0], [ID, T(2024), true, false]])
    assert.deepEqual((await madeOn(offline)).get(ID).map(({ _attachments: { tile } }) => tile.digest), [digestOf(png(2)), digestOf(png(1))])
    assert.equal(await newer.remove(5, 1, 2), false, 'once')
  })

  it('takes another image for one that was not sent', async () => {
    const { offline, edition } = await begin(2024)
    const newer = await offline.edits.begin({ layer: 'osm', time: T(2025) })
    await edition.put(5, 1, 2, png(1))
    await newer.put(5, 1, 2, png(2))
    await edition.put(5, 1, 2, png(3))
    await newer.put(5, 1, 2, png(4))
    const versions = (await madeOn(offline)).get(ID)
    assert.deepEqual(versions.map(({ time, _attachments: { tile } }) => [time, tile.digest]), [[T(2024), digestOf(png(3))], [T(2025), digestOf(png(4))]])
    const { tiles, bytes, unsent } = await edition.status()
    assert.deepEqual([tiles, bytes, unsent], [1, png(3).length, 1])
  })

  it('moves a version only with its image, where a compaction takes that while it is read', async () => {
    const { offline, edition } = await begin(2024)
    await edition.put(5, 1, 2, png(1))
    const newer = await offline.edits.begin({ layer: 'osm', time: T(2025) })
    const [{ db }] = offline.edits.databases()
    const images = async () => (await madeOn(offline)).get(ID).map(({ time, _attachments: { tile } }) => [time, tile.digest])
    const all = [[T(2024), digestOf(png(1))], [T(2025), digestOf(png(2))]]
    const { get } = db
    // more often than it is read again at once: then the documents are read anew
    const moved = takeImages(db, 'get', doc => [doc], 6)
    await newer.put(5, 1, 2, png(2))
    assert.deepEqual([moved(), await images()], [6, all])
    db.get = get
    const back = takeImages(db, 'get', doc => [doc])
    await newer.remove(5, 1, 2)
    assert.deepEqual([back(), await images()], [1, all.slice(0, 1)])
  })

  it('waits for the next try where its former version cannot be read at all', async () => {
    const { offline, edition } = await begin(2024)
    await edition.put(5, 1, 2, png(1))
    const newer = await offline.edits.begin({ layer: 'osm', time: T(2025) })
    const [{ db }] = offline.edits.databases()
    takeImages(db, 'get', doc => [doc], Infinity)
    await assert.rejects(newer.put(5, 1, 2, png(2)), { code: 'CONTENDED' })
    const [{ time, _attachments: { tile } }, ...more] = (await madeOn(offline)).get(ID)
    assert.deepEqual([time, tile.digest, more], [T(2024), digestOf(png(1)), []])
  })

  it('believes bytes, whatever a Blob says of itself', async () => {
    const { offline, edition } = await begin(2024)
    const vector = gzipSync(Buffer.from([0x1a, 0x02, 0x78, 0x02]))
    await edition.put(5, 0, 0, new Blob([png(1)], { type: 'image/gif' }))
    await edition.put(5, 0, 1, new Uint8Array(png(2)).buffer)
    await edition.put(5, 0, 2, vector)
    await edition.put(5, 0, 3, new DataView(Uint8Array.from([9, ...png(3)]).buffer, 1))
    const types = [...(await madeOn(offline)).values()].map(([{ _attachments: { tile } }]) => tile.content_type)
    assert.deepEqual(types, ['image/png', 'image/png', 'application/vnd.mapbox-vector-tile', 'image/png'])
    const bad = [
      ['UNKNOWN_IMAGE', Buffer.from('<html>')], ['EMPTY_IMAGE', new Blob([])], ['TRUNCATED_IMAGE', png(1).subarray(0, 200)],
      ['TRUNCATED_IMAGE', gzipSync('no vector tile at all')], ['TRUNCATED_IMAGE', vector.subarray(0, 20)],
      ['BAD_OPTION', 'a text'], ['BAD_OPTION', undefined], ['BAD_OPTION', null], ['BAD_OPTION', [1, 2]]
    ]
    for (const [code, image] of bad) await assert.rejects(edition.put(5, 9, 9, image), { code }, String(image))
    await assert.rejects(edition.put(5, 32, 0, png(1)), { code: 'BAD_TILE' })
    await assert.rejects(edition.gone(31, 0, 0), { code: 'BAD_TILE' })
    assert.equal((await edition.status()).tiles, 4)
  })

  it('takes many, the bad ones apart, from whatever gives them', async () => {
    const { offline, edition } = await begin(2024)
    async function * flight () {
      for (let at = 0; at < 250; at++) yield { z: 8, x: at, y: 7, image: at % 50 ? png(at % 20) : Buffer.from('cloud') }
      yield { z: 8, x: 1, y: 7, image: png(30) }
      yield { z: 8, x: 2, y: 7, gone: true }
      yield { z: 8, x: -1, y: 7, image: png(30) }
    }
    const { tiles, failed, failures } = await edition.putAll(flight())
    assert.deepEqual([tiles, failed], [247, 6])
    assert.deepEqual(failures.map(({ x, code }) => [x, code]), [...[0, 50, 100, 150, 200].map(x => [x, 'UNKNOWN_IMAGE']), [-1, 'BAD_TILE']])
    const made = await madeOn(offline)
    assert.deepEqual([made.size, made.get('osm:8:1:7')[0]._attachments.tile.digest, made.get('osm:8:2:7')[0].gone], [245, digestOf(png(30)), true])
    const { tiles: count, gone, bytes } = await edition.status()
    assert.deepEqual([count, gone, bytes], [245, 1, 244 * png(1).length])
    await assert.rejects(edition.putAll([{ z: 8, x: 0, y: 0, image: png(1) }], { signal: AbortSignal.abort() }), { code: 'ABORTED' })
    await assert.rejects(edition.putAll({ [Symbol.iterator]: () => ({ next () { throw new Error('the card was pulled') } }) }), /pulled/)
  })

  it('is begun for a time, a day or a moment, again as often as one likes, and listed', async () => {
    const { offline } = await begin(2024)
    const { edits } = offline
    for (const [time, exact] of [['2023', T(2023)], ['2022-05-06', '2022-05-06T00:00:00Z'], [new Date(1234567890123), '2009-02-13T23:31:30Z'], [T(2024), T(2024)]]) {
      assert.equal((await edits.begin({ layer: 'osm', time })).time, exact)
    }
    const before = Date.now() - 1000
    assert.ok(Date.parse((await edits.begin({ layer: 'flights', title: 'A', source: 'drone' })).time) >= before)
    await edits.begin({ layer: 'osm', time: '2024', title: 'Named later' })
    const list = await edits.list()
    assert.deepEqual(list.slice(0, 4).map(({ layer, time }) => [layer, time.slice(0, 4)]), [['osm', '2009'], ['osm', '2022'], ['osm', '2023'], ['osm', '2024']])
    assert.deepEqual([list.length, (await list[3].status()).title, (await list[4].status()).source], [5, 'Named later', 'drone'])
    assert.equal((await edits.get('osm', '2023')).time, T(2023))
    assert.equal(await edits.get('osm', '1999'), undefined)
    for (const [code, wrong] of [['BAD_LAYER', { layer: 'Osm' }], ['BAD_TIME', { layer: 'osm', time: 'noon' }], ['BAD_OPTION', { layer: 'osm', title: 7 }], ['BAD_LAYER_FIELD', { layer: 'osm', fields: { color: 'red' } }]]) {
      await assert.rejects(edits.begin(wrong), { code })
    }
  })

  it('is there when the device is opened again, and gone when it is discarded', async () => {
    const { offline, edition } = await begin(2024, { name: 'kept' })
    await edition.putAll([1, 2, 3].map(x => ({ z: 5, x, y: 2, image: png(x) })))
    await offline.close()
    const again = await device(NOWHERE, { name: 'kept' })
    const [same] = await again.edits.list()
    assert.deepEqual([(await same.status()).tiles, await again.device.has('osm', 5, 1, 2)], [3, true])
    await same.discard()
    assert.deepEqual([await again.edits.list(), (await madeOn(again)).size, await again.device.has('osm', 5, 1, 2)], [[], 0, false])
    assert.equal(await again.device.layer('osm'), undefined)
    assert.equal((await same.status()).state, 'gone')
    await assert.rejects(same.put(5, 1, 2, png(1)), { code: 'EDITION_NOT_FOUND' })
    await assert.rejects(same.upload(), { code: 'EDITION_NOT_FOUND' })
  })

  it('costs a device where nothing is made no database', async () => {
    const offline = await device(NOWHERE)
    assert.deepEqual([await offline.edits.list(), offline.edits.databases(), await offline.edits.get('osm', '2024')], [[], [], undefined])
    await offline.edits.removeArrived('osm')
    const names = []
    offline.open = name => { names.push(name); throw new Error('opened') }
    await offline.edits.list()
    assert.deepEqual(names, [])
  })

  it('tells whoever shows the layer', async () => {
    const { offline, edition } = await begin(2024)
    const told = []
    offline.on('tiles', ({ layer, area }) => told.push([layer, area]))
    await edition.put(5, 1, 2, png(1))
    await edition.remove(5, 1, 2)
    await edition.discard()
    assert.deepEqual(told, [['osm', undefined], ['osm', undefined], ['osm', undefined]])
  })

  it('is right whatever is made, taken back and discarded, by two at once', async function () {
    this.timeout(60000)
    const step = fc.record({
      does: fc.constantFrom('put', 'put', 'put', 'gone', 'remove', 'discard'), x: fc.nat(1), year: fc.integer({ min: 2020, max: 2023 }), image: fc.nat(3)
    })
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 25, size: 'max' }), async steps => {
      const offline = await device(NOWHERE)
      const model = new Map()
      for (let at = 0; at < steps.length; at += 2) {
        // two calls at once, of different tiles or times
        const pair = steps.slice(at, at + 2).filter((one, index, [first]) => !index || (one.does !== 'discard' && first.does !== 'discard' && [one.x, one.year].join() !== [first.x, first.year].join()))
        await Promise.all(pair.map(async ({ does, x, year, image }) => {
          const edition = await offline.edits.begin({ layer: 'osm', time: T(year) })
          const key = `osm:5:${x}:0 ${T(year)}`
          if (does === 'put') await edition.put(5, x, 0, png(image))
          if (does === 'gone') await edition.gone(5, x, 0)
          if (does === 'remove') assert.equal(await edition.remove(5, x, 0), model.has(key))
          if (does === 'discard') await edition.discard()
          if (does === 'put') model.set(key, digestOf(png(image)))
          else if (does === 'gone') model.set(key, '')
          else for (const known of [...model.keys()]) if (does === 'remove' ? known === key : known.endsWith(T(year))) model.delete(known)
        }))
        check(await madeOn(offline), model)
      }
      await offline.close()
    }), { numRuns: RUNS, seed: SEED })
  })
})

/** A tile store as any other, with what the model says. */
function check (tiles, model) {
  const found = new Map()
  for (const [id, versions] of tiles) {
    const newest = versions[versions.length - 1]
    for (const { _id, _conflicts, time, current, gone, _attachments: { tile } = {} } of versions) {
      assert.equal(_conflicts, undefined)
      assert.equal(current, time === newest.time, `${_id} is the head`)
      assert.deepEqual([parseTileId(_id).time, Boolean(gone)], [current ? undefined : time, !tile], _id)
      if (tile) assert.equal(inspectTile(Buffer.from(tile.data, 'base64')).type, 'image/png')
      found.set(`${id} ${time}`, tile?.digest ?? '')
    }
  }
  assert.deepEqual([...found].sort(), [...model].sort())
}
