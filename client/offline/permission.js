// Whether a layer may be kept on a device, as its document says.
import { TilecouchError } from '../../core/index.js'
import { forbiddingHost } from '../../core/layers.js'

/** @param {Record<string, any>} doc of a layer @param {boolean} [permission] somebody has leave */
export function checkOffline (doc, permission = false) {
  if (permission) return
  const { layer } = doc
  if (doc.offline === false) throw new TilecouchError('OFFLINE_FORBIDDEN', { layer })
  const host = forbiddingHost(doc)
  if (host) throw new TilecouchError('OFFLINE_FORBIDDEN', { layer, host })
}
