// Random sequences of loads, backfills, gone tiles, editions, prunes, expiry, removals, separate masters and mirrors,
// each of which may be killed. After each step the store holds exactly what a model in memory holds.
import fc from 'fast-check'
import { onEachStore } from '../support/backends.js'
import { World, hour, idOf } from './world.js'

const RUNS = +(process.env.TILECOUCH_SEQUENCES ?? 4)
const SEED = +(process.env.TILECOUCH_SEED ?? 13999)
const TILES = 40 // number of places
const IMAGES = 4 // few images, so that versions come back

const images = fc.uniqueArray(fc.record({ tile: fc.nat(TILES - 1), image: fc.option(fc.nat(IMAGES - 1), { freq: 6 }) }),
  { selector: ({ tile }) => tile, minLength: 1, maxLength: 12 })
  .map(list => new Map(list.map(({ tile, image }) => [idOf(tile), image])))
const kill = fc.option(fc.record({ at: fc.nat(3), arrives: fc.boolean() }), { freq: 2 })
const policy = fc.record({
  last: fc.nat(2), hourly: fc.nat(2), daily: fc.nat(2), weekly: fc.nat(1), monthly: fc.nat(1),
  yearly: fc.nat(1), within: fc.constantFrom(0, 0, 7200), editions: fc.constantFrom(undefined, undefined, true)
}).filter(rules => Object.values(rules).some(Boolean))

const step = fc.oneof(
  {
    arbitrary: fc.record(
      { does: fc.constant('load'), passes: fc.integer({ min: 1, max: 40 }), loaded: images, holds: fc.option(
        fc.integer({ min: 1, max: 30 })
      ), kill }
    ), weight: 6
  },
  { arbitrary: fc.record(
    { does: fc.constant('edition'), passes: fc.integer({ min: 1, max: 40 }), loaded: images, kill }
  ), weight: 2 },
  { arbitrary: fc.record(
    { does: fc.constant('back'), ago: fc.integer({ min: 1, max: 80 }), loaded: images, kill }
  ), weight: 3 },
  { arbitrary: fc.record({ does: fc.constant('prune'), policy, kill }), weight: 3 },
  { arbitrary: fc.record({ does: fc.constant('expire'), kill }), weight: 2 },
  { arbitrary: fc.record({ does: fc.constant('removeEdition'), which: fc.nat(9), kill }), weight: 2 },
  { arbitrary: fc.record({ does: fc.constant('removeTiles'), column: fc.nat(2), kill }), weight: 1 },
  { arbitrary: fc.record({ does: fc.constant('resolve') }), weight: 1 },
  { arbitrary: fc.record({ does: fc.constant('apart'), here: images, there: images }), weight: 1 },
  { arbitrary: fc.record({ does: fc.constant('mirror') }), weight: 1 }
)

async function play (world, steps) {
  let now = 100 // hours
  for (const { does, ...fields } of steps) {
    const time = hour(now)
    if (does === 'load' || does === 'edition') {
      now += fields.passes
      await world[does]({ ...fields, time: hour(now), ...(fields.holds && { expires: hour(now + fields.holds) }) })
    } else if (does === 'back') await world.load({ ...fields, time: hour(now - fields.ago) })
    else if (does === 'removeEdition') {
      const moments = world.model.moments
      if (moments.length) await world.removeEdition({ ...fields, time: moments[fields.which % moments.length] })
    } else if (does === 'apart') await world.apart({ ...fields, time: hour(++now, 30) })
    else if (does === 'mirror') await world.compareMirror()
    else await world[does]({ ...fields, now: time })
    await world.compare()
  }
  await world.compareMirror()
}

onEachStore(`random lives of a store (seed ${SEED})`, backend => {
  it(`leave the same as a model in memory, in ${RUNS} runs`, async () => {
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14, size: 'max' }), async steps => {
      const world = await new World([await backend.database(), await backend.database()],
        { revpos: backend.name === 'CouchDB' }).open()
      try {
        await play(world, steps)
      } finally {
        await world.close()
      }
    }), { numRuns: RUNS, seed: SEED, endOnFailure: RUNS < 20, timeout: 120000 })
  }).timeout(60000 + RUNS * 20000)
})
