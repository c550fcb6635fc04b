// Loads and other removals that come in between: no version is lost that was not to go, and every invariant holds.
import assert from 'node:assert/strict'
import { removeEdition, removeTiles } from '../../loader/maintain/remove/index.js'
import { onEachStore } from '../support/backends.js'
import { png } from '../support/tiles.js'
import { HISTORY, STEP, T, Z, docsOf, historyOf, interruptedStore, useStage, without } from '../support/removals.js'

const limits = {}
const LATER = '2021-06-01T00:00:00Z'
const ID = `osm:${Z}:1:4`
const newest = { layer: 'osm', z: Z, x: 1, y: 4, time: T(2023), bytes: png(40) }

const isWrite = ({ path }) => path === '_bulk_docs'
/** The second step of a load. */
const overwritesHead = asked => docsOf(asked).some(({ _id, _rev, _deleted }) => _id === ID && _rev && !_deleted)
/** The n-th request that writes documents. */
const nth = number => asked => isWrite(asked) && number-- === 0

onEachStore('while something is removed', backend => {
  let store, url, reset
  useStage(backend, stage => ({ store, url, reset } = stage))

  describe('a load is between its two steps', () => {
    const loadAround = async (others, done = 'advanced') => {
      const { store: loading, moment } = await interruptedStore(url, overwritesHead, others)
      const summary = await loading.write([newest])
      assert.deepEqual([moment.come, summary[done], summary.failed], [true, 1, 0])
    }

    it('and the head falls back: the removed version does not return, and the load stays', async () => {
      await loadAround(() => removeEdition(store, 'osm', T(2022), { limits }))
      const left = without(HISTORY, (tile, year) => year === '2022')
      assert.deepEqual(await historyOf(url), { ...left, '1/4': { ...left['1/4'], 2023: 40 } })
    })

    it('and the tile is removed: only the load stays', async () => {
      await loadAround(() => removeTiles(store, 'osm', { only: [newest], limits }), 'created')
      assert.deepEqual(await historyOf(url), { ...HISTORY, '1/4': { 2023: 40 } })
    })
  })

  const tiles = Object.keys(HISTORY).map(tile => tile.split('/').map(Number))
  const loadsOf = (time, seed) => tiles.map(([x, y]) => ({ layer: 'osm', z: Z, x, y, time, bytes: png(seed) }))
  const others = {
    'a load of a newer time': { run: () => store.write(loadsOf(T(2023), 41)), adds: { 2023: 41 } },
    'a load of an older time': { run: () => store.write(loadsOf(LATER, 42)), adds: { '2021-06': 42 } },
    'another removal': { run: () => removeEdition(store, 'osm', T(2021), { limits }), removes: '2021' }
  }
  const removals = {
    'the newest edition': [own => removeEdition(own, 'osm', T(2022), { limits }), (tile, year) => year === '2022'],
    'whole tiles': [own => removeTiles(own, 'osm', { only: tiles.map(([x, y]) => ({ z: Z, x, y })), limits }),
      () => true]
  }
  for (const [what, [remove, isRemoved]] of Object.entries(removals)) {
    for (const [who, { run, adds = {}, removes }] of Object.entries(others)) {
      it(`${who} before any write of removing ${what} loses no other version`, async function () {
        this.timeout(60000)
        for (let number = 0, come = true; come; number += STEP) {
          const { store: removing, moment } = await interruptedStore(url, nth(number), run)
          await remove(removing)
          come = moment.come
          const between = await historyOf(url)
          const stays = without(HISTORY, (tile, year) => isRemoved(tile, year) || year === removes)
          for (const [tile, years] of Object.entries(stays)) {
            for (const [year, seed] of Object.entries(years)) if (!(year in adds)) {
              assert.equal(between[tile]?.[year], seed, `${tile} of ${year}, before write ${number}`)
            }
          }
          if (come && what === 'the newest edition') for (const tile of Object.keys(HISTORY)) {
            for (const year of Object.keys(adds)) {
              assert.equal(between[tile]?.[year], adds[year], `${tile} of ${year}, before write ${number}`)
            }
          }
          await remove(store)
          if (removes) await run()
          const left = await historyOf(url)
          for (const tile of Object.keys(left)) {
            for (const year of Object.keys(left[tile])) {
              assert.ok(!isRemoved(tile, year) && (year in (stays[tile] ?? {}) || year in adds),
                `${tile} of ${year} is gone, before write ${number}`)
            }
          }
          await reset()
        }
      })
    }
  }
})
