// Contenders that request one tile with ab: `-c 100 -n 1000` as in the write-up.
import { connect } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { request } from 'undici'
import { runAb } from '../programs/ab.js'
import { checkAnswers, checkSample } from '../serve/check.js'

const PATIENCE = 10_000 // milliseconds for the first bytes of an answer
export const KEPT = ', kept' // suffix of the name of a server whose connections are kept

/**
 * Two contenders per server: one with a connection for each request, and one with kept connections, if the server tells
 * ab that it keeps them.
 * @param {import('../serve/contenders.js').Task} task
 */
export async function asksForOne ({ name, url, pathOf, header }, { ab, place, tile, requests }) {
  const path = pathOf(place)
  const keeps = await keepsConnections(url + path)
  let length = tile.length // bytes of the answer, which differ if a server compresses it
  let kept = 1 // lowest share of requests on kept connections in a run
  const check = async () => {
    await checkAnswers(name, { url, requests: [{ path }], bodies: [tile], status: 200, header })
    length = (await sentOf(url + path, tile)).length
  }
  const contender = (ownName, keep) => ({
    name: ownName,
    /** @type {import('../serve/rounds.js').Contender['run']} */
    async run ({ connections, signal }) {
      const sample = await runAb(ab, { url: url + path, requests, connections, keep, signal })
      checkAb(ownName, sample, { requests, connections, length })
      if (keep) kept = Math.min(kept, sample.kept / requests)
      return /** @type {any} */ (sample)
    }
  })
  return { name, check, contenders: [contender(name, false),
    ...keeps ? [contender(name + KEPT, true)] : []], kept: () => keeps ? kept : null, length: () => length }
}

/** Whether a server tells a client of HTTP/1.0 that it keeps the connection. Otherwise ab would wait for its end. */
export function keepsConnections (url) {
  const { hostname, port, host, pathname } = new URL(url)
  return new Promise((resolve, reject) => {
    let head = ''
    const socket = connect(Number(port), hostname,
      () => socket.write(`GET ${pathname} HTTP/1.0\r\nHost: ${host}\r\nConnection: Keep-Alive\r\n\r\n`))
    socket.setTimeout(PATIENCE, () => socket.destroy(new Error(`${url} did not answer in ${PATIENCE} ms`)))
    socket.once('error', reject).once('end', () => reject(new Error(`${url} ended the connection without an answer`)))
    socket.on('data', data => {
      head += data.toString('latin1')
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      resolve(/^connection: *keep-alive *$/im.test(head.slice(0, end)))
      socket.destroy()
    })
  })
}

/** The bytes of a tile in an answer to a client without accept-encoding, such as ab. */
export async function sentOf (url, tile) {
  const { headers, body } = await request(url)
  const sent = Buffer.from(await body.arrayBuffer())
  const plain = headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent
  if (!plain.equals(tile)) throw new Error(`${url}: ${plain.length} bytes that are not the ${tile.length} of the tile`)
  return sent
}

/** Throws if a request failed: no figure counts then. */
export function checkAb (name, sample, { requests, connections, length }) {
  checkSample(name, /** @type {any} */ (sample), { connections, length })
  if (sample.requests !== requests) throw new Error(`${name}: ${sample.requests} of ${requests} requests were answered`)
  if (sample.length !== length) throw new Error(`${name}: ${sample.length} bytes in an answer, not ${length}`)
}

/** Separates the rounds with and without kept connections. @param {import('../serve/rounds.js').Results} results */
export function apart (results) {
  /** @type {{closed: import('../serve/rounds.js').Results, kept: import('../serve/rounds.js').Results}} */
  const separated = { closed: {}, kept: {} }
  for (const [name, figures] of Object.entries(results)) {
    if (name.endsWith(KEPT)) separated.kept[name.slice(0, -KEPT.length)] = figures
    else separated.closed[name] = figures
  }
  return separated
}
