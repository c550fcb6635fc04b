// Finds the tiles that must be settled again: those that were written since the last run of this process or an earlier
// one (lastRun in load/baseline.js), and those that a newly arrived manifest names.
import { canContinue } from '../../core/feed-position.js'
import { headId, isTileId, parseDocumentId, tileId } from '../../core/index.js'
import { tilesOfPlace } from '../../core/store/blocks.js'
import { lastRun, noteRun } from '../load/baseline.js'
import { changeDefaults, readChanges } from '../export/tree/changes.js'
import { version } from '../store/package.js'

const NAME = 'settled'

/** @typedef {Map<string, WrittenOfLayer>} Written by layer */

export class LastCheck {
  /** When this process settled every tile. @type {Awaited<ReturnType<typeof lastRun>>['now'] | undefined} */
  #last
  /** @type {Awaited<ReturnType<typeof lastRun>>['now']} */
  #now = /** @type {any} */ (undefined)

  /** @param {import('../store/couch.js').Couch} couch @param {{signal?: AbortSignal}} [options] */
  constructor (couch, { signal } = {}) {
    this.couch = couch
    this.signal = signal
  }

  /** @returns {Promise<Written | undefined>} undefined: look at all tiles */
  async read () {
    const { couch, signal } = this
    const { now, last: storedRun } = await lastRun(couch, NAME, signal)
    this.#now = now
    // another version of this program may settle differently
    const last = this.#last ?? (storedRun?.version === version ? storedRun : undefined)
    if (!last || !canContinue(last, now)) return undefined
    const written = new Map()
    let count = 0
    const onChange = (id, deleted) => {
      const layer = isTileId(id) ? id.slice(0, id.indexOf(':')) : parseDocumentId(id)?.layer
      if (layer === undefined || ++count > changeDefaults.most) return
      if (!written.has(layer)) written.set(layer, new WrittenOfLayer())
      written.get(layer).add(id, deleted)
    }
    if (last.since !== now.since) await readChanges(couch, last.since, { signal, onChange })
    return count > changeDefaults.most ? undefined : written
  }

  /**
   * Notes that everything was settled.
   * @param {{isClean: boolean}} result isClean: the whole store was settled, without exceptions
   */
  async write ({ isClean }) {
    const previous = this.#last
    this.#last = this.#now
    if (!isClean || previous?.since === this.#now.since) return
    await noteRun(this.couch, NAME, this.#now, { version }, this.signal)
  }
}

/** The documents of a layer that were written since the last run. */
class WrittenOfLayer {
  /** Ids of heads. @type {Set<string>} */
  tiles = new Set()
  /** Manifests and their parts. @type {string[]} */
  #manifests = []
  /** Places and names of blocks. @type {{place: string, name: string}[]} */
  #blocks = []
  /** Whether all tiles of the layer must be settled. */
  isAll = false

  /** @param {string} id @param {boolean} deleted */
  add (id, deleted) {
    if (isTileId(id)) this.tiles.add(headId(id))
    else if (/^(removed|limits):/.test(id) || (deleted && id.startsWith('manifest:'))) this.isAll = true
    else if (id.startsWith('manifest:')) this.#manifests.push(id)
    else if (id.startsWith('block:') && !deleted) {
      const [, , z, x, y, name] = id.split(':')
      this.#blocks.push({ place: `${z}:${x}:${y}`, name })
    }
  }

  /** @param {import('../../core/store/statements.js').LayerStatements} statements */
  manifestsIn ({ manifests }) {
    const isChanged = id => this.#manifests.some(changedId => changedId === id || changedId.startsWith(`${id}:`))
    return manifests.filter(({ id }) => isChanged(id))
  }

  /**
   * Yields the tiles of blocks, which may arrive later than the manifest that names them. If that is of a complete
   * edition, tiles that the block lacks become gone: then all tiles of the place are settled.
   * @returns {AsyncGenerator<string>}
   */
  async * tilesInBlocks (statements) {
    const completeManifests = statements.manifests.filter(manifest => manifest.complete)
    const wholePlaces = new Set()
    for (const { place, name } of this.#blocks) {
      if (wholePlaces.has(place)) continue
      for (const manifest of completeManifests) {
        if ((await statements.namesAt(manifest, place))?.includes(name)) wholePlaces.add(place)
      }
      const isWholePlace = wholePlaces.has(place)
      const tiles = isWholePlace ? tilesOfPlace(place) : (await statements.block(place, name))?.tilesAt(place)
      for (const { z, x, y } of tiles ?? []) yield tileId(statements.layer, z, x, y)
    }
  }
}
