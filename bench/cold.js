// Measures maps whose tiles no cache holds: a view, then a pan by a part of a view, over a past edition, the present
// and a sparse layer; and single tiles. Compares the gateway with plain attachments of CouchDB, for the same tiles and
// client.
import { AS_OF, NEW, OLD } from './block.js'
import { deploy } from './history/data.js'
import { COUCH, GATEWAY, ROWS } from './cold/names.js'
import { People } from './cold/people.js'
import { LENGTH, LAYERS, bytesOf, placesOf, versionsOf } from './cold/tiles.js'
import { jumps, pans, regionsOf } from './cold/walks.js'
import { budget, median, percentiles } from './measure.js'
import { startGateway } from './programs/gateway.js'
import { newStore, stoppable } from './stoppable.js'

export async function run ({ server, quick, log }) {
  const scale = quick ? { rounds: 1, views: 15, singles: 60 } : { rounds: 5, views: 50, singles: 400 }
  const url = `${server}/bench_cold`
  return stoppable(log, async ({ signal, closing }) => {
    const store = await newStore(url, closing)
    const tiles = await fill(store, { signal })
    log(`${tiles} tiles of ${LENGTH} bytes`)
    return { ...scale, tiles, bytes: LENGTH, ...await measure(store, url, { ...scale, signal, log }) }
  })
}

/** @param {import('../loader/store/index.js').Store} store @returns {Promise<number>} tiles */
async function fill (store, { signal }) {
  let tiles = 0
  for (const layer of Object.values(LAYERS)) {
    const { name, z, times } = layer
    await store.defineLayer(name, { name: 'Tiles of a benchmark', format: 'png', minzoom: z, maxzoom: z })
    for (const time of times) {
      const { failed } = await store.write(versionsOf(layer, time), { signal })
      if (failed) throw new Error(`${failed} tiles were not written`)
    }
    tiles += placesOf(layer).length
  }
  await deploy(store, { signal })
  return tiles
}

/** @param {{url: string}} store @param {string} url of the store's database, with a name and password */
async function measure (store, url, { rounds, views, singles, signal, log }) {
  const { origin, pathname } = new URL(store.url)
  const couchPath =
    ({ layer, z, x, y }, time) => `${pathname}/${layer.name}:${z}:${x}:${y}${time ? `@${time}` : ''}/tile`
  const gatewayPath = ({ layer, z, x, y }, time) => `/${layer.name}${time ? `@${AS_OF}` : ''}/${z}/${x}/${y}.png`
  const samples = Object.fromEntries(Object.keys(ROWS).map(row => [row, { [GATEWAY]: [], [COUCH]: [] }]))
  let settings
  for (let round = 0; round < rounds; round++) {
    // Each round starts a new gateway, with no tiles in memory. A separate layer warms up its code.
    const gateway = await startGateway(url, { memory: '1GB' }, gatewayPath(placesOf(LAYERS.other)[0]))
    settings = gateway.settings
    const contenders =
      [{ name: GATEWAY, url: gateway.url, pathOf: gatewayPath }, { name: COUCH, url: origin, pathOf: couchPath }]
    try {
      for (const contender of contenders) await warmUp(contender, signal)
      for (const [row, walks] of Object.entries(walksOf({ views, singles }, round))) {
        for (const contender of round % 2 ? contenders.toReversed() : contenders) {
          const sample = await walk(contender, { ...ROWS[row], walks, signal })
          samples[row][contender.name].push(sample)
          const { rate, ms, mean } = sample
          log(
            `  round ${round + 1}  ${row.padEnd(26)} ${contender.name.padEnd(22)} ${`${rate}`.padStart(6)} tiles/s  ` +
              `${ms.p50.toFixed(1).padStart(6)} ms a view, p90 ${ms.p90}, mean ${mean}`
          )
        }
      }
    } finally {
      await gateway.close()
    }
  }
  const measuredSamples = Object.entries(samples).filter(([, { [GATEWAY]: list }]) => list.length)
  const results = Object.fromEntries(measuredSamples.map(
    ([row, byName]) => [row, Object.fromEntries(Object.entries(byName).map(([name, list]) => [name, summarise(list)]))]
  ))
  return { settings, results, budgets: budgetsOf(results) }
}

