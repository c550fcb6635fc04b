// The names of what is measured, as they stand in the results and on the page, and what is promised.
import { OLD } from '../block.js'

export const GATEWAY = 'gateway'
export const COUCH = 'CouchDB, attachments'

/**
 * time: of the versions; the newest without one. target: times CouchDB's tiles a second; view: times its milliseconds.
 * Without them nothing is promised: reading ahead must not make these slower.
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
