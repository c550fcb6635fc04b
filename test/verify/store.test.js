// Tests the check of a layer in a store: tiles, documents, editions and styles, with each kind of damage.
import assert from 'node:assert/strict'
import { load } from '../../loader/load/index.js'
import { loadDemo } from '../../server/demo/index.js'
import { plant } from '../check/damage.js'
import { onEachStore } from '../support/backends.js'
import { withStore } from '../support/exports.js'
import { document, findings, image, tile, undecodable, vectorTile } from '../support/sample-tiles.js'
import { publishFunctions } from '../support/published.js'
import { useStore } from '../support/store.js'

const [T1, T2, T3] = ['2021-06-01T00:00:00Z', '2022-06-01T00:00:00Z', '2023-06-01T12:30:00Z']
const LAYER = { minzoom: 3, maxzoom: 8, bounds: [-180, -85, 180, 85], format: 'png' }

onEachStore('verify of a layer', backend => {
  let store
  useStore(backend, { async fill (newStore) {
    store = newStore
    await store.defineLayer('osm', LAYER)
  } })

  const write = async (...docs) => {
    const answers = await store.couch.bulk(await Promise.all(docs))
    assert.deepEqual(answers.filter(({ error }) => error), [])
  }
  const check = options => findings({ store, layer: 'osm' }, options)

  it('finds nothing in a sound layer with past and gone versions', async () => {
    for (const [time, seed] of [[T1, 1], [T2, 50], [T3, 100]]) {
      const versions = await Promise.all(
        Array.from({ length: 40 }, async (_, y) => ({ layer: 'osm', z: 8, x: 3, y, time, bytes: await tile(seed + y) }))
      )
      await store.write(versions.filter(({ y }) => time === T1 || y % 2))
    }
    await store.write([{ layer: 'osm', z: 8, x: 3, y: 4, time: T2, gone: true }])
    await publishFunctions(store)
    const { summary, said } = await check()
    assert.deepEqual(said, [])
    const { kind, tiles, checked, faults, warnings } = summary
    assert.deepEqual({ kind, tiles, faults, warnings }, { kind: 'layer', tiles: 40, faults: 0, warnings: 0 })
    assert.deepEqual(checked, {
      documents: 81, gone: 1, contents: 80, decoded: 80, editions: 0,
      index: true, layer: true, manifests: 0, blocks: 0, types: { 'image/png': 80 }
    })
  })

  it('finds nothing in the demo', () => withStore(backend, async demo => {
    await loadDemo(demo, { zooms: { min: 0, max: 3 }, hours: 3, surveys: 0 })
    await publishFunctions(demo)
    for (const layer of ['land', 'daylight']) {
      const { summary, said } = await findings({ store: demo, layer })
      assert.deepEqual([said, summary.tiles, summary.checked.index], [[], 85, true], layer)
    }
  }))

  it('accepts images and vector tiles of every format', async () => {
    const bytes = [await tile(1), await image('jpeg'), await image('webp'), await image('avif'), vectorTile()]
    await store.write(bytes.map((content, y) => ({ layer: 'osm', z: 3, x: 0, y, time: T1, bytes: content })))
    const { said, summary } = await check()
    assert.deepEqual([said, summary.checked.decoded, Object.keys(summary.checked.types).length], [[], 5, 5])
  })

  const HEAD = 'osm:3:1:0'
  const PAST = `${HEAD}@${T1}`
  const head = (fields, bytes) => document(HEAD, fields, bytes)
  const past = (fields, time = T1) => document(`${HEAD}@${time}`, fields, tile(2))
  const withThumb = async () => {
    const data = (await tile(1)).toString('base64')
    const thumb = { content_type: 'text/plain', data: '' }
    return head({ _attachments: { tile: { content_type: 'image/png', data }, thumb } })
  }
  const withoutBytes = async () => (
    { ...await head({}, null), _attachments: { tile: { content_type: 'image/png', data: '' } } }
  )

  /** Damaged documents, after the finding that each of them must give. */
  const damage = {
    'an id outside the pyramid': ['bad-id osm:3:9:0', document('osm:3:9:0')],
    'an id with an invalid time': [`bad-id ${HEAD}@soon`, head(), past({ time: T1 }, 'soon')],
    'a document of another type': [`not-a-tile ${HEAD}`, head({ type: 'note' })],
    'fields that disagree with the id': [`fields-disagree ${HEAD}`, head({ x: 2 })],
    'a field that names another layer': [`fields-disagree ${HEAD}`, head({ layer: 'relief' })],
    'a head that is not current': [`wrong-current ${HEAD}`, head({ current: false })],
    'a past version that is current': [`wrong-current ${PAST}`, head(), past({ current: true })],
    'an invalid time': [`bad-time ${HEAD}`, head({ time: '2022-06-01' })],
    'an invalid expiry time': [`bad-time ${HEAD}`, head({ expires: 'tomorrow' })],
    'a version of a future time': [`future-time ${HEAD}`, head({ time: '2999-01-01T00:00:00Z' })],
    'a version that was stored in the future': [`odd-time ${HEAD}`, head({ stored: '2999-01-01T00:00:00Z' })],
    'a past version of another time than its id': [
      `time-disagrees ${PAST}`, head(), past({ time: '2020-01-01T00:00:00Z' })
    ],
    'a gone version with bytes': [`gone-with-bytes ${HEAD}`, head({ gone: true })],
    'a version that neither is gone nor has bytes': [`no-bytes ${HEAD}`, head({}, null)],
    'a second attachment': [`stray-attachment ${HEAD}`, withThumb()],
    'a past version without a head': [`no-head ${HEAD}`, document(PAST)],
    'a head older than the past': [`head-too-old ${HEAD}`, head({ time: T1 }), past({}, T3)],
    'two contents at one time': [`two-at-one-time ${HEAD}`, head(), past({}, T2)],
    'a tile outside of the zooms': ['outside-zooms osm:9:1:200', document('osm:9:1:200')],
    'a tile that cannot be decoded': [`undecodable-tile ${HEAD}`, head({}, undecodable(1))],
    'a tile that is cut off': [`truncated-tile ${HEAD}`, head({}, tile(1).then(bytes => bytes.subarray(0, 90)))],
    'an error page': [`unknown-format ${HEAD}`, head({}, Promise.resolve(Buffer.from('<html>')))],
    'a tile without bytes': [`empty-tile ${HEAD}`, withoutBytes()],
    'a content type that disagrees with the bytes': [`wrong-type ${HEAD}`, head({}, image('webp'))],
    'a tile of another size': [`odd-size ${HEAD}`, head({}, tile(1, 300))]
  }
  for (const [name, [expected, ...docs]] of Object.entries(damage)) {
    it(`finds ${name}, and nothing else`, async () => {
      await write(document('osm:3:0:0'), document('osm:3:7:7'), ...docs)
      const { said, summary } = await check()
      assert.deepEqual(said, [expected])
      const isWarning = summary.first[0].level === 'warning'
      assert.deepEqual([summary.faults, summary.warnings], isWarning ? [0, 1] : [1, 0])
    })
  }

  it('accepts tiles of twice the size, or of the size that the layer states', async () => {
    await write(document('osm:3:0:0', {}, tile(1, 512)))
    assert.deepEqual((await check()).said, [])
    await store.defineLayer('osm', { tileSize: 300 })
    await write(document('osm:3:0:1', {}, tile(1, 300)))
    assert.deepEqual((await check()).said, ['odd-size osm:3:0:0'])
  })

  it('finds tiles outside of the bounds, but not those that the bounds touch', async () => {
    await store.defineLayer('osm', { minzoom: 0, bounds: [10, 10, 20, 20] })
    await write(document('osm:0:0:0'), document('osm:3:4:3'), document('osm:3:0:0'))
    assert.deepEqual((await check()).said, ['outside-bounds osm:3:0:0'])
  })

  it('finds conflicts that replication left', async () => {
    const doc = await document('osm:3:1:0')
    await plant(store, ['a', 'b'].map(letter => letter.repeat(32))
      .map(id => ({ ...doc, _rev: `1-${id}`, _revisions: { start: 1, ids: [id] } })))
    assert.deepEqual((await check()).said, ['conflict osm:3:1:0'])
  })

  it('finds invalid fields of the layer document, and that the document is missing', async () => {
    await write(document('osm:3:1:0'))
    const doc = await store.couch.get('layer:osm')
    await store.couch.put({
      ...doc, minzoom: 9, maxzoom: 3, ttl: -1, colour: 'red', later: 'x'.repeat(5000),
      bounds: [0, 80, 10, 20], upstream: { url: 'here' }
    })
    const { found } = await check()
    assert.deepEqual(found.filter(({ code }) => code === 'bad-layer').map(({ why }) => why.split(' ')[1]).sort(),
      ['9', 'bounds', 'later', 'ttl', 'upstream:'])
    await store.couch.update('layer:osm', ({ _id, _rev }) => ({ _id, _rev, _deleted: true }))
    assert.deepEqual((await check()).said, ['no-layer layer:osm'])
  })

  it('finds invalid, failed, short and unfinished editions', async () => {
    const source = { name: 's', fields: {}, close () {}, async * tiles () {
      for (let y = 0; y < 4; y++) yield { z: 3, x: 0, y, read: () => tile(y) }
    } }
    await load(store, source, { layer: 'osm', time: T1 })
    assert.deepEqual((await check()).said, [], 'a load leaves none behind')
    const sound = await store.couch.get(`edition:osm@${T1}`)
    const edition = (time, fields) =>
      ({ ...sound, _id: `edition:osm@${time}`, _rev: undefined, run: undefined, root: undefined, time, ...fields })
    await write(
      edition('2020-01-01T00:00:00Z', { tiles: 9 }), edition('2020-01-02T00:00:00Z', { created: -1 }),
      edition('2020-01-03T00:00:00Z', { layer: 'b' }),
      edition('2020-01-04', {}), edition('2020-01-05T00:00:00Z', { finished: undefined }),
      edition('2020-01-06T00:00:00Z', { failed: 2, tiles: 6, created: 0, unchanged: 4 }),
      edition('2020-01-07T00:00:00Z', {})
    )
    assert.deepEqual((await check()).said, [
      ...['01T00:00:00Z', '02T00:00:00Z', '03T00:00:00Z', '04'].map(day => `bad-edition edition:osm@2020-01-${day}`),
      'failed-edition edition:osm@2020-01-06T00:00:00Z', 'short-edition edition:osm@2020-01-07T00:00:00Z',
      'unfinished-edition edition:osm@2020-01-05T00:00:00Z'
    ])
  })

  it('fails for a missing layer, and finds invalid styles, but nothing in a layer without tiles', async () => {
    await assert.rejects(findings({ store, layer: 'relief' }), { code: 'LAYER_NOT_FOUND' })
    await assert.rejects(findings({ store, layer: 'Relief' }), { code: 'BAD_LAYER' })
    assert.deepEqual((await check()).said, [], 'one without tiles is not wrong')
    const empty = { version: 8, sources: {}, layers: [] }
    const style = (time, fields) =>
      ({ _id: `style:osm@${time}`, type: 'style', layer: 'osm', time, style: empty, ...fields })
    await write(style(T1, {}), style('2020-01-01T00:00:00Z', { style: 5 }),
      style('2020-01-02T00:00:00Z', { layer: 'b' }), style('2020-01-03', {}))
    assert.deepEqual((await check()).said,
      ['01T00:00:00Z', '02T00:00:00Z', '03'].map(day => `bad-style style:osm@2020-01-${day}`))
  })
})
