// What dist/tilecouch.js hangs on the global L: `import 'tilecouch/client/bundle'`, or a script tag with
// `/// <reference types="tilecouch/client/bundle" />`.
import * as client from './index.js'

declare module 'leaflet' {
  /** What has no place of Leaflet's own. */
  const Couch: {
    Clock: typeof client.Clock
    Mirror: typeof client.Mirror
    OfflineStore: typeof client.OfflineStore
    Player: typeof client.Player
    TilecouchError: typeof client.TilecouchError
  }
  const couch: {
    clock: typeof client.clock
    crs: typeof client.crs
    mirror: typeof client.mirror
    offline: (options: client.OfflineStoreOptions) => client.OfflineStore
    player: typeof client.player
    registerProj4: typeof client.registerProj4
  }
  namespace TileLayer {
    const Couch: typeof client.CouchLayer &
      { History: typeof client.HistoryLayer, Coverage: typeof client.CoverageLayer }
  }
  namespace tileLayer {
    const couch: typeof client.couchLayer &
      { history: typeof client.historyLayer, coverage: typeof client.coverageLayer }
  }
  namespace Control {
    const Timeline: typeof client.TimelineControl
    const Compare: typeof client.CompareControl
  }
  namespace control {
    const timeline: typeof client.timeline
    const compare: typeof client.compare
  }
}
