// After random loads, in any order, every tree agrees with the store: now, for each edition and for each period.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { Store, exportTree } from '../../loader/index.js'
import { until } from '../../bench/wait.js'
import { onEachStore } from '../support/backends.js'
import { checkTidy, checkTrees, edition, tile, treesIn } from '../support/trees.js'
import { publishFunctions } from '../support/published.js'

const RUNS = +(process.env.TILECOUCH_FUZZ_RUNS ?? 4)
const SEED = +(process.env.TILECOUCH_SEED ?? 5)

const times = ['1912-04-15T00:00:00Z', '2021-12-31T23:59:59Z', '2022-01-01T00:00:00Z', '2022-03-01T00:00:00Z',
  '2022-03-01T12:00:00Z', '2022-03-31T23:59:59Z', '2023-01-01T00:00:00Z', '2023-07-01T00:00:00Z']
const places = fc.record(
  { x: fc.integer({ min: 0, max: 12 }), y: fc.constantFrom(0, 1,
    2, 9, 10, 11), seed: fc.option(fc.integer({ min: 0, max: 9 }), { freq: 4 }) }
)
const tiles = fc.uniqueArray(places, { minLength: 1, maxLength: 12, selector: ({ x, y }) => `${x}/${y}` })
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record(
    { kind: fc.constant('edition'), time: fc.constantFrom(...times), tiles, finished: fc.boolean() }
  ) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('tiles'), time: fc.constantFrom(...times, '2022-05-05T05:05:05Z', '2024-01-01T00:00:00Z'), tiles
    })
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete'), pick: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove edition'), pick: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('export') }) }
)

async function perform (store, { kind, time, tiles: stepTiles, finished, pick }) {
  const versions = stepTiles?.map(({ x, y, seed }) => tile(x, y, time, seed))
  if (kind === 'edition') {
    // versions for a time that is taken fail; the trees are compared with the store, not with the steps
    await store.putEdition('osm', time, { started: time, finished: undefined })
    await store.write(versions)
    if (finished) await store.putEdition('osm', time, { finished: time })
  }
  if (kind === 'tiles') await store.write(versions)
  if (kind === 'delete' || kind === 'remove edition') {
    const prefix = kind === 'delete' ? 'osm:' : 'edition:osm@'
    const { rows } =
      await store.couch.request({ path: '_all_docs', qs: { startkey: prefix, endkey: `${prefix}\ufff0` } })
    const { id, value } = rows[pick % rows.length] ?? {}
    if (id) await store.couch.request({ method: 'DELETE', path: encodeURIComponent(id), qs: { rev: value.rev } })
  }
}

/** Checks that every finished edition has a tree, and every period a link unless a later single write is in it. */
async function checkPlan (store, folder) {
  const editions = await store.editions('osm')
  const { trees, links } = treesIn(folder)
  for (const { time, finished } of editions) if (finished) assert.ok(trees.includes(time), `a tree for ${time}`)
  for (const time of trees) {
    assert.ok(time === '' || editions.some(edition_ => edition_.time === time), `no tree for ${time}`)
  }
  for (const time of trees.filter(Boolean)) {
    const isSpoilt = (await store.times('osm'))
      .some(({ time: otherTime }) => otherTime > time && otherTime.startsWith(time.slice(0, 4)) &&
        !editions.some(entry => entry.time === otherTime))
    if (!isSpoilt) assert.ok(links.includes(time.slice(0, 4)), `a link for ${time.slice(0, 4)}`)
  }
}

/** Finishes all editions: only then does a period show the same as the store. */
const finishAll = async store => {
  for (const { time, finished } of await store.editions('osm')) {
    if (!finished) await store.putEdition('osm', time, { finished: time })
  }
}

onEachStore('trees after random loads', backend => {
  for (const follow of [false, true]) {
    it(`agree with the store, ${follow ? 'while they follow' : 'run by run'}`, async () => {
      await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 8 }), async steps => {
        const dir = mkdtempSync(path.join(tmpdir(), 'tilecouch-model-'))
        const url = await backend.database()
        const store = await Store.create(url)
        await store.defineLayer('osm', { format: 'png' })
        await publishFunctions(store)
        await edition(store, [tile(0, 0, times[3], 1)])
        const stop = new AbortController()
        let following
        try {
          if (follow) {
            const states = []
            following = exportTree(store, 'osm', dir,
              { follow, signal: stop.signal, onState: ({ state }) => states.push(state), limits: { gather: 5 } })
            following.catch(() => {})
            await until(() => states.includes('following'))
          }
          for (const action of steps) {
            if (action.kind !== 'export') await perform(store, action)
            else if (!follow) await exportTree(store, 'osm', dir)
          }
          await finishAll(store)
          if (!follow) await exportTree(store, 'osm', dir)
          // after a removal, a new image for the same time gets the next second as its file time
          const moved = steps.some(({ kind }) => kind === 'delete' || kind === 'remove edition')
          const check = async () => {
            await checkTrees(url, dir, { moved })
            await checkPlan(store, dir)
          }
          if (follow) {
            let error
            await until(() => check().then(() => true, reason => { error = reason }), { every: 100, timeout: 20000 })
              .catch(() => { throw error })
            stop.abort()
            await following
          } else await check()
          checkTidy(dir)
        } finally {
          stop.abort()
          await following?.catch(() => {})
          await store.destroy()
          rmSync(dir, { recursive: true, force: true })
        }
      }), { numRuns: RUNS, seed: SEED, endOnFailure: follow })
    }).timeout(300000)
  }
})
