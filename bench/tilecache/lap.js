// Runs a lap: every tile is requested once. All answers are compared afterwards, outside the measured time. A wrong
// answer ends the run.
import pMap from 'p-map'
import { deviation, mean, median, percentiles } from '../measure.js'

/**
 * @param {string} name @param {import('./map.js').Tile[]} tiles
 * @param {{get: (tile: any) => Promise<any>, connections: number, signal?: AbortSignal}} options
 */
export async function runLap (name, tiles, { get, connections, signal }) {
  signal?.throwIfAborted()
  const cpuBefore = process.cpuUsage()
  const lapStart = performance.now()
  const answers = await pMap(tiles, async tile => {
    const start = performance.now()
    const body = await get(tile)
    return { body, ms: performance.now() - start }
  }, { concurrency: connections, signal })
  const seconds = (performance.now() - lapStart) / 1000
  const { user, system } = process.cpuUsage(cpuBefore)
  for (const [index, { z, x, y, bytes }] of tiles.entries()) {
    const body = Buffer.from(/** @type {ArrayBuffer} */ (answers[index].body))
    if (!body.equals(bytes)) {
      throw new Error(`${name}: ${z}/${x}/${y}: ${body.length} bytes that are not the ${bytes.length} of the source`)
    }
  }
  return { seconds, user: user / 1e6, sys: system / 1e6, ms: answers.map(({ ms }) => ms) }
}

const rounded = seconds => Math.round(seconds * 10000) / 10000

/** @param {number[]} list seconds of each lap */
export const spread = list => ({
  seconds: list.map(rounded), mean: rounded(mean(list)), deviation: rounded(deviation(list)),
  median: rounded(median(list)), min: rounded(Math.min(...list)), max: rounded(Math.max(...list))
})

export function summarise (laps) {
  const valuesOf = key => laps.map(lap => lap[key])
  return {
    ...spread(valuesOf('seconds')),
    user: rounded(mean(valuesOf('user'))),
    userDeviation: rounded(deviation(valuesOf('user'))),
    sys: rounded(mean(valuesOf('sys'))),
    sysDeviation: rounded(deviation(valuesOf('sys'))),
    ms: percentiles(laps.flatMap(({ ms }) => ms), 3)
  }
}
