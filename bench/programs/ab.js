// Runs ab, the load generator of the Apache server. It sends many requests to one address, by HTTP/1.0, with one
// connection per request unless connections are kept.
import { findProgram, outputOf, runToEnd } from './program.js'

export const MISSING =
  'This benchmark needs ab, a load generator: apt-get install apache2-utils (Debian, Ubuntu), or AB_BIN.'
const PATIENCE = 30 // seconds without a byte until ab gives up

export const findAb = (env = process.env) => findProgram(env.AB_BIN, 'ab', env)

export const abVersion = async bin => /Version (\S+)/.exec(await outputOf(bin, ['-V']))?.[1] ?? 'unknown'

/**
 * @param {string} bin
 * @param {{url: string, requests: number, connections: number, keep?: boolean, signal?: AbortSignal}} options keep: the
 *   connections between requests
 */
export async function runAb (bin, { url, requests, connections, keep = false, signal }) {
  return parseAb(await runToEnd(bin,
    ['-q', '-s', `${PATIENCE}`, '-c', `${connections}`, '-n', `${requests}`, ...keep ? ['-k'] : [], url], { signal }))
}

/** @param {string} output the output of ab */
export function parseAb (output) {
  /** The number that a pattern finds. A line that ab leaves out counts as `otherwise`. */
  const number = (pattern, otherwise) => {
    const value = pattern.exec(output)?.[1] ?? otherwise
    if (value === undefined) throw new Error(`ab gave no result:\n${output}`)
    return Number(value)
  }
  const percentile = percent => number(new RegExp(`^ *${percent}% +(\\d+)`, 'm'))
  const failures = kind => number(new RegExp(`\\(.*\\b${kind}: (\\d+)`), 0)
  const requests = number(/^Complete requests: +(\d+)/m)
  return {
    requests,
    bytes: number(/^Total transferred: +(\d+)/m),
    seconds: requests / number(/^Requests per second: +([\d.]+)/m), // "Time taken" has three digits only
    length: number(/^Document Length: +(\d+)/m),
    kept: number(/^Keep-Alive requests: +(\d+)/m, 0),
    ms: {
      ...Object.fromEntries([50, 66, 75, 80, 90, 95, 98, 99].map(percent => [`p${percent}`, percentile(percent)])),
      .../** @type {any} */ ({ max: percentile(100) })
    },
    errors: {
      connect: failures('Connect'), receive: failures('Receive'), length: failures('Length'),
      exceptions: failures('Exceptions'),
      write: number(/^Write errors: +(\d+)/m, 0), status: number(/^Non-2xx responses: +(\d+)/m, 0)
    }
  }
}
