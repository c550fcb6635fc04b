// The same on the global L. Checked by tsc, never run.
import * as L from 'leaflet'
import '../../client/global.js'

const db = 'http://127.0.0.1:5984/tiles'
const clock = L.couch.clock({ time: null })
const newest = L.tileLayer.couch(db, { layer: 'daylight' })
const past = L.tileLayer.couch.history(db, { layer: 'daylight', clock })
const offline = L.couch.offline({ remote: db })
L.tileLayer.couch.coverage(offline, { layer: 'daylight' }).refresh()
new L.TileLayer.Couch.Coverage(new L.Couch.OfflineStore({ remote: db }), { layer: 'daylight' }).counts().whole.toFixed()
newest.setUrl('x')
L.couch.player(clock, [past]).play()
new L.Couch.Player(new L.Couch.Clock(), new L.TileLayer.Couch.History(db, { layer: 'daylight' }))
new L.TileLayer.Couch(db, { layer: 'daylight' }).bringToBack()
class Live extends L.TileLayer.Couch {}
new Live(db, { layer: 'daylight', live: true })
const map = L.map('map')
L.control.timeline(past, { loop: true }).addTo(map).player.play()
new L.Control.Timeline([past])
L.control.compare(past, newest).addTo(map).setSplit(0.2)
new L.Control.Compare(past, newest)
L.control.zoom().addTo(map)
const isOurs = (error: unknown) => error instanceof L.Couch.TilecouchError && error.code
// @ts-expect-error
L.tileLayer.couch(db)
// @ts-expect-error
L.couch.player(clock)
// @ts-expect-error
L.tileLayer.couch.past(db, { layer: 'daylight' })
// @ts-expect-error
L.couch.offline()
// @ts-expect-error
L.tileLayer.couch.coverage(db, { layer: 'daylight' })
// @ts-expect-error
L.control.compare(past)

export { isOurs }
