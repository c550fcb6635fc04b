// Checked by tsc, never run: what is right compiles, and every @ts-expect-error stands above what must not.
import * as L from 'leaflet'
import { Clock, CompareControl, CouchLayer, HistoryLayer, Mirror, Player, TilecouchError, TimelineControl, clock,
  compare, couchLayer, historyLayer, mirror, player, timeline } from '../../client/index.js'
import type { Change, ChangedTile, LayerDocument, MirrorStatus, TimelineControlOptions,
  Version } from '../../client/index.js'

const db = 'http://127.0.0.1:5984/tiles'
const map = L.map('map')

// ---- clock
const shared: Clock = clock({ time: '2024-03' })
clock().setTime(new Date()).setTime(null)
  .on('timechange', ({ time, previous, target }) => {
    const now: string | null = time ?? previous
    return [now, target]
  })
  .setTime('2024')
new Clock({ time: null }).fire('timechange')
// @ts-expect-error a number is no time
shared.setTime(2024)
// @ts-expect-error
clock({ tme: '2024' })
// @ts-expect-error this event has no such field
shared.on('timechange', event => event.changes)

// ---- the newest tiles
const couch: CouchLayer = couchLayer(db, {
  layer: 'daylight', live: true, opacity: 0.5, fetchOptions: { credentials: 'include' }
})
couch.addTo(map).retry().refresh().setOpacity(1)
  .on('layerload', ({ layer }) => {
    const doc: LayerDocument = layer
    return doc.bounds?.[0].toFixed()
  })
  .on('storeerror', ({ error }) => error.code === 'UNREACHABLE').on('tileload', ({ tile }) => tile.className)
  .on('load tileload', () => {})
const url: string = couch.getTileUrl({ x: 0, y: 0, z: 0 } as L.Coords)
// @ts-expect-error a layer has to be named
couchLayer(db)
// @ts-expect-error
couchLayer(db, { live: true })
// @ts-expect-error
couchLayer(db, { layer: 'daylight', live: 'yes' })
// @ts-expect-error
couchLayer(new URL(db), { layer: 'daylight' })

// ---- history
const past: HistoryLayer = historyLayer(db, {
  layer: 'daylight', time: '2024-06-20', clock: shared, fade: 200, preload: 0, maxZoom: 8
})
map.addLayer(past)
past.setTime('2024-06-20T12:00:00Z').setTime(null).setZIndex(3).retry().refresh()
const times: string[] = (past.changes() ?? []).map(({ time }: Change) => time)
const first: string | undefined = past.extent()?.first
const changed: ChangedTile[] = past.changedTiles(times[0], null)
const bytes: number = changed.reduce((sum, tile) => sum + tile.bytes, 0)
const versions: Version[] | undefined = past.tileAt([47, 8])?.versions
past.preload(times).then(() => past.isShown())
past.on('changes', ({ changes }) => changes?.length).once('timeload', ({ time }) => time).off('timeload')
past.on('tileerror', ({ coords, tile, error }) => [coords.z, tile.className, error.message])
past.on('extent', event => event.first?.slice(0, 4))
const same: Clock = past.clock
const name: string = past.title
// @ts-expect-error the clock is given to the layer when it is made
past.clock = clock()
// @ts-expect-error
past.setTime({ year: 2024 })
// @ts-expect-error changes() may not be known yet
past.changes().length
// @ts-expect-error
historyLayer(db, { layer: 'daylight', clock: new Date() })
// @ts-expect-error
past.on('changes', (event: { changes: string }) => event)

class Logged extends HistoryLayer {
  setTime(time: string | Date | null) {
    console.log(time)
    return super.setTime(time)
  }
}
new Logged(db, { layer: 'daylight' }).setTime(null)

// ---- player
const plays: Player = player(shared, [past], { speed: 4, loop: true, range: { from: '2024', to: new Date() } })
plays.play().pause().toggle().step(-1).first().last().setSpeed(1).setLoop(false).setRange(null).setLayers(past, shared)
plays.on('waiting', ({ time }) => time?.length).on('rangechange', ({ from, to }) => [from, to]).on('end', () => {})
const state: [boolean, number, boolean] = [plays.isPlaying(), plays.getSpeed(), plays.getLoop()]
const from: string | undefined = plays.getRange()?.from
new Player(shared, past)
// @ts-expect-error
player(past)
// @ts-expect-error
plays.setSpeed('fast')
// @ts-expect-error
plays.setRange({ from: '2024' })

// ---- timeline
const options: TimelineControlOptions = {
  position: 'topleft', speed: 1, timeZone: 'Europe/Berlin', selectable: false, container: document.body
}
const control: TimelineControl = timeline([past], options).addTo(map)
control.setTimeZone('local').setRange({ from: '2024', to: '2025' }).zoomToRange().zoomAxis(2).showAll()
  .setSpan({ from: 0, to: 1 }).toggleRange().setLayers(past)
control.on('rangechange', ({ from, to }) => [from, to]).on('zonechange', ({ timeZone }) => timeZone.length)
control.player.on('waiting', () => control.getContainer()?.classList.add('waits'))
new TimelineControl(past).setPosition('bottomright').remove()
// @ts-expect-error a plain layer knows no changes
timeline(couch)
// @ts-expect-error
timeline(past, { position: 'middle' })
// @ts-expect-error
control.on('rangechange', ({ start }) => start)

// ---- compare
const swipe: CompareControl = compare(past, [couch], { split: 0.3, leftLabel: 'then', rightLabel: 'now' }).addTo(map)
swipe.setSplit(0.5).setLabels('2023', '').setLayers(couch, null).on('splitchange', ({ split }) => split.toFixed(2))
const share: number = new CompareControl(past, couch).getSplit()
// @ts-expect-error a marker cannot be clipped
compare(past, L.marker([0, 0]))
// @ts-expect-error
compare(past)
// @ts-expect-error
swipe.setSplit('half')

// ---- mirrors
declare const pouch: { name: string; bulkDocs: (docs: any) => Promise<any> }
const stop = new AbortController()
const taken: Promise<MirrorStatus> = mirror(db, pouch, {
  layers: ['daylight'], bbox: [5.9, 45.8, 10.5, 47.8], zooms: '0-8', current: true, signal: stop.signal
})
const back = new Mirror(pouch, db, {
  live: true, limits: { concurrency: 1 }, onProgress: ({ tiles, bytes, pending }) => [tiles, bytes, pending],
  onState: ({ state }) => state === 'away'
})
back.run().then(({ docs }) => docs.toFixed(), () => back.status().reason?.length)
// @ts-expect-error where to?
mirror(db)
// @ts-expect-error
mirror(db, pouch, { onState: ({ state }) => state === 'gone' })

// ---- errors
try {
  shared.setTime('tomorrow')
} catch (error) {
  if (error instanceof TilecouchError)
    console.log(error.code, error.status, error.advice?.length, error.toJSON().reason)
}

export { bytes, first, from, name, same, share, state, taken, url, versions }
