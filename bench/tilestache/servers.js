// Starts all servers of the tiles of the write-up, each once for the whole benchmark.
import path from 'node:path'
import { LAYER, writeTree } from '../block.js'
import { startGateway } from '../programs/gateway.js'
import * as mapproxy from '../programs/mapproxy.js'
import * as nginx from '../programs/nginx.js'
import { runningPrograms } from '../programs/running.js'
import * as tileserver from '../programs/tileserver.js'
import * as tilestache from '../programs/tilestache.js'
import * as names from '../serve/names.js'
import { xyz } from '../serve/servers.js'
import { exportTree, nginxConfig } from '../../loader/export/tree/index.js'
import { BESIDE_TILESTACHE, ORDER, TILESTACHE, TREE } from './names.js'

const NGINX = "Debian's settings, a worker a core, access_log off"

/** `unused`: a place that the store contains, and no cache. */
export async function startServers ({ url, dir, places, unused, tileOf, store, signal, closing, log }) {
  const [place] = places
  const { addRunning, optional, missing, programs } = runningPrograms({ closing, log })
  const { origin, pathname } = new URL(store.url)
  const hit = /** @type {[string, string]} */ (['x-tilecouch-cache', 'hit'])
  const gateway = async (name, flags) => {
    const gatewayProcess = await startGateway(url, { ...flags, maxAge: '1d', logLevel: 'warn' }, xyz(place))
    return addRunning(name, gatewayProcess).url
  }
  const [oneWorker, twoWorkers] =
    [await gateway(names.HOT, { memory: '1GB' }), await gateway(names.HOT_TWO, { memory: '2GB', workers: 2 })]
  /** @type {import('../serve/contenders.js').Task[]} */
  const tasks = [
    { name: names.COUCH, url: origin, pathOf: ({ z, x, y }) => `${pathname}/${LAYER}:${z}:${x}:${y}/tile` },
    { name: names.REWRITE, url: origin, pathOf: tilePlace => `${pathname}/_design/tiles/_rewrite${xyz(tilePlace)}` },
    { name: names.HOT, url: oneWorker, pathOf: xyz, header: hit, laps: 2 },
    { name: names.HOT_TWO, url: twoWorkers, pathOf: xyz, header: hit, laps: 12 }
  ]
  const cache = path.join(dir, 'cache')
  await writeTree(cache, places, tileOf)

  const stacheUrl = await optional('TileStache', tilestache.MISSING, await tilestache.findTileStache(), async setup => {
    const server = await tilestache.startTileStache(setup,
      { cache, source: oneWorker, dir: path.join(dir, 'tilestache'), probe: xyz(place) })
    tasks.push({ name: TILESTACHE, url: addRunning('TileStache', server).url, pathOf: xyz })
    return server.url
  })

  await optional('nginx', nginx.MISSING, nginx.findNginx(), async bin => {
    const version = await nginx.nginxVersion(bin)
    // passed: a path that no file has, so that nginx passes it on
    const start = async ({ name, folder, http, settings, header, passed }) => {
      const server = await nginx.startNginx(bin, { dir: path.join(dir, folder), http, probe: xyz(place) })
      addRunning(name, server, { version, settings: `${NGINX}; ${settings}` })
      const response = await fetch(server.url + passed, { signal })
      await response.arrayBuffer()
      if (response.status !== 200 || response.headers.get(header[0]) === header[1]) {
        throw new Error(
          `${name}: ${passed} was not passed on: ${response.status}, ${header[0]} is ${response.headers.get(header[0])}`
        )
      }
      tasks.push({ name, url: server.url, pathOf: xyz, header })
    }
    if (stacheUrl) {
      await start(
        {
          name: BESIDE_TILESTACHE, folder: 'nginx-stache', http: tilestache.tryFilesConf({ cache, url: stacheUrl }),
          settings: 'what is not in the cache is passed on to TileStache',
          header: ['x-static', 'file'], passed: xyz(unused)
        }
      )
    }
    const tree = path.join(dir, 'tree')
    await exportTree(store, LAYER, tree, { signal })
    await start({
      name: TREE, folder: 'nginx-tree',
      http: port => nginxConfig({ root: tree, listen: `127.0.0.1:${port}`, gateway: oneWorker }),
      settings: 'what tilecouch export --tree --nginx writes, with a gateway behind',
      header: ['x-tilecouch-cache', 'file'], passed: `/${LAYER}.json`
    })
  })

  await optional('TileServer GL light', tileserver.MISSING, tileserver.findTileServer(), async bin => {
    const server = await tileserver.startTileServer(bin, path.join(dir, 'tileserver'), places, tileOf)
    tasks.push({ name: names.TILESERVER, url: addRunning('TileServer GL light', server).url, pathOf: server.pathOf })
  })

  await optional('MapProxy', mapproxy.MISSING, await mapproxy.findMapProxy(), async setup => {
    const proxy = await mapproxy.startMapProxy(setup,
      { server: origin, db: pathname.slice(1), tree: cache, dir: path.join(dir, 'mapproxy'), place })
    const server = addRunning('MapProxy', proxy).url
    tasks.push({ name: names.MAPPROXY_FILES, url: server, pathOf: proxy.pathOf('files') },
      { name: names.MAPPROXY_COUCH, url: server, pathOf: proxy.pathOf('couch') })
  })

  return { tasks: tasks.sort((a, b) => ORDER.indexOf(a.name) - ORDER.indexOf(b.name)), missing, programs }
}
