// Random histories of a layer on real stores: loads in any order of their times, complete or not, repeated, two at
// once, killed and run again; single writes, removals, expired tiles, corrections for the same time, styles, copies
// into another layer and back, moves beside loads, mirrors both ways, of parts and in pieces, repairs, retention. A
// small model computes what every tile shows at every time. Every reader is compared with it.
import fc from 'fast-check'
import { Store } from '../../loader/index.js'
import { startGateway } from '../../server/gateway/index.js'
import { publishFunctions } from '../support/published.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { PLACES } from './readers.js'
import { PARTS, World, YEARS } from './world.js'
import { yearStart } from '../support/tiles.js'

const LONG = Boolean(process.env.TILECOUCH_LONG)
const RUNS = +(process.env.TILECOUCH_HISTORIES ?? (LONG ? 300 : 10))
const SEED = +(process.env.TILECOUCH_SEED ?? 16)
const DEAR = LONG ? 3 : 4 // histories per comparison of exports, backups and devices
const RENEWED = 25 // histories until the stores are created again

const places = fc.constantFrom(...PLACES.map(({ name }) => name))
const image = fc.nat(2)
const full = fc.dictionary(places, image, { minKeys: 1, maxKeys: 5 })
const part = fc.dictionary(places, fc.option(image, { freq: 3 }), { minKeys: 1, maxKeys: 4 })
const oneOfTwo = fc.nat(1)
const kill =
  fc.option(fc.record({ writes: fc.nat(8), how: fc.constantFrom('refused', 'lost', 'aborted') }), { freq: 2 })
const partName = fc.constantFrom(...Object.keys(PARTS))
// each time gets one edition, unless that one was removed: the year is the next free one of a shuffled list
const edition = fc.oneof(
  { weight: 3, arbitrary: fc.record({ tiles: full, complete: fc.boolean(), kill }) },
  { weight: 1, arbitrary: fc.record({ tiles: part, complete: fc.constant(false), kill }) }
)
const write = { at: oneOfTwo, name: places, image: fc.option(image, { freq: 4 }), kill, expires: fc.boolean() }

/**
 * The kinds of steps with their weights and details. Each kind is a method of the world.
 * @type {[string, number, object][]}
 */
const kinds = [
  ['load', 8, { at: oneOfTwo, edition }],
  ['together', 2, { at: oneOfTwo, two: fc.tuple(edition, edition) }],
  ['apart', 1, { two: fc.tuple(edition, edition) }],
  ['again', 2, { at: oneOfTwo, which: fc.nat(9) }],
  ['write', 3, write],
  ['remove', 3, { at: oneOfTwo, which: fc.nat(9), kill }],
  ['expire', 1, { at: oneOfTwo, kill }],
  ['mirror', 3, { ways: fc.constantFrom('both', 'there', 'back') }],
  ['part', 2, { at: oneOfTwo, name: partName }],
  ['pieces', 1, { at: oneOfTwo, every: fc.integer({ min: 1, max: 2 }) }],
  ['edge', 1, { at: oneOfTwo, name: partName }],
  ['copy', 1, { at: oneOfTwo, across: fc.boolean(), kill }],
  ['copyBack', 1, { at: oneOfTwo }],
  ['move', 1, { at: oneOfTwo, edition, kill }],
  ['look', 2, {}], // readers keep state from one comparison to the next
  ['prune', 1, { at: oneOfTwo, last: fc.integer({ min: 1, max: 3 }) }],
  ['style', 2, { at: oneOfTwo, which: oneOfTwo }],
  ['fix', 1, { at: oneOfTwo }]
]
const steps = fc.oneof(
  ...kinds.map(([kind, weight, details]) => ({ weight, arbitrary: fc.record({ does: fc.constant(kind), ...details }) }))
)
const histories = fc.record({
  years: fc.shuffledSubarray(YEARS, { minLength: YEARS.length }),
  steps: fc.array(steps, { minLength: 3, maxLength: 14, size: 'max' })
})

onEachStore(`random histories of a layer (${RUNS}, seed ${SEED})`, backend => {
  const folder = useFolder()
  const opened = /** @type {{stores: Store[], gateways: any[]}} */ ({ stores: [], gateways: [] })
  const close = async () => {
    for (const gateway of opened.gateways.splice(0)) await gateway.close()
    for (const store of opened.stores.splice(0)) await store.destroy()
  }
  afterEach(close)

  async function newWorld () {
    await close()
    const urls = [await backend.database(), await backend.database()]
    for (const url of urls) {
      const store = await Store.create(url)
      opened.stores.push(store)
      await publishFunctions(store)
      opened.gateways.push(await startGateway({ db: url, port: 0, viewer: false, logLevel: 'silent' }))
    }
    return new World(urls, opened.gateways.map(({ url }) => url), folder.dir, () => backend.database())
  }

  it('are shown by every reader as the model says', async function () {
    this.timeout(60000 + RUNS * 20000)
    this.slow(60000)
    let world
    let historyCount = 0
    await fc.assert(fc.asyncProperty(histories, async ({ years, steps: historySteps }) => {
      if (historyCount % RENEWED === 0) world = await newWorld()
      world.begin(historyCount++ % DEAR === 0)
      const freeTimes = years.map(yearStart)
      for (const step of historySteps) await world.play(step, freeTimes)
      await world.check()
    }),
    { seed: SEED, numRuns: RUNS, path: process.env.TILECOUCH_PATH, endOnFailure: Boolean(
      process.env.TILECOUCH_NO_SHRINK
    ) })
  })
})
