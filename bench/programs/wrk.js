// Runs wrk, the load generator that costs the server least on the same two cores.
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { findProgram, outputOf, runToEnd } from './program.js'

const script = fileURLToPath(new URL('request.lua', import.meta.url))

export const MISSING =
  'This benchmark needs wrk, a load generator: apt-get install wrk (Debian, Ubuntu), brew install wrk, or WRK_BIN.'

export const findWrk = (env = process.env) => findProgram(env.WRK_BIN, 'wrk', env)

export const wrkVersion = async bin => /wrk (?:debian\/)?(\S+)/.exec(await outputOf(bin, ['-v']))?.[1] ?? 'unknown'

/**
 * @typedef {object} Sample
 * @property {number} requests
 * @property {number} bytes with their headers
 * @property {number} seconds
 * @property {{p50: number, p90: number, p99: number, max: number, [percentile: string]: number}} ms
 * @property {{connect: number, read: number, write: number, timeout: number, status: number}} errors status: above 399
 */

export const writeList =
  (file, requests) => writeFile(file, requests.map(({ path, etag }) => `${path}${etag ? `\t${etag}` : ''}\n`).join(''))

/**
 * Runs wrk: each connection requests the next entry of the list as soon as it has an answer.
 * @returns {Promise<Sample>}
 */
export async function runWrk (bin, { url, list, start = 0, connections, seconds, signal }) {
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '20s', '-s', script, url]
  const env = { BENCH_LIST: list, BENCH_START: String(start) }
  return parseResult(await runToEnd(bin, args, { env, signal }))
}

/** @param {string} output the output of wrk @returns {Sample} */
export function parseResult (output) {
  const [, json] = /^RESULT (\{.*\})$/m.exec(output) ?? []
  if (!json) throw new Error(`wrk gave no result:\n${output}`)
  return JSON.parse(json)
}
