// The names of the measures of bench/cold.js in results and on the page, and their budgets.
import { OLD } from '../block.js'

export const GATEWAY = 'gateway'
export const COUCH = 'CouchDB, attachments'

/**
 * time: of the versions, the newest if it is not set. target: minimal ratio to CouchDB's tiles per second; view:
 * maximal ratio to its milliseconds per view. Rows without them have no budget.
 * @type {Record<string, {time?: string, target?: number, view?: number}>}
 */
export const ROWS = {
  'past, one person': { time: OLD, target: 2, view: 0.5 },
  'past, eight people': { time: OLD, target: 2, view: 0.5 },
  'present, one person': { target: 2, view: 0.5 },
  'present, eight people': { target: 2, view: 0.5 },
  'sparse layer, one person': {},
  'single tiles, present': {},
  'single tiles, past': { time: OLD }
}
