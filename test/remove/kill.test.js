// A removal that is killed before any of its requests to write, and run again: done, and nothing is lost that was not to go.
import assert from 'node:assert/strict'
import { endCopies, removeEdition, removeLayer, removeTiles } from '../../loader/remove/index.js'
import { JOURNAL } from '../../loader/remove/journal.js'
import { onEachStore } from '../support/backends.js'
import { HISTORY, STEP, T, dyingStore, historyOf, keeperOf, storeOf, without } from './stage.js'

const limits = { grace: 0, ...(process.env.TILECOUCH_LONG && { batch: 6 }) }

onEachStore('a removal that is killed', backend => {
  /** @type {import('../../loader/store/index.js').Store} */
  let store
  let url
  let reset
  before(async function () {
    this.timeout(60000)
    url = await backend.database()
    store = await storeOf(url)
    reset = await keeperOf(store)
  })
  after(() => store.destroy())

  const cases = {
    'of the newest edition': [own => removeEdition(own, 'osm', T(2022), { limits }), (tile, year) => year === '2022'],
    'of all but the first edition': [own => removeTiles(own, 'osm', { since: '2021', limits }), (tile, year) => year > '2020'],
    'of a layer': [own => removeLayer(own, 'osm', { limits }), () => true]
  }
  for (const [what, [remove, isDoomed]] of Object.entries(cases)) {
    it(`${what}, before any of its writes, goes on the next time`, async function () {
      this.timeout(120000)
      for (let writes = 0, isDead = true; isDead; writes += STEP) {
        const { store: dying, life } = await dyingStore(url, writes)
        await remove(dying).catch(error => assert.equal(life.isDead, true, error.stack))
        isDead = life.isDead
        assert.ok(writes < 60, 'it comes to an end')
        const between = await historyOf(url, { settled: false }) // every tile has its head, or nothing
        const stays = without(HISTORY, isDoomed)
        for (const [tile, years] of Object.entries(stays)) assert.deepEqual({ ...years, ...between[tile] }, between[tile], `${tile} after ${writes} writes`)
        await remove(store).catch(error => assert.equal(error.code, 'LAYER_NOT_FOUND'))
        assert.deepEqual(await historyOf(url), stays, `killed after ${writes} writes`)
        assert.deepEqual(Object.keys((await store.couch.get(JOURNAL))?.runs ?? {}), [])
        await reset()
      }
    })
  }

  it('while it ends a copy, when a load overwrote the head in the meantime: the version is put back by the next', async () => {
    const id = 'osm:4:1:4'
    await removeTiles(store, 'osm', { since: '2022', limits })
    const head = await store.couch.get(id)
    const { _id, _rev, _attachments, ...fields } = head
    const { bytes } = await store.head('osm', 4, 1, 4)
    const copyOf = async () => store.couch.bulk(JSON.stringify({ docs: [{ ...fields, _id: `${id}@${head.time}`, current: false, _attachments: { tile: { content_type: 'image/png', data: bytes.toString('base64') } } }] }))
    await copyOf()
    // note, deletion of the copy, and then nothing more
    const { store: dying } = await dyingStore(url, 2)
    await assert.rejects(endCopies(dying, [id]), { code: 'KILLED' })
    assert.equal(await store.couch.get(`${id}@${head.time}`), undefined)
    // the second step of a load that had looked before
    const [answer] = await store.couch.bulk(JSON.stringify({ docs: [{ ...fields, _id: id, _rev, time: T(2024), gone: true }] }))
    assert.ok(answer.rev)
    await removeEdition(store, 'osm', T(1999), { limits })
    assert.ok((await store.at('osm', 4, 1, 4, T(2021))).bytes.equals(bytes))
    await reset()
  })
})
