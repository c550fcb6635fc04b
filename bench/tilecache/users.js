// What a lap means for people: several users at once, each with as many connections as a browser opens, and how many tiles a screen takes.
import path from 'node:path'
import { findWrk, runWrk, wrkVersion, writeList, MISSING } from '../programs/wrk.js'
import { checkErrors } from '../serve/check.js'
import { measureRounds } from '../serve/rounds.js'
import { shuffled } from '../block.js'

export const USERS = 10
export const CONNECTIONS = 6 // that a browser opens to a host
export const SCREEN = { width: 1920, height: 1080 } // pixels
export const PACE = 5 // seconds until a user looks at another screen
const TILE = 256 // pixels

/** Tiles that a screen shows at most: one more than fit each way, since its edges cut through tiles. @param {typeof SCREEN} [screen] */
export const tilesOf = ({ width, height } = SCREEN) => (Math.ceil(width / TILE) + 1) * (Math.ceil(height / TILE) + 1)

/** Users who each look at a new screen every few seconds and whose browsers remember nothing. @param {number} rate tiles a second */
export const usersAt = rate => Math.floor(rate / (tilesOf() / PACE))

/**
 * @param {import('./servers.js').Contender[]} contenders those that are asked over HTTP take part
 * @param {import('./map.js').Tile[]} tiles
 * @param {{dir: string, rounds: number, seconds: number, signal: AbortSignal, log: (text: string) => void}} options
 */
export async function measureUsers (contenders, tiles, { dir, rounds, seconds, signal, log }) {
  const wrk = findWrk()
  if (!wrk) return { missing: MISSING }
  const order = shuffled(/** @type {any} */ (tiles), 1)
  const runners = []
  for (const { name, url, pathOf } of contenders) {
    if (!url || !pathOf) continue
    const list = path.join(dir, `users-${runners.length}`)
    await writeList(list, order.map(tile => ({ path: pathOf(tile) })))
    let start = 0 // each run goes on where the one before ended, so that what is cold stays so
    runners.push({
      name,
      async run ({ connections, seconds: length }) {
        const sample = await runWrk(wrk, { url, list, start, connections, seconds: length, signal })
        start = (start + sample.requests) % order.length
        checkErrors(name, sample)
        return sample
      }
    })
  }
  const connections = USERS * CONNECTIONS
  const results = await measureRounds(runners, { levels: [connections], rounds, seconds, warm: 1, signal, log })
  return {
    wrk: await wrkVersion(wrk),
    rounds,
    seconds,
    results: Object.fromEntries(Object.entries(results).map(([name, { [connections]: figures }]) => [name, figures]))
  }
}
