// Checked by tsc, never run: what is right compiles, and every @ts-expect-error stands above what must not.
import { Map } from 'maplibre-gl'
import { Clock, CompareControl, HistoryLayer, TimelineControl, clock, compare, couchProtocol, historyLayer,
  timeline } from '../../client/maplibre/index.js'

const db = 'http://127.0.0.1:5984/tiles'
const map = new Map({ container: 'map' })
const shared: Clock = clock({ time: '2024-03' })

const past: HistoryLayer = historyLayer(map, db, {
  layer: 'daylight', time: '2024-06-20', clock: shared, preload: 0, before: 'labels', paint: { 'raster-opacity': 0.5 }
})
past.setTime('2024-06-20T12:00:00Z').setTime(null).retry().refresh().remove().addTo(map)
const times: string[] = (past.changes() ?? []).map(({ time }) => time)
past.preload(times).then(() => past.isShown())
past.on('changes', ({ changes }) => changes?.length).once('timeload', ({ time }) => time).off('timeload')
past.on('storeerror', ({ error }) => error.code === 'UNREACHABLE')
  .on('tileerror', ({ tile, error }) => [tile.z, error.message])
const ids: string[] = [past.sourceId, past.layerId, ...past.layerIds]
// @ts-expect-error a layer has to be named
historyLayer(map, db, {})
// @ts-expect-error
past.setTime({ year: 2024 })
// @ts-expect-error
historyLayer(map, db, { layer: 'daylight', theme: 'blue' })

const bar: TimelineControl = timeline([past], { position: 'top-left', speed: 4, timeZone: 'local' })
map.addControl(bar)
bar.player.play()
bar.on('rangechange', ({ from }) => from?.slice(0, 4))
// @ts-expect-error
timeline(past, { position: 'bottomleft' })

const swipe: CompareControl = compare(new HistoryLayer(db, { layer: 'daylight', time: '2023' }), past, {
  mode: 'fade', leftLabel: '2023'
})
map.addControl(swipe, 'top-left')
swipe.setSplit(0.3).setLabels('2023', 'now')
swipe.setMode('swipe').on('splitchange', ({ split }) => split.toFixed())
const upper: Map | null = swipe.getUpperMap()

couchProtocol(db, { fetchOptions: { credentials: 'include' } })

export { ids, upper }
