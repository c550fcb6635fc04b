import assert from 'node:assert/strict'
import { SCHEMA } from '../../loader/store/marker.js'
import { check } from '../../loader/check/index.js'
import { ownDesigns } from '../../loader/couchapp/compose.js'
import { steps, upgrade } from '../../loader/check/upgrade.js'
import { publish } from '../../loader/couchapp/publish.js'
import { BY_TILE } from '../../loader/store/reader.js'
import { Store } from '../../loader/store/index.js'
import { json, onEachStore, request } from '../support/backends.js'
import { document, tile } from '../support/sample-tiles.js'

describe('the steps from schema to schema', () => {
  it('lead from the first schema to the current one without a gap', () => {
    assert.deepEqual(steps.map(({ from }) => from), Array.from({ length: SCHEMA }, (_, from) => from))
    for (const { name, does } of steps) assert.ok(name && does)
  })
})

onEachStore('a store of an earlier release', backend => {
  let url, store

  /** As an earlier program left it: no mark, design documents of its own, and one that is missing. */
  before(async function () {
    this.timeout(60000)
    url = await backend.database()
    await request(url, { method: 'PUT' })
    const docs = await Promise.all(Array.from({ length: 6 }, async (_, y) => document(`osm:3:1:${y}`, {}, tile(y))))
    const designs = structuredClone(await ownDesigns())
      .map(({ _attachments, ...doc }) => ({ ...doc, version: 'of yesterday' }))
    const versions = designs.find(({ _id }) => _id === '_design/versions')
    const { by_tile: byTile, by_time: byTime, by_area: byArea, by_zoom: byZoom, conflicts, expiring } = versions.views
    versions.views = { by_tile: byTile, by_time: byTime }
    designs.push(...Object.entries({ sizes: { by_area: byArea, by_zoom: byZoom }, lifecycle: { conflicts, expiring } })
      .map(([name, views]) => ({ ...versions, _id: `_design/${name}`, views })))
    versions.views.by_tile.map = versions.views.by_tile.map.replace('gone: !image', 'gone: image ? false : true')
    await json(`${url}/_bulk_docs`,
      { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(
        { docs: [...docs, { _id: 'layer:osm', type: 'layer', layer: 'osm', minzoom: 3, maxzoom: 3 }, ...designs] }
      ) })
    store = await Store.open(url)
  })
  after(() => store.destroy())

  const state = async () => parseInt((await store.info()).update_seq)

  it('is unchanged by a dry run, which lists what to do', async () => {
    const before = await state()
    const { from, to, steps: todo, designs } = await upgrade(store, { dryRun: true })
    assert.deepEqual([from, to, todo.map(({ name, done }) => [name, done])], [0, SCHEMA, [['mark', false]]])
    assert.deepEqual(designs.map(({ id, action }) => [id, action]), [
      ['_design/versions', 'changed'], ['_design/tiles', 'changed'],
      ['_design/lifecycle', 'removed'], ['_design/sizes', 'removed']
    ])
    assert.equal(await state(), before)
  })

  it('is upgraded while it is read, keeps its security and has no faults afterwards', async function () {
    this.timeout(60000)
    const security = await store.security()
    const served = []
    let isOver = false
    const reading = (async () => {
      while (!isOver) {
        served.push((await store.couch.view(BY_TILE, { startkey: ['osm'], endkey: ['osm', {}], reduce: false })).length)
      }
    })()
    const summary = await upgrade(store).finally(() => { isOver = true })
    await reading
    assert.deepEqual([summary.steps.map(({ done }) => done),
      summary.designs.filter(({ action }) => action === 'unchanged')], [[true], []])
    assert.ok(served.length > 1 && served.every(rows => rows === 6), `${served}`)
    const again = await upgrade(store)
    assert.deepEqual([again.from, again.steps, again.designs.every(({ action }) => action === 'unchanged')],
      [SCHEMA, [], true])
    assert.deepEqual((await check(store)).kinds, {})
    await publish(store)
    assert.deepEqual(await store.security(), security, 'a push does not open it')
  })

  it('is refused if its schema is newer than the program', async () => {
    await store.couch.update('tilecouch', doc => ({ ...doc, schema: SCHEMA + 1 }))
    await assert.rejects(Store.open(url), { code: 'CONFIG_INVALID' })
    await store.couch.update('tilecouch', doc => ({ ...doc, schema: SCHEMA }))
  })

  it('gets no design documents if it was never published', async () => {
    const filling = await Store.create(await backend.database(), { public: false })
    try {
      assert.deepEqual(await upgrade(filling),
        { from: SCHEMA, to: SCHEMA, steps: [], designs: [], skipped: 'the store was never published' })
      assert.equal(await filling.couch.get('_design/tiles'), undefined)
    } finally {
      await filling.destroy()
    }
  })
})
