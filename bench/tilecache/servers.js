// Who is asked for the tiles, each started once and kept running. What is not installed is named.
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { Agent } from 'undici'
import { nginxConfig } from '../../loader/index.js'
import { startGateway } from '../programs/gateway.js'
import * as nginx from '../programs/nginx.js'
import { CLIENTS } from '../serve/node-client.js'
import { LAYER } from './map.js'
import * as names from './names.js'
import { fileOf } from './seeding.js'

const CACHE = 'x-tilecouch-cache'

/** @typedef {import('./map.js').Tile} Tile */

/**
 * @typedef {object} Contender
 * @property {string} name
 * @property {(tile: Tile) => Promise<Uint8Array | ArrayBuffer>} get
 * @property {string} [url] of its server
 * @property {(tile: import('./map.js').Place) => string} [pathOf]
 * @property {[string, string]} [header] that all answers have once everything is warm
 */

export const xyz = ({ z, x, y }) => `/${LAYER}/${z}/${x}/${y}.png`

/**
 * @param {object} options
 * @param {string} options.url of the database, with what it takes to write
 * @param {import('../../loader/store/index.js').Store} options.store the same
 * @param {string} options.files folder of the tiles
 * @param {string} options.tree exported folder
 * @param {string} options.dir for what servers write
 * @param {Tile} options.probe
 * @param {number} options.connections at most
 * @param {(() => any)[]} options.closing told how to end each
 * @param {(text: string) => void} options.log
 */
export async function startContenders ({ url, store, files, tree, dir, probe, connections, closing, log }) {
  /** @type {Record<string, string>} name -> why */
  const missing = {}
  /** @type {Record<string, {version?: string, settings: string}>} */
  const programs = { client: { version: process.version, settings: `undici.request over at most ${connections} connections that stay open, readFile for files` } }
  const dispatcher = new Agent({ connections, pipelining: 1 })
  closing.push(() => dispatcher.destroy())
  /** @returns {Contender} */
  const overHttp = (name, origin, pathOf, header) => ({ name, url: origin, pathOf, header, get: tile => answer(origin + pathOf(tile), dispatcher) })
  const gateway = async (name, memory, state) => {
    const running = await startGateway(url, { memory, 'max-age': '1d', 'log-level': 'warn' }, xyz(probe))
    closing.push(running.close)
    programs[name] = { settings: running.settings }
    log(`  ${name}: ${running.settings}`)
    return overHttp(name, running.url, xyz, [CACHE, state])
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
  const bin = nginx.findNginx()
  if (bin) {
    const running = await nginx.startNginx(bin, { dir: path.join(dir, 'nginx'), http: port => nginxConfig({ root: tree, listen: `127.0.0.1:${port}` }), probe: xyz(probe) })
    closing.push(running.close)
    const settings = "what the export writes for nginx, else Debian's settings, a worker a core, access_log off"
    programs.nginx = { version: await nginx.nginxVersion(bin), settings }
    log(`  nginx ${programs.nginx.version}: ${settings}`)
    contenders.push(overHttp(names.NGINX, running.url, xyz))
  } else {
    missing.nginx = nginx.MISSING
    log(`  nginx: not measured, ${nginx.MISSING}`)
  }
  return { contenders, programs, missing }
}

async function answer (url, dispatcher) {
  const { status, body } = await CLIENTS['undici.request'](url, dispatcher)
  if (status !== 200) throw new Error(`${url}: ${status}: ${Buffer.from(body).toString('utf8', 0, 200)}`)
  return body
}
