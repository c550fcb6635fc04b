// A removal that is killed before each of its requests to write, and run again. It completes, and no other version is
// lost.
import assert from 'node:assert/strict'
import { removeEdition, removeLayer, removeTiles } from '../../loader/maintain/remove/index.js'
import { onEachStore } from '../support/backends.js'
import { HISTORY, STEP, dyingStore, historyOf, useStage, without } from '../support/removals.js'
import { yearStart } from '../support/tiles.js'

const limits = { ...(process.env.TILECOUCH_LONG && { batch: 6 }) }

onEachStore('a removal that is killed', backend => {
  let store, url, reset
  useStage(backend, stage => ({ store, url, reset } = stage))

  const cases = {
    'of the newest edition': [own => removeEdition(own, 'osm', yearStart(2022), { limits }),
      (tile, year) => year === '2022'],
    'of all but the first edition': [own => removeTiles(own, 'osm', { since: '2021', limits }),
      (tile, year) => year > '2020'],
    'of a layer': [own => removeLayer(own, 'osm', { limits }), () => true]
  }
  for (const [title, [remove, isRemoved]] of Object.entries(cases)) {
    it(`${title}, before any of its writes, is completed by the next removal`, async () => {
      for (let writes = 0, isDead = true; isDead; writes += STEP) {
        const { store: dyingCopy, life } = await dyingStore(url, writes)
        await remove(dyingCopy).catch(error => assert.equal(life.isDead, true, error.stack))
        isDead = life.isDead
        assert.ok(writes < 60, 'it comes to an end')
        const between = await historyOf(url) // every tile has its head, or no documents
        const remaining = without(HISTORY, isRemoved)
        for (const [tile, years] of Object.entries(remaining)) {
          assert.deepEqual({ ...years, ...between[tile] }, between[tile], `${tile} after ${writes} writes`)
        }
        await remove(store).catch(error => assert.equal(error.code, 'LAYER_NOT_FOUND'))
        assert.deepEqual(await historyOf(url), remaining, `killed after ${writes} writes`)
        await reset()
      }
    }).timeout(120000)
  }
})
