// Helpers for tests of archives: opens them, reads their tiles, and serves one for range requests.
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { json } from 'node:stream/consumers'
import { compareIds, parseArea, selectorOf, tileId } from '../../core/index.js'
import * as mbtiles from '../../loader/load/sources/mbtiles.js'
import * as pmtiles from '../../loader/load/sources/pmtiles.js'
import { useFolder } from './folder.js'
import { withSource } from './memory-source.js'
import { startServer } from './server.js'

const kinds = { mbtiles: mbtiles.open, pmtiles: pmtiles.open }

/** Names of tiles in the order of their ids. @param {string[]} tiles */
export const inOrder =
  tiles => [...tiles].sort((a, b) => compareIds(tileId('l', ...a.split('/')), tileId('l', ...b.split('/'))))

/**
 * Opens an archive of this kind. Unlike `openSource`, it does not look at the file name.
 * @param {'mbtiles' | 'pmtiles'} kind
 * @param {string} name
 * @param {Record<string, any>} [options]
 */
export function openAs (kind, name, { bbox, polygon, zooms, ...options } = {}) {
  const area = bbox || polygon ? parseArea({ bbox, polygon }) : undefined
  return kinds[kind](name, { ...options, area, zooms, selected: selectorOf(area, zooms) })
}

/** Opens an archive, calls `use` with the source, and closes it. */
export const withArchive = async (kind, name, options, use) => withSource(await openAs(kind, name, options), use)

/** Reads the tiles of a source in its order: z/x/y -> bytes as latin1, or 'gone'. */
export async function tilesByName (source) {
  const tiles = {}
  for await (const { z, x, y, read, gone } of source.tiles()) {
    tiles[`${z}/${x}/${y}`] = gone ? 'gone' : Buffer.from(await read()).toString('latin1')
  }
  return tiles
}

/** Asserts that opening the archive, or reading all its tiles, fails with a code and a message. */
export async function refuses (kind, name, code, words, options) {
  let error
  try {
    await withArchive(kind, name, options, tilesByName)
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
 * @param {(content: any) => Buffer} pack encodes content that is not a Buffer
 */
export function useArchive (kind, pack) {
  const folder = useFolder()
  const make = (content, name = `city.${kind}`) => {
    const file = folder.path(name)
    writeFileSync(file, Buffer.isBuffer(content) ? content : pack(content))
    return file
  }
  return {
    folder,
    make,
    read: (content, options) => withArchive(kind, make(content), options, tilesByName),
    refused: (content, words, code = 'ARCHIVE_INVALID', options) => refuses(kind, make(content), code, words, options),
    /** z/x/y -> the bytes of the tile, or the code and message of its error. */
    outcomes: content => withArchive(kind, make(content), {}, async source => {
      const outcomes = {}
      for await (const { z, x, y, read } of source.tiles()) {
        outcomes[`${z}/${x}/${y}`] = await Promise.resolve().then(read)
          .then(String, error => `${error.code}: ${error.message}`)
      }
      return outcomes
    })
  }
}

/**
 * Runs a script in its own process. Returns the result that the script passes to `report`, with its peak memory in
 * bytes, which a timer and `sample()` measure.
 * The peak that the system reports is useless: a child starts with the peak of its parent.
 * @param {string} script
 * @param {Record<string, string>} [env]
 * @returns {Promise<any>}
 */
export async function runMeasured (script, env) {
  const program = `
    let peak = 0
    const sample = () => { peak = Math.max(peak, process.memoryUsage.rss()) }
    const report = result => { sample(); console.log(JSON.stringify({ ...result, peak })) }
    setInterval(sample, 10).unref()
    ${script}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } })
  return json(child.stdout)
}

/**
 * A web server with one file for each test. It answers range requests correctly, unless `answer` returns true: then it
 * has answered the request itself.
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

  /** Answers a range request correctly. */
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
