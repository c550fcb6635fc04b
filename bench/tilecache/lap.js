// A lap: every tile requested once. All answers are compared, while the clock is stopped; a wrong one ends the run.
import pMap from 'p-map'
import { deviation, mean, median, percentiles } from '../measure.js'

/**
 * @param {string} name @param {import('./map.js').Tile[]} tiles
 * @param {{get: (tile: any) => Promise<any>, connections: number, signal?: AbortSignal}} options
 */
export async function runLap (name, tiles, { get, connections, signal }) {
  signal?.throwIfAborted()
  const before = process.cpuUsage()
  const begin = performance.now()
  const answers = await pMap(tiles, async tile => {
    const start = performance.now()
    const body = await get(tile)
    return { body, ms: performance.now() - start }
  }, { concurrency: connections, signal })
  const seconds = (performance.now() - begin) / 1000
  const { user, system } = process.cpuUsage(before)
  for (const [at, { z, x, y, bytes }] of tiles.entries()) {
    const body = Buffer.from(/** @type {ArrayBuffer} */ (answers[at].body))
    if (!body.equals(bytes)) {
      throw new Error(`${name}: ${z}/${x}/${y}: ${body.length} bytes that are not the ${bytes.length} of the source`)
    }
  }
  return { seconds, user: user / 1e6, sys: system / 1e6, ms: answers.map(({ ms }) => ms) }
}

const exact = seconds => Math.round(seconds * 10000) / 10000

/** @param {number[]} list seconds */
export const spread = list => ({
  seconds: list.map(exact), mean: exact(mean(list)), deviation: exact(deviation(list)),
  median: exact(median(list)), min: exact(Math.min(...list)), max: exact(Math.max(...list))
})

export function summarise (laps) {
  const of = key => laps.map(lap => lap[key])
  return {
    ...spread(of('seconds')),
    user: exact(mean(of('user'))),
    userDeviation: exact(deviation(of('user'))),
    sys: exact(mean(of('sys'))),
    sysDeviation: exact(deviation(of('sys'))),
    ms: percentiles(laps.flatMap(({ ms }) => ms), 3)
  }
}
