// What has expired, and when: the command and the gateway have to say the same, to the second.
import assert from 'node:assert/strict'
import { expire } from '../../loader/maintain/expired/index.js'
import { entryOf } from '../../server/gateway/tiles/entry.js'
import { request, onEachStore } from '../support/backends.js'
import { HOUR, T, at, useExpiry } from '../support/expiry.js'

const upstream = { covers: () => true }

onEachStore('expired tiles', backend => {
  const map = useExpiry(backend)
  /** x -> what a tile says of itself; written first, so that another program may twist it */
  const tiles = [
    {}, // 0: only the ttl of its layer
    { expires: at(10) }, // 1: its own
    { expires: at(2 * HOUR) }, // 2: its own, later than the ttl
    { expires: at(-5) }, // 3: before it was stored
    { image: null } // 4: gone, alone
  ]
  const twisted = [
    { expires: 'soon' }, { expires: '2024-02-30T00:00:00Z' }, { expires: 12 },
    { expires: null }, { expires: '2024-03-01' },
    { stored: 'yesterday' }, { stored: undefined }, { stored: 7, expires: at(20) }, { stored: '2024-13-01T00:00:00Z' }
  ] // from 10 on

  /** As the gateway says it of every head of the layer. @param {number} now */
  async function gatewaySays (now, layer) {
    const { rows } = await map.store.couch.request({ path: '_all_docs', qs: { startkey: 'osm:', endkey: 'osm;' } })
    const found = await map.store.couch.docs(rows.map(({ id }) => id), { attachments: true })
    return found.map(({ doc }) => entryOf(doc).fit(layer, upstream))
      .filter(({ freshUntil, bytes }) => bytes && !(now < freshUntil)).map(({ id }) => id).sort()
  }

  const list = (options = {}) => expire(map.store, { action: 'remove', dryRun: true, ...options })
  const commandSays = async (now, options) => (await list({ now: () => now, layers: ['osm'], ...options }))
    .listed.map(({ id }) => id).sort()

  before(async function () {
    this.timeout(30000)
    await map.store.defineLayer('osm', { ttl: HOUR })
    await map.write(tiles.map((fields, x) => map.tile(x, fields)))
    await map.write(twisted.map((_, index) => map.tile(10 + index)))
    // a tile with a past that expired long ago, and one that is gone
    await map.write([map.tile(20, { image: 1, expires: at(1) }), map.tile(21, { image: 1, expires: at(1) })])
    await map.write(
      [map.tile(20, { time: at(5), image: 2 }), map.tile(21, { time: at(5), image: null, expires: at(30) })], at(5)
    )
    // nobody who validates lets other programs write nonsense: it is of before
    const { couch } = map.store
    const validation = await couch.get('_design/tiles')
    await couch.request({ method: 'DELETE', path: '_design/tiles', qs: { rev: validation._rev } })
    for (const [index, fields] of twisted.entries()) await map.twist(10 + index, fields)
  })

  it('are the same for the command and the gateway at every second', async () => {
    const doc = { ttl: HOUR }
    const moments = [-6, -5, -4, 0, 1, 9, 10, 11, 19, 20, 21, 30,
      HOUR - 1, HOUR, HOUR + 1, HOUR + 5, 2 * HOUR - 1, 2 * HOUR, 2 * HOUR + 1]
    const seen = new Set()
    for (const seconds of moments) {
      const says = await gatewaySays(Date.parse(at(seconds)), doc)
      assert.deepEqual(await commandSays(at(seconds)), says, `T + ${seconds} s`)
      seen.add(says.join())
    }
    assert.ok(seen.size >= 7, `the moments differ: ${seen.size}`)
    // the gateway's clock has milliseconds: a second is over when its last one is
    assert.deepEqual(await gatewaySays(Date.parse(at(10)) - 1, doc), await commandSays(at(9)))
    assert.deepEqual(await gatewaySays(Date.parse(at(10)) + 999, doc), await commandSays(at(10)))
  }).timeout(20000)

  it('follow the ttl of the layer; without a ttl only tiles with their own time expire', async () => {
    for (const ttl of [60, undefined, HOUR]) {
      await map.store.defineLayer('osm', { ttl: ttl ?? null })
      for (const seconds of [59, 60, HOUR, 9 * HOUR]) {
        const says = await gatewaySays(Date.parse(at(seconds)), { ttl })
        assert.deepEqual(await commandSays(at(seconds)), says, `ttl ${ttl}, T + ${seconds} s`)
      }
    }
  }).timeout(20000)

  it('are listed once each over several pages, without other layers', async () => {
    await map.store.defineLayer('other', { ttl: 1 })
    await map.write([map.tile(0, { expires: at(1) }, 'other'), map.tile(1, {}, 'other')])
    const all = await commandSays(at(9 * HOUR))
    assert.deepEqual(await commandSays(at(9 * HOUR), { limits: { page: 2 } }), all)
    assert.deepEqual(await commandSays(at(9 * HOUR), { limits: { page: 3 } }), all)
    assert.deepEqual(await commandSays(at(9 * HOUR), { layers: undefined }),
      [...all, 'other:6:0:0', 'other:6:1:0'].sort())
    const { expired, listed, gone } = await list({ now: () => at(9 * HOUR), layers: ['osm'], limit: 2 })
    assert.deepEqual([expired, listed.length, gone], [all.length, 2, 2], 'all are counted, some are listed')
    assert.deepEqual(await commandSays(at(9 * HOUR), { before: at(10) }), ['osm:6:3:0'])
    assert.equal((await commandSays(T, { before: at(11) })).length, 2, 'a dry run may look ahead')
  }).timeout(20000)

  it('cannot be listed without indexes, and the error names the command that builds them', async () => {
    const doc = await map.store.couch.get('_design/versions')
    await request(`${map.url}/_design/versions?rev=${doc._rev}`, { method: 'DELETE' })
    await assert.rejects(list(), { code: 'INDEX_MISSING', advice: /push/ })
    await assert.rejects(list({ layers: ['nowhere'] }), { code: 'LAYER_NOT_FOUND' })
  })
})
