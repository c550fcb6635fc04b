// What is declared of areas on a device. Checked by tsc, never run.
import * as L from 'leaflet'
import { OfflineStore, couchLayer, coverageLayer, historyLayer } from '../../client/index.js'
import type { Area, AreaEstimate, AreaStatus, CoverageCounts, OfflineStoreOptions,
  PouchConstructor } from '../../client/index.js'
import { OfflineStore as WithoutLeaflet } from '../../client/offline/index.js'

declare const PouchDB: PouchConstructor

// ---- a store on the device
const offline = new OfflineStore({ remote: 'http://127.0.0.1:5984/tiles', PouchDB, limits: { concurrency: 2 } })
offline.on('progress', ({ type, area, status }) => [type === 'progress', area.name, status.remaining?.toFixed()])
  .on('online', ({ online }) => !online).once('failure', ({ error, area }) => [error.code, area?.id])
  .on('areas tiles', ({ layer }) => layer).off('online')
const options: OfflineStoreOptions = { remote: '/db' }
new OfflineStore({ ...options, adapter: 'memory' }).close()
new WithoutLeaflet(options).destroy()
// @ts-expect-error an address is needed
new OfflineStore({ PouchDB })
// @ts-expect-error
new OfflineStore({ remote: '/db', limits: { bytes: 5 } })
// @ts-expect-error
offline.on('progress', ({ online }) => online)

// ---- areas
export async function areas(stop: AbortController) {
  await offline.ready
  const area: Area = await offline.areas.add({
    name: 'Alps', layer: 'daylight', bounds: [[45, 5], [48, 17]], zooms: '0-8', history: { since: new Date() }
  })
  const { bytes, transfer }: AreaEstimate = await area.estimate({ signal: stop.signal })
  await offline.areas.estimate({ layer: 'daylight', bbox: '5,45,17,48', zooms: [0, 8] })
  await offline.areas.add({
    name: 'Shape', layer: 'daylight', polygon: { type: 'Polygon', coordinates: [] }, history: true, permission: true
  })
  const status: AreaStatus = await area.download({ signal: stop.signal, force: true })
  const { changed, state } = await area.refresh()
  await Promise.all([area.pause(), area.live(), area.live(false), area.rename('Alpen'), area.remove()])
  const { usage, quota, ours } = await offline.storage()
  const isSafe: boolean = await offline.persist()
  // @ts-expect-error a name is needed
  await offline.areas.add({ layer: 'daylight' })
  // @ts-expect-error
  await offline.areas.add({ name: 'Alps', layer: 'daylight', history: 'all' })
  // @ts-expect-error what is told cannot be set
  area.name = 'Alpen'
  // @ts-expect-error
  if (status.state === 'done') return
  return [
    bytes + transfer + changed.tiles + ours,
    usage,
    quota,
    isSafe,
    state,
    offline.areas.get('Alps')?.holds(1, 0, 0),
    offline.areas.list().length
  ]
}

// ---- layers
const map = L.map('map')
couchLayer('/db', { layer: 'daylight', offline, read: 'only' }).addTo(map)
historyLayer('/db', { layer: 'daylight', offline, read: 'network' }).addTo(map)
coverageLayer(offline, { layer: 'daylight', opacity: 0.5 }).addTo(map).refresh()
  .on('coverage', ({ tiles }) => {
    const counts: CoverageCounts = tiles
    return counts.whole + counts.part
  })
// @ts-expect-error
couchLayer('/db', { layer: 'daylight', offline, read: 'cache' })
// @ts-expect-error
coverageLayer(offline)
// @ts-expect-error
coverageLayer('/db', { layer: 'daylight' })

// ---- the device
export async function device() {
  const head = await offline.device.head('daylight', 2, 1, 1)
  const [rows] = await offline.device.versions('daylight', [{ z: 2, x: 1, y0: 0, y1: 3 }])
  return [head?.version.time, rows[0].bytes]
}
