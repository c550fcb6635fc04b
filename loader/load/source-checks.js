// Refuses sources that a load cannot take: sources without tiles, and diffs as complete editions. The load and its dry
// run make the same checks.
import { checkLayer } from '../../core/index.js'
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

/**
 * Refuses a load before anything is written.
 * @param {import('../store/index.js').Store | undefined} store undefined: there is none yet
 * @param {import('./sources/index.js').Source} source
 * @param {{layer: string, complete?: boolean}} options
 */
export async function checkLoad (store, source, { layer, complete = false }) {
  checkLayer(layer)
  checkComplete(source, complete)
  if (!source.diff && await isEmpty(source)) throw emptySource(source)
  if (store) await refuseOutdated(store)
}

/** Refuses a store that an older tilecouch has published: it would refuse the manifest, after all tiles. */
async function refuseOutdated ({ couch, url }) {
  const design = await couch.get('_design/tiles')
  const validation = String(design?.validate_doc_update)
  if (validation.includes('edition:LAYER@TIME') && !validation.includes('manifest')) {
    throw new TilecouchError('STORE_OUTDATED', { url, what: 'manifests of editions' })
  }
}
