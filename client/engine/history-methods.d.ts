// The methods that every layer with a past has of its time engine, see layer-methods.js. JSDoc has no `this`
// types, so these few declarations are written here.
import type { ExactTime, Time } from './clock.js'
import type { HistoryEngine } from './history-engine.js'

export interface HistoryMethods extends Pick<HistoryEngine,
  'getTime' | 'changes' | 'extent' | 'isShown' | 'changedTiles' | 'changesByTile' | 'preload'> {
  /** Moves the clock, and with it every layer on it. An invalid time throws BAD_TIME. */
  setTime (time: Time | null): this
  /** Tries again now what failed. */
  retry (): this
  /** Asks the store anew for the present view: new versions appear. `live: true` does so by itself. */
  refresh (): this
}
