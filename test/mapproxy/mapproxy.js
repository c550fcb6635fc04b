// Runs a MapProxy for the test, configured as in the manual, and its upstream.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { accessSync, constants, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import sharp from 'sharp'
import { noiseTile } from '../../bench/tiles.js'
import { startServer } from '../support/server.js'

const runFile = promisify(execFile)
const manual = readFileSync(new URL('../../docs/mapproxy.md', import.meta.url), 'utf8')

// mapproxy-util serve-develop watches its files in a second process, which is hard to stop
const SERVE = `
import sys
from wsgiref.simple_server import make_server
from mapproxy.wsgiapp import make_wsgi_app
server = make_server('127.0.0.1', 0, make_wsgi_app(sys.argv[1]))
print(server.server_port, flush=True)
server.serve_forever()
`

/** A Python with MapProxy: MAPPROXY_PYTHON, or the one of mapproxy-util on the PATH. */
export function findMapProxy (env = process.env) {
  if (env.MAPPROXY_PYTHON) return env.MAPPROXY_PYTHON
  for (const folder of (env.PATH ?? '').split(path.delimiter)) {
    try {
      const file = path.join(folder, 'mapproxy-util')
      accessSync(file, constants.X_OK)
      const [, python] = /^#! *(\/\S*python\S*)\s*$/m.exec(readFileSync(file, 'utf8').split('\n', 1)[0]) ?? []
      if (python) return python
    } catch {
      // try the next folder
    }
  }
}

/**
 * @param {string} python
 * @param {string} yaml its configuration
 */
export async function startMapProxy (python, yaml) {
  const dir = await mkdtemp(path.join(tmpdir(), 'tilecouch-mapproxy-'))
  const config = path.join(dir, 'mapproxy.yaml')
  await writeFile(config, yaml)
  const child = spawn(python, ['-c', SERVE, config], { cwd: dir, stdio: ['ignore', 'pipe', 'pipe'] })
  let errors = ''
  child.stderr.on('data', data => { errors += data })
  const ended = new Promise(resolve => { child.once('close', resolve) })
  const close = async () => {
    child.kill()
    await ended
    await rm(dir, { recursive: true, force: true })
  }
  const port = await new Promise((resolve, reject) => {
    child.stdout.once('data', data => resolve(+data))
    child.once('error', reject)
    ended.then(code => reject(new Error(`MapProxy ended with ${code}: ${errors}`)))
  }).catch(async error => {
    await rm(dir, { recursive: true, force: true })
    throw error
  })
  const get = async url => {
    const response = await fetch(`http://127.0.0.1:${port}${url}`)
    return {
      status: response.status, type: response.headers.get('content-type'),
      body: Buffer.from(await response.arrayBuffer())
    }
  }
  return {
    dir,
    get,
    /** Reads a tile over WMTS. */
    tile: (layer, z, x, y) => get(`/wmts/${layer}/xyz/${z}/${x}/${y}.png`),
    said: () => errors,
    util: args => runFile(python, ['-m', 'mapproxy.script.util', ...args], { cwd: dir }),
    close
  }
}

/** The code block of a language in the manual, without the indentation of its list. */
export function block (language, part = '') {
  const blocks = [...manual.matchAll(new RegExp(`^( *)\`\`\`${language}\\n([^]*?)\\n *\`\`\`$`, 'gm'))]
  const [, indent, text] = blocks.find(([, , content]) => content.includes(part)) ??
    assert.fail(`no ${language} with ${part} in docs/mapproxy.md`)
  return text.split('\n').map(line => line.slice(indent.length)).join('\n')
}

/** The configuration of the manual with other addresses. It fails if the manual lacks one of the addresses. */
export function configuration (replacements) {
  return Object.entries(replacements).reduce((yaml, [from, to]) => {
    assert.ok(yaml.includes(from), `docs/mapproxy.md has ${from}`)
    return yaml.replaceAll(from, to)
  }, block('yaml'))
}

/** A tile of 256 x 256 pixels, as MapProxy needs. */
export const fullTile = seed => noiseTile(seed, 256 * 256)

/** The tile of the upstream at a place. */
export const upstreamTile = (z, x, y, year = 0) => fullTile(year * 1e6 + z * 1e4 + x * 100 + y)

export async function startUpstream () {
  const upstream = { asked: [], year: 0, jpeg: false }
  const { url: address, close } = await startServer(async ({ url }, response) => {
    const [, z, x, y] = /^\/(\d+)\/(\d+)\/(\d+)\.png$/.exec(url)
    upstream.asked.push(`${z}/${x}/${y}`)
    const tile = upstreamTile(+z, +x, +y, upstream.year)
    if (upstream.jpeg) response.writeHead(200, { 'content-type': 'image/jpeg' })
      .end(await sharp(tile).jpeg().toBuffer())
    else response.writeHead(200, { 'content-type': 'image/png' }).end(tile)
  })
  return Object.assign(upstream, { url: address, close })
}
