// One tile, asked for by ab: `-c 100 -n 1000` as the write-up had it.
import { gunzipSync } from 'node:zlib'
import { request } from 'undici'
import { runAb } from '../programs/ab.js'
import { checkAnswers, checkSample } from '../serve/check.js'

export const KEPT = ', kept' // behind the name of a server whose connections are kept

/**
 * Two contenders a server: with a connection for each request, and with connections that are kept.
 * @param {import('../serve/contenders.js').Task} task
 * @param {{ab: string, place: import('../block.js').Place, tile: Buffer, requests: number}} options
 */
export function asksForOne ({ name, url, pathOf, header }, { ab, place, tile, requests }) {
  const path = pathOf(place)
  let length = tile.length // bytes on their way, which are others where a server compresses what it sends
  let kept = 1 // share of the requests, in the run in which it was least
  const check = async () => {
    await checkAnswers(name, { url, requests: [{ path }], bodies: [tile], status: 200, header })
    length = (await sentOf(url + path, tile)).length
  }
  const contender = (own, keep) => ({
    name: own,
    /** @type {import('../serve/rounds.js').Contender['run']} */
    async run ({ connections, signal }) {
      const sample = await runAb(ab, { url: url + path, requests, connections, keep, signal })
      checkAb(own, sample, { requests, connections, length })
      if (keep) kept = Math.min(kept, sample.kept / requests)
      return /** @type {any} */ (sample)
    }
  })
  return { name, check, contenders: [contender(name, false), contender(name + KEPT, true)], kept: () => kept, length: () => length }
}

/**
 * The bytes that are sent for a tile to whoever says nothing of compression, as ab does.
 * @param {string} url @param {Buffer} tile
 */
export async function sentOf (url, tile) {
  const { headers, body } = await request(url)
  const sent = Buffer.from(await body.arrayBuffer())
  const read = headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent
  if (!read.equals(tile)) throw new Error(`${url}: ${read.length} bytes that are not the ${tile.length} of the tile`)
  return sent
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
