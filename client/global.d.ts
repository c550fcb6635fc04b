// What dist/tilecouch.js hangs on the global L: `import 'tilecouch/client/bundle'`, or a script tag with
// `/// <reference types="tilecouch/client/bundle" />`.
import * as client from './index.js'

declare module 'leaflet' {
  /** Classes that have no place of Leaflet's own. */
  const Couch: {
    TilecouchError: typeof client.TilecouchError
    Clock: typeof client.Clock
    Player: typeof client.Player
  }
  const couch: {
    clock: typeof client.clock
    player: typeof client.player
  }
  namespace TileLayer {
    const Couch: typeof client.CouchLayer & { History: typeof client.HistoryLayer }
  }
  namespace tileLayer {
    const couch: typeof client.couchLayer & { history: typeof client.historyLayer }
  }
}
