// Until the transfer of areas is there: by the mirror, and an estimate of nothing but numbers of tiles.
import { isTileId } from '../../core/index.js'
import { Replication, lookBackOf } from '../../core/mirror/index.js'
import { codec } from '../mirror/codec.js'
import { mirrorLimits } from '../mirror/index.js'
import { Origin } from '../mirror/origin.js'
import { PouchPeer } from '../mirror/pouch-peer.js'

export async function estimate (couch, selection, { signal } = /** @type {any} */ ({})) {
  let [tiles, versions] = [0, 0]
  const origin = new Origin(couch, codec)
  for (let since = /** @type {any} */ (0); ;) {
    const { rows, last, pending } = await origin.changes({ since, limit: 10000, signal })
    for (const { id, deleted } of rows) {
      if (deleted || !isTileId(id) || !selection.has(id)) continue
      versions++
      if (!id.includes('@')) tiles++
    }
    since = last
    if (!rows.length || !pending) break
  }
  const transfer = versions * 10000
  return { tiles, versions, bytes: transfer, transfer, requests: 1 }
}

export class Transfer {
  constructor (/** @type {any} */ { couch, db, area: { selection }, limits, signal, onProgress }) {
    Object.assign(this, { db, onProgress, selection })
    this.replication = new Replication({
      source: new Origin(couch, codec),
      target: new PouchPeer(db),
      selection,
      lookBack: selection.since ? lookBackOf(couch, selection.since) : undefined,
      limits: { ...mirrorLimits, ...limits },
      signal,
      onProgress: ({ tiles, bytes }) => onProgress?.({ tiles, versions: tiles, bytes, total: undefined, received: bytes })
    })
  }

  async run () {
    const { docs, tiles, bytes, since } = await this.replication.run()
    const have = { tiles: 0, versions: 0, bytes: 0 }
    const { rows } = await /** @type {any} */ (this).db.allDocs({ include_docs: true })
    for (const { id, doc } of rows) {
      if (!isTileId(id)) continue
      have.versions++
      if (!id.includes('@')) have.tiles++
      have.bytes += doc._attachments?.tile?.length ?? 0
    }
    return { since, failed: /** @type {any[]} */ ([]), changed: { docs, tiles, bytes }, isComplete: true, have }
  }
}
