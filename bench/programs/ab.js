// ab, the load generator of the Apache server: one address, so many requests. It speaks HTTP/1.0, with a connection of
// its own for each request unless it is told to keep them.
import { findProgram, outputOf, runToEnd } from './program.js'

export const MISSING =
  'This benchmark needs ab, a load generator: apt-get install apache2-utils (Debian, Ubuntu), or AB_BIN.'
const PATIENCE = 30 // seconds at most that no byte comes

export const findAb = (env = process.env) => findProgram(env.AB_BIN, 'ab', env)

export const abVersion = async bin => /Version (\S+)/.exec(await outputOf(bin, ['-V']))?.[1] ?? 'unknown'

/**
 * @param {string} bin
 * @param {{url: string, requests: number, connections: number, keep?: boolean, signal?: AbortSignal}} options keep: the
 *   connections
 */
export async function runAb (bin, { url, requests, connections, keep = false, signal }) {
  return parseAb(await runToEnd(bin,
    ['-q', '-s', `${PATIENCE}`, '-c', `${connections}`, '-n', `${requests}`, ...keep ? ['-k'] : [], url], { signal }))
}

/** @param {string} words what ab printed */
export function parseAb (words) {
  /** A line that ab leaves out counts as none of those. */
  const number = (pattern, otherwise) => {
    const found = pattern.exec(words)?.[1] ?? otherwise
    if (found === undefined) throw new Error(`ab gave no result:\n${words}`)
    return Number(found)
  }
  const rank = percent => number(new RegExp(`^ *${percent}% +(\\d+)`, 'm'))
  const failed = kind => number(new RegExp(`\\(.*\\b${kind}: (\\d+)`), 0)
  const requests = number(/^Complete requests: +(\d+)/m)
  return {
    requests,
    bytes: number(/^Total transferred: +(\d+)/m),
    seconds: requests / number(/^Requests per second: +([\d.]+)/m), // "Time taken" has three digits only
    length: number(/^Document Length: +(\d+)/m),
    kept: number(/^Keep-Alive requests: +(\d+)/m, 0),
    ms: {
      ...Object.fromEntries([50, 66, 75, 80, 90, 95, 98, 99].map(percent => [`p${percent}`, rank(percent)])),
      .../** @type {any} */ ({ max: rank(100) })
    },
    errors: {
      connect: failed('Connect'), receive: failed('Receive'), length: failed('Length'),
      exceptions: failed('Exceptions'),
      write: number(/^Write errors: +(\d+)/m, 0), status: number(/^Non-2xx responses: +(\d+)/m, 0)
    }
  }
}
