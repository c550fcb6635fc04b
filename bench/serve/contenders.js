// The contenders of bench/serve.js: each has a server, requests, and a check of its answers.
import path from 'node:path'
import { checkAnswers, checkSample, etagsOf } from './check.js'
import { LENGTH, NEW, OLD, bytesOf, zipf } from '../block.js'
import * as names from './names.js'
import { runNodeClient } from './node-client.js'
import { asOf, xyz } from './servers.js'
import { runWrk, writeList } from '../programs/wrk.js'

const SAMPLE = 100 // number of answers compared byte by byte
const CHANGED = 1000 // number of tiles requested with an ETag
const MAX_RUNS = 30 // maximal number of runs until all tiles are in memory
const CACHE = 'x-tilecouch-cache'

/**
 * @typedef {object} Task the requests for a server
 * @property {string} name
 * @property {string} url of the server
 * @property {(place: import('../block.js').Place) => string} pathOf
 * @property {boolean} [unchanged] whether to send the server's ETags, which gives a 304
 * @property {string} [time] of the expected version; default: the newest
 * @property {[string, string]} [header] of all answers after the warm-up
 * @property {number} [laps] number of times that all tiles are requested in the warm-up
 * @property {import('../block.js').Place[]} [order] of the requests; default: the order of all contenders
 */

/** `db`: URL of the database, without a password. @returns {Task[]} */
export function tasksOf ({ db, servers: { gateways, nginxes, tiles, proxy }, order }) {
  const { origin, pathname } = new URL(db)
  const attachment = ({ z, x, y }) => `${pathname}/bench:${z}:${x}:${y}/tile`
  const drawPlace = zipf(order, 3)
  const [hit, miss, cached] = /** @type {[string, string][]} */ ([[CACHE, 'hit'], [CACHE, 'miss'], ['x-cache', 'hit']])
  return [
    { name: names.COUCH, url: origin, pathOf: attachment },
    { name: names.COUCH_304, url: origin, pathOf: attachment, unchanged: true },
    { name: names.REWRITE, url: origin, pathOf: place => `${pathname}/_design/tiles/_rewrite${xyz(place)}` },
    { name: names.COLD, url: gateways.cold.url, pathOf: xyz, header: miss },
    { name: names.COLD_AS_OF, url: gateways.cold.url, pathOf: asOf, time: OLD, header: miss },
    { name: names.HOT, url: gateways.hot.url, pathOf: xyz, header: hit, laps: 2 },
    { name: names.HOT_AS_OF, url: gateways.hot.url, pathOf: asOf, time: OLD, header: hit, laps: 2 },
    { name: names.HOT_304, url: gateways.hot.url, pathOf: xyz, unchanged: true, header: hit },
    { name: names.HOT_TWO, url: gateways.two.url, pathOf: xyz, header: hit, laps: 12 },
    { name: names.ZIPF, url: gateways.third.url, pathOf: xyz, laps: 1, order: Array.from({ length: order.length * 4 },
      drawPlace) },
    ...(nginxes
      ? [
          { name: names.PROXY, url: nginxes.proxy.url, pathOf: xyz, header: cached, laps: 2 },
          { name: names.PROXY_304, url: nginxes.proxy.url, pathOf: xyz, unchanged: true, header: cached },
          { name: names.FILES, url: nginxes.files.url, pathOf: xyz },
          { name: names.FILES_304, url: nginxes.files.url, pathOf: xyz, unchanged: true }
        ]
      : []),
    ...(tiles ? [{ name: names.TILESERVER, url: tiles.url, pathOf: tiles.pathOf }] : []),
    ...(proxy
      ? [
          { name: names.MAPPROXY_COUCH, url: proxy.url, pathOf: proxy.pathOf('couch') },
          { name: names.MAPPROXY_FILES, url: proxy.url, pathOf: proxy.pathOf('files') }
        ]
      : [])
  ]
}

/**
 * Prepares a task for rounds: writes its list, warms its server, compares its answers with the source.
 * @param {Task} task
 * @param {any} options at: number of the task; length: bytes of each tile
 */
export async function prepare (task, options) {
  const { name, url, pathOf, unchanged, time = NEW, header, laps = 0, order: ownOrder } = task
  const { wrk, dir, order, at, seconds, tileOf = bytesOf, length = LENGTH, signal } = options
  const places = ownOrder ?? (unchanged ? order.slice(0, CHANGED) : order)
  const requests = unchanged ? await etagsOf(url, places.map(pathOf)) : places.map(place => ({ path: pathOf(place) }))
  const list = path.join(dir, `requests-${at}`)
  await writeList(list, requests)
  const sampleIndexes = Array.from({ length: SAMPLE }, (_, number) => Math.floor(number * requests.length / SAMPLE))
  const sample = {
    url,
    header,
    status: unchanged ? 304 : 200,
    requests: sampleIndexes.map(index => requests[index]),
    bodies: sampleIndexes.map(index => tileOf(places[index].index, time))
  }
  const check = () => checkAnswers(name, sample)

  let start = 0 // each run continues after the previous one, so that cold tiles stay cold
  /** @type {import('./rounds.js').Contender['run']} */
  const run = async ({ connections, seconds: duration, signal: stopSignal }) => {
    const result = await runWrk(wrk, { url, list, start, connections, seconds: duration, signal: stopSignal })
    start = (start + result.requests) % requests.length
    checkSample(name, result, { connections, length: unchanged ? 0 : length })
    return result
  }
  await warmUp({ run, check, wanted: laps * requests.length, seconds, signal })
  return { name, run, check }
}

/** Runs until all tiles were requested often enough, and answers have the expected header. */
async function warmUp ({ run, check, wanted, seconds, signal }) {
  for (let runs = 1, requests = 0; ; runs++) {
    requests += (await run({ connections: 16, seconds, signal })).requests
    try {
      await check()
      if (requests >= wanted) return
    } catch (error) {
      if (!error.header || runs >= MAX_RUNS) throw error
    }
    if (runs >= 10 * MAX_RUNS) throw new Error(`${requests} of ${wanted} requests to warm up, in ${runs} runs`)
  }
}

/** The reference for tiles that are not in memory: one Node process instead of a load generator. */
export function nodeClients ({ db, order }) {
  const { origin, pathname } = new URL(db)
  const paths = order.map(({ z, x, y }) => `${pathname}/bench:${z}:${x}:${y}/tile`)
  return Object.entries(names.NODE).map(([client, name]) => {
    let start = 0
    /** @type {import('./rounds.js').Contender['run']} */
    const run = async ({ connections, seconds, signal }) => {
      const result = await runNodeClient(/** @type {any} */ (client),
        { url: origin, paths, start, length: LENGTH, connections, seconds, signal })
      start = (start + result.requests) % paths.length
      return result
    }
    return { name, run, check: async () => {} }
  })
}