/** The walks of each row: one list of views for each person. No tile occurs twice in the life of a gateway. */
function walksOf ({ views, singles }, round) {
  const [alone, ...crowd] = regionsOf(LAYERS.map, 9)
  const seed = round * 100
  const walksOfEight = crowd.map((region, person) => pans(LAYERS.map, region, { views, seed: seed + person }))
  const walksOfOne = [pans(LAYERS.map, alone, { views, seed: seed + 50 })]
  const [sparse] = regionsOf(LAYERS.sparse, 1)
  return {
    'past, one person': walksOfOne,
    'past, eight people': walksOfEight,
    'present, one person': walksOfOne,
    'present, eight people': walksOfEight,
    'sparse layer, one person': [pans(LAYERS.sparse, sparse, { views: views * 2, seed: seed + 60 })],
    'single tiles, present': [jumps(LAYERS.single, { count: singles, seed: seed + 70 })],
    'single tiles, past': [jumps(LAYERS.single, { count: singles, seed: seed + 80 })]
  }
}

async function warmUp (contender, signal) {
  const [region] = regionsOf(LAYERS.other, 1)
  const walks = [pans(LAYERS.other, region, { views: 40, seed: 9 })]
  for (const time of [OLD, undefined]) await walk(contender, { time, walks, signal })
}

/**
 * All people walk at the same time, each as quickly as the answers arrive.
 * @param {any} contender
 * @param {{time?: string, walks: any[][][], signal: AbortSignal}} options
 */
async function walk ({ name, url, pathOf }, { time, walks, signal }) {
  const people = new People(url, walks.length)
  try {
    const walkStart = performance.now()
    const timesByPerson = await Promise.all(walks.map(async (views, person) => {
      const times = []
      for (const view of views) {
        signal.throwIfAborted()
        const start = performance.now()
        await people.look(person, view.map(place => pathOf(place, time)),
          (answer, index) => check(name, view[index], time, answer))
        times.push(performance.now() - start)
      }
      return times
    }))
    const seconds = (performance.now() - walkStart) / 1000
    const tiles = walks.flat(2).length
    const times = timesByPerson.flat()
    const mean = times.reduce((sum, ms) => sum + ms, 0) / times.length
    return {
      tiles, seconds, rate: Math.round(tiles / seconds), ms: percentiles(times), mean: Math.round(mean * 10) / 10
    }
  } finally {
    people.close()
  }
}

/** Throws if an answer is wrong: no figure counts then. */
function check (name, place, time, { status, body }) {
  const expected = bytesOf(place, time ?? NEW)
  if (expected ? status === 200 && body.equals(expected) : status === 404) return
  throw new Error(`${name}: ${place.layer.name} ${place.z}/${place.x}/${place.y}: ${status} with ${body.length} bytes`)
}

function summarise (samples) {
  const rates = samples.map(({ rate }) => rate)
  const medianOf = rank => Math.round(median(samples.map(({ ms }) => ms[rank])) * 10) / 10
  return {
    rates,
    views: samples.map(({ ms }) => ms.p50),
    means: samples.map(({ mean }) => mean),
    rate: { median: Math.round(median(rates)), min: Math.min(...rates), max: Math.max(...rates) },
    ms: { p50: medianOf('p50'), p90: medianOf('p90'), p99: medianOf('p99'), max: medianOf('max') },
    mean: median(samples.map(({ mean }) => mean))
  }
}

/** Budgets from both contenders in the same rounds, so that the machine's drift cancels out. */
function budgetsOf (results) {
  return Object.entries(results).flatMap(([row, { [GATEWAY]: gatewayFigures, [COUCH]: couchFigures }]) => {
    const { target, view } = ROWS[row]
    if (target === undefined || view === undefined) return []
    const ratio = figure => median(gatewayFigures[figure].map((value, index) => value / couchFigures[figure][index]))
    const share = ratio('views')
    return [
      budget(`cold, ${row}: tiles a second through the gateway / CouchDB`, target, ratio('rates'), 'x'),
      {
        what: `cold, ${row}: time a view through the gateway / CouchDB`,
        target: `<= ${view}x`, figure: `${share.toFixed(2)}x`, met: share <= view
      }
    ]
  })
}
