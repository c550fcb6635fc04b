// Refuses sources that a load cannot take: sources without tiles, and diffs as complete editions.
import { TilecouchError } from '../errors.js'
import { whyEmpty } from './georeference.js'

/** The error for a source without tiles. @param {import('./sources/index.js').Source} source */
export function emptySource (source) {
  const { why, advice } = whyEmpty(source) ?? {}
  const error = new TilecouchError('SOURCE_EMPTY', { value: source.name, ...(why && { why }) })
  return advice ? Object.assign(error, { advice }) : error
}

/** Refuses a diff as a complete source. @param {{name: string, diff?: boolean}} source @param {boolean} complete */
export function checkComplete ({ name, diff }, complete) {
  if (!complete || !diff) return
  const why = 'it is a diff: what it lacks has not changed'
  throw new TilecouchError('BAD_OPTION', { option: '--complete', value: name, why })
}

/** Whether a source has no selected tiles. @param {import('./sources/index.js').Source} source */
export async function isEmpty (source) {
  if (source.total) return false
  for await (const _ of source.tiles()) return false
  return true
}
