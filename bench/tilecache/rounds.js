// Measures laps in turns, with a warm and with a dropped page cache. Every contender takes part once in a round, and
// each round begins with another one.
import { turns } from '../measure.js'
import { checkAnswers } from '../serve/check.js'
import { runLap, summarise } from './lap.js'
import { xyz } from './servers.js'
import * as names from './names.js'

const MAX_LAPS = 20 // laps at most until all tiles are in the gateway's memory
const SAMPLE = 100 // number of tiles whose header shows where they came from

/** Runs laps that do not count, until connections are open and all tiles are in memory. */
export async function warmUp (contenders, tiles, { connections, signal }) {
  const sample = Array.from({ length: SAMPLE }, (_, index) => tiles[Math.floor(index * tiles.length / SAMPLE)])
  for (const { name, get, url, header } of contenders) {
    for (let laps = 1; ; laps++) {
      for (const level of connections) await runLap(name, tiles, { get, connections: level, signal })
      if (!header) break
      try {
        await checkAnswers(name,
          {
            url: /** @type {string} */ (url), requests: sample.map(tile => ({ path: xyz(tile) })),
            bodies: sample.map(({ bytes }) => bytes), status: 200, header
          })
        break
      } catch (error) {
        if (!error.header || laps >= MAX_LAPS) throw error
      }
    }
  }
}

/**
 * @typedef {Record<string, Record<string, Record<string, ReturnType<typeof summarise>>>>} Laps name -> warm or dropped
 *   -> connections -> figures
 */

/** @returns {Promise<Laps>} */
export async function measureLaps (contenders, tiles, { states, drop, signal, log }) {
  const results = Object.fromEntries(contenders.map(({ name }) => [name, {}]))
  for (const [state, { rounds, connections }] of Object.entries(states)) {
    for (const level of connections) {
      log(`\nPage cache ${state}, ${level} at a time`)
      const laps = Object.fromEntries(contenders.map(({ name }) => [name, /** @type {any[]} */ ([])]))
      for (const { contender: { name, get } } of turns(contenders, rounds)) {
        if (state === names.DROPPED) await drop(signal)
        laps[name].push(await runLap(name, tiles, { get, connections: level, signal }))
      }
      for (const [name, lapList] of Object.entries(laps)) {
        const figures = summarise(lapList);
        (results[name][state] ??= {})[level] = figures
        log(
          `  ${name.padEnd(28)} ${figures.mean.toFixed(3).padStart(7)} s (${figures.deviation.toFixed(3)})  median ` +
            (`${figures.median.toFixed(3)}  a tile: p50 ${figures.ms.p50.toFixed(2)}  p99 ` +
              `${figures.ms.p99.toFixed(2)} ms`)
        )
      }
    }
  }
  return results
}
