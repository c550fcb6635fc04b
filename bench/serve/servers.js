// Starts all servers that serve the tiles. Each runs for the whole benchmark. The result names those that are not
// installed.
import path from 'node:path'
import { AS_OF, LAYER, writeTree } from '../block.js'
import { startGateway } from '../programs/gateway.js'
import * as mapproxy from '../programs/mapproxy.js'
import * as nginx from '../programs/nginx.js'
import { runningPrograms } from '../programs/running.js'
import * as tileserver from '../programs/tileserver.js'

export const xyz = ({ z, x, y }) => `/${LAYER}/${z}/${x}/${y}.png`
export const asOf = ({ z, x, y }) => `/${LAYER}@${AS_OF}/${z}/${x}/${y}.png`

export async function startServers ({ url, dir, places, store, closing, log }) {
  const [place] = places
  const { addRunning, optional, missing, programs } = runningPrograms({ closing, log })
  const gateway = async (name, flags) => {
    const gatewayProcess = await startGateway(url, { ...flags, maxAge: '1d', logLevel: 'warn' }, xyz(place))
    return addRunning(name, gatewayProcess)
  }
  const thirdOfMemory = `${Math.round(places.length * 10.5 / 3)}kB`
  const gateways = {
    cold: await gateway('gateway, cold', { memory: '0' }),
    hot: await gateway('gateway, hot', { memory: '1GB' }),
    two: await gateway('gateway, 2 workers', { memory: '2GB', workers: 2 }),
    third: await gateway('gateway, a third in memory', { memory: thirdOfMemory })
  }
  const files = path.join(dir, 'files')
  await writeTree(files, places)

  const nginxes = await optional('nginx', nginx.MISSING, nginx.findNginx(), async bin => {
    const version = await nginx.nginxVersion(bin)
    const conf = nginx.proxyCacheConf(await nginx.readProxyCacheConf(),
      { gateway: gateways.hot.url, cache: path.join(dir, 'proxy-cache') })
    return {
      files: addRunning('nginx, files', await nginx.startNginx(
        bin, { dir: path.join(dir, 'nginx-files'), http: nginx.filesConf(files), probe: xyz(place) }
      ), { version, settings: "Debian's settings, a worker a core, access_log off" }),
      proxy: addRunning('nginx, proxy_cache', await nginx.startNginx(
        bin, { dir: path.join(dir, 'nginx-proxy'), http: conf, probe: xyz(place) }
      ), { version, settings: 'deploy/nginx/proxy-cache.conf in front of the hot gateway' })
    }
  })

  const tiles = await optional('TileServer GL light', tileserver.MISSING, tileserver.findTileServer(), async bin => {
    const server = await tileserver.startTileServer(bin, path.join(dir, 'tileserver'), places)
    return addRunning('TileServer GL light', server)
  })

  const proxy = await optional('MapProxy', mapproxy.MISSING, await mapproxy.findMapProxy(), async installation => {
    const { origin, pathname } = new URL(store.url)
    const server = await mapproxy.startMapProxy(installation,
      { server: origin, db: pathname.slice(1), tree: files, dir: path.join(dir, 'mapproxy'), place })
    return addRunning('MapProxy', server)
  })

  return { gateways, nginxes, tiles, proxy, missing, programs }
}
