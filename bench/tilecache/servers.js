// Starts the contenders, each once for the whole benchmark. The result names the missing programs.
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { Agent } from 'undici'
import { nginxConfig } from '../../loader/index.js'
import { startGateway } from '../programs/gateway.js'
import * as nginx from '../programs/nginx.js'
import { runningPrograms } from '../programs/running.js'
import { CLIENTS } from '../serve/node-client.js'
import { LAYER } from './map.js'
import * as names from './names.js'
import { fileOf } from './seeding.js'

const CACHE = 'x-tilecouch-cache'

/**
 * @typedef {object} Contender
 * @property {string} name
 * @property {(tile: import('./map.js').Tile) => Promise<Uint8Array | ArrayBuffer>} get
 * @property {string} [url] of its server
 * @property {[string, string]} [header] of all answers after the warm-up
 */

export const xyz = ({ z, x, y }) => `/${LAYER}/${z}/${x}/${y}.png`

/**
 * @param {any} options url: of the database, with a name that may write; files, tree: folders of the tiles; dir: of
 *   the files
 *   of the servers
 */
export async function startContenders ({ url, store, files, tree, dir, probe, connections, closing, log }) {
  const { addRunning, optional, missing, programs } = runningPrograms({ closing, log })
  programs.client = {
    version: process.version,
    settings: `undici.request over at most ${connections} connections that stay open, readFile for files`
  }
  const dispatcher = new Agent({ connections, pipelining: 1 })
  closing.push(() => dispatcher.destroy())
  /** @returns {Contender} */
  const overHttp = (name, origin, pathOf, header) => (
    { name, url: origin, header, get: tile => get(origin + pathOf(tile), dispatcher) }
  )
  const gateway = async (name, memory, state) => {
    const gatewayProcess = await startGateway(url, { memory, maxAge: '1d', logLevel: 'warn' }, xyz(probe))
    return overHttp(name, addRunning(name, gatewayProcess).url, xyz, [CACHE, state])
  }
  const { origin, pathname } = new URL(store.url)
  /** @type {Contender[]} */
  const contenders = [
    { name: names.FILES, get: tile => readFile(fileOf(files, tile)) },
    overHttp(names.COUCH, origin, ({ z, x, y }) => `${pathname}/${LAYER}:${z}:${x}:${y}/tile`),
    overHttp(names.REWRITE, origin, place => `${pathname}/_design/tiles/_rewrite${xyz(place)}`),
    await gateway(names.COLD, '0', 'miss'),
    await gateway(names.HOT, '1GB', 'hit')
  ]
  await optional('nginx', nginx.MISSING, nginx.findNginx(), async bin => {
    const http = port => nginxConfig({ root: tree, listen: `127.0.0.1:${port}` })
    const server = await nginx.startNginx(bin, { dir: path.join(dir, 'nginx'), http, probe: xyz(probe) })
    const settings = "what the export writes for nginx, else Debian's settings, a worker a core, access_log off"
    addRunning('nginx', server, { version: await nginx.nginxVersion(bin), settings })
    contenders.push(overHttp(names.NGINX, server.url, xyz))
  })
  return { contenders, programs, missing }
}

async function get (url, dispatcher) {
  const { status, body } = await CLIENTS['undici.request'](url, dispatcher)
  if (status !== 200) throw new Error(`${url}: ${status}: ${Buffer.from(body).toString('utf8', 0, 200)}`)
  return body
}
