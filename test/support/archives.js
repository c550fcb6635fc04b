// What the tests of archives share.
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { compareIds, parseArea, selectorOf, tileId } from '../../core/index.js'
import * as mbtiles from '../../loader/load/sources/mbtiles.js'
import * as pmtiles from '../../loader/load/sources/pmtiles.js'
import { useFolder } from './folder.js'
import { startServer } from './server.js'

const kinds = { mbtiles: mbtiles.open, pmtiles: pmtiles.open }

/** Names of tiles in the order of their ids. @param {string[]} tiles */
export const inOrder =
  tiles => [...tiles].sort((a, b) => compareIds(tileId('l', ...a.split('/')), tileId('l', ...b.split('/'))))

/**
 * Opens an archive as `openSource` does, whatever its name.
 * @param {'mbtiles' | 'pmtiles'} kind
 * @param {string} name
 * @param {Record<string, any>} [options]
 */
export function openAs (kind, name, { bbox, polygon, zooms, ...options } = {}) {
  const area = bbox || polygon ? parseArea({ bbox, polygon }) : undefined
  return kinds[kind](name, { ...options, area, zooms, selected: selectorOf(area, zooms) })
}

/** Opens, uses, closes. */
export async function using (kind, name, options, use) {
  const source = await openAs(kind, name, options)
  try {
    return await use(source)
  } finally {
    await source.close()
  }
}

/** z/x/y -> bytes as latin1, or 'gone', in the order of the source. */
export async function contents (source) {
  const found = {}
  for await (const { z, x, y, read, gone } of source.tiles()) {
    found[`${z}/${x}/${y}`] = gone ? 'gone' : Buffer.from(await read()).toString('latin1')
  }
  return found
}

/** Opening, or reading all of it, must be refused with a code and words. */
export async function refuses (kind, name, code, words, options) {
  let error
  try {
    await using(kind, name, options, contents)
  } catch (caught) {
    error = caught
  }
  if (error?.code !== code || !words.test(error.message)) {
    throw new Error(`expected ${code} and ${words}, got ${error ? `${error.code}: ${error.stack}` : 'no error'}`)
  }
}

/**
 * Archives of a kind, in a folder for each test.
 * @param {'pmtiles'} kind
 * @param {(what: any) => Buffer} pack makes the bytes of what is no Buffer
 */
export function useArchive (kind, pack) {
  const folder = useFolder()
  const make = (what, name = `city.${kind}`) => {
    const made = path.join(folder.dir, name)
    writeFileSync(made, Buffer.isBuffer(what) ? what : pack(what))
    return made
  }
  return {
    folder,
    make,
    read: (what, options) => using(kind, make(what), options, contents),
    refused: (what, words, code = 'ARCHIVE_INVALID', options) => refuses(kind, make(what), code, words, options),
    /** What each tile gives: its bytes, or what it is refused with. */
    outcomes: what => using(kind, make(what), {}, async source => {
      const found = {}
      for await (const { z, x, y, read } of source.tiles()) {
        found[`${z}/${x}/${y}`] = await Promise.resolve().then(read)
          .then(String, error => `${error.code}: ${error.message}`)
      }
      return found
    })
  }
}

/**
 * Runs a script by itself and answers what it hands to `report`, with the most memory it had: `sample()` looks, and a
 * timer.
 * The peak that the system keeps is no good: a child begins with that of its parent.
 * @param {string} script
 * @param {Record<string, string>} [env]
 * @returns {Promise<any>}
 */
export async function runMeasured (script, env) {
  const whole = `
    let peak = 0
    const sample = () => { peak = Math.max(peak, process.memoryUsage.rss()) }
    const report = result => { sample(); console.log(JSON.stringify({ ...result, peak })) }
    setInterval(sample, 10).unref()
    ${script}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', whole],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } })
  let text = ''
  for await (const chunk of child.stdout) text += chunk
  return JSON.parse(text)
}

// A web server with one file, for tests of range requests: it does them right unless it is told otherwise.

/**
 * A server for each test. `answer`, when it is set, may take a request over: it answers true then.
 */
export function useRangeServer () {
  const served = {
    url: '',
    file: Buffer.alloc(0),
    etag: '"1"',
    requests: [],
    answer: undefined
  }
  let server
  beforeEach(async () => {
    Object.assign(served, { file: Buffer.alloc(0), etag: '"1"', requests: [], answer: undefined })
    server = await startServer((request, response) => {
      const [, from, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
      const range = { from: +from, to: +last + 1 }
      served.requests.push({ ...range, headers: request.headers, url: request.url })
      if (served.answer?.(request, response, range)) return
      send(response, range)
    })
    served.url = `${server.url}/maps/city.pmtiles`
  })
  afterEach(() => server.close())

  /** The answer that is right. */
  function send (response, { from, to }, headers = {}) {
    const { file, etag } = served
    const match = response.req.headers['if-match']
    if (match && match !== etag) return response.writeHead(412).end()
    if (from >= file.length) return response.writeHead(416, { 'content-range': `bytes */${file.length}` }).end()
    const end = Math.min(to, file.length)
    response.writeHead(206,
      {
        ...(etag && { etag }), 'content-range': `bytes ${from}-${end - 1}/${file.length}`,
        'content-length': end - from, ...headers
      })
    response.end(file.subarray(from, end))
  }
  return Object.assign(served, { send })
}
