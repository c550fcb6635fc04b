// Checked by tsc, never run: history in OpenLayers.
import Map from 'ol/Map.js'
import TileLayer from 'ol/layer/Tile.js'
import { HistorySource, clock, compare, historyLayer, timeline } from '../../client/openlayers/index.js'

const db = 'http://127.0.0.1:5984/tiles'
const map = new Map({})
const layer = historyLayer(map, db, {
  layer: 'daylight', time: '2024-06-20', clock: clock(), webgl: true, opacity: 0.5, style: {}, bounds: [0, 0, 1, 1]
})
const source: HistorySource = layer.getSource()!.setTime('2024')
source.on('timeload', ({ time }) => time)
source.on(['changes', 'extent'], () => source.changes()?.[0].tiles)
source.on('change', event => event.target)
source.un('timeload', () => {})
new TileLayer({ source: new HistorySource(db, { layer: 'daylight', interpolate: false }) })
source.follow(layer)
map.addControl(timeline(layer, { speed: 4, edge: 'top' }).setTimeZone('local'))
map.addControl(timeline([source]))
map.addControl(compare(layer, [layer], { mode: 'fade', leftLabel: '2020' }).setSplit(0.3))
// @ts-expect-error a layer has to be named
historyLayer(map, db, { webgl: true })
// @ts-expect-error a number is no time
source.setTime(2024)
// @ts-expect-error
timeline(layer, { sped: 4 })
