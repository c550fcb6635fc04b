// One tile, asked for by ab: `-c 100 -n 1000` as the write-up had it.
import { checkAnswers, checkSample } from '../serve/check.js'
import { runAb } from '../programs/ab.js'

export const KEPT = ', kept' // behind the name of a server whose connections are kept

/**
 * Two contenders a server: with a connection for each request, and with connections that are kept.
 * @param {import('../serve/contenders.js').Task} task
 * @param {{ab: string, place: import('../block.js').Place, tile: Buffer, requests: number}} options
 */
export function asksForOne ({ name, url, pathOf, header }, { ab, place, tile, requests }) {
  const path = pathOf(place)
  const check = () => checkAnswers(name, { url, requests: [{ path }], bodies: [tile], status: 200, header })
  let kept = 1 // share of the requests, in the run in which it was least
  const contender = (own, keep) => ({
    name: own,
    /** @type {import('../serve/rounds.js').Contender['run']} */
    async run ({ connections, signal }) {
      const sample = await runAb(ab, { url: url + path, requests, connections, keep, signal })
      checkAb(own, sample, { requests, connections, length: tile.length })
      if (keep) kept = Math.min(kept, sample.kept / requests)
      return /** @type {any} */ (sample)
    }
  })
  return { name, check, contenders: [contender(name, false), contender(name + KEPT, true)], kept: () => kept }
}

/**
 * No figure counts when a request failed, in whatever way ab tells it.
 * @param {string} name
 * @param {import('../programs/ab.js').AbSample} sample
 * @param {{requests: number, connections: number, length: number}} expected
 */
export function checkAb (name, sample, { requests, connections, length }) {
  checkSample(name, /** @type {any} */ (sample), { connections, length })
  if (sample.requests !== requests) throw new Error(`${name}: ${sample.requests} of ${requests} requests were answered`)
  if (sample.length !== length) throw new Error(`${name}: ${sample.length} bytes in an answer, not ${length}`)
}

/**
 * Rounds of both kinds, apart.
 * @param {import('../serve/rounds.js').Results} results
 */
export function apart (results) {
  /** @type {{closed: import('../serve/rounds.js').Results, kept: import('../serve/rounds.js').Results}} */
  const both = { closed: {}, kept: {} }
  for (const [name, figures] of Object.entries(results)) {
    if (name.endsWith(KEPT)) both.kept[name.slice(0, -KEPT.length)] = figures
    else both.closed[name] = figures
  }
  return both
}
