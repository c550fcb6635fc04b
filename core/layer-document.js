// Makes layer documents, and reads the terms of their upstreams. It is not in layers.js, so that a page that only reads
// layers does not load the rules of upstreams and retention.
import { soundOf } from './documents.js'
import { TilecouchError } from './errors.js'
import { WEB_MERCATOR } from './grid.js'
import { gridOf } from './grids/index.js'
import { checkGrid } from './grids/trial.js'
import { checkLayer, layerId } from './ids.js'
import { isLayerField } from './layers.js'
import { checkRetention } from './retention.js'
import { checkUpstream, hostOf } from './upstream.js'

/**
 * Further checks for writers, by field. Each throws an error that names the wrong field. Readers check these fields
 * when they use them, and ignore invalid ones.
 */
const fieldChecks = {
  grid: grid => checkGrid({ grid }),
  upstream: (value, fields) => checkUpstream(value, gridOf(fields)),
  retention: checkRetention
}

/**
 * The documents of layers without a fault, their grids included.
 * @param {any[]} docs
 * @param {(doc: any, why: string) => void} [onFault] called with each of the other documents
 */
export function soundLayers (docs, onFault) {
  return soundOf(docs, 'layer', onFault).filter(doc => {
    try {
      return Boolean(checkGrid(doc))
    } catch (error) {
      onFault?.(doc, error.message)
      return false
    }
  })
}

/** @param {string} layer @param {Record<string, any>} [fields] */
export function layerDocument (layer, fields = {}) {
  checkLayer(layer)
  const doc = /** @type {Record<string, any>} */ ({ _id: layerId(layer), type: 'layer', layer })
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined || value === null || (field === 'grid' && value === WEB_MERCATOR)) continue
    const isValid = isLayerField(field, value)
    if (!isValid || (field === 'retina' && value === layer)) {
      throw new TilecouchError('BAD_LAYER_FIELD', { field, value })
    }
    fieldChecks[field]?.(value, fields)
    doc[field] = value
  }
  return doc
}

/**
 * The host whose terms forbid to fetch its tiles in advance, for archives or for areas on a device. Undefined if the
 * layer has no such host.
 * @param {Record<string, any>} doc a layer document
 */
export function forbiddingHost (doc) {
  const { upstream } = doc
  if (!upstream) return undefined
  const { seed, url } = checkUpstream(upstream, gridOf(doc))
  return seed ? undefined : hostOf(url)
}
