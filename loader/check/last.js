// What was written since tiles were settled last, by this process or an earlier one (lastRun in load/baseline.js):
// tiles, and those of which a manifest that came since says something.
import { canContinue } from '../../core/feed-position.js'
import { headId, isTileId, parseDocumentId, tileId } from '../../core/index.js'
import { tilesOfPlace } from '../../core/store/blocks.js'
import { lastRun, noteRun } from '../load/baseline.js'
import { changeDefaults, readChanges } from '../export/tree/changes.js'
import { version } from '../store/package.js'

const NAME = 'settled'

/** @typedef {Map<string, WrittenOfLayer>} Written by layer */

export class LastCheck {
  /** When every tile was settled by this process. @type {Awaited<ReturnType<typeof lastRun>>['now'] | undefined} */
  #last
  /** @type {Awaited<ReturnType<typeof lastRun>>['now']} */
  #now = /** @type {any} */ (undefined)

  /** @param {import('../store/couch.js').Couch} couch @param {{signal?: AbortSignal}} [options] */
  constructor (couch, { signal } = {}) {
    this.couch = couch
    this.signal = signal
  }

  /** @returns {Promise<Written | undefined>} undefined: everything is to be looked at */
  async read () {
    const { couch, signal } = this
    const { now, last: noted } = await lastRun(couch, NAME, signal)
    this.#now = now
    // another version of this program may settle otherwise
    const last = this.#last ?? (noted?.version === version ? noted : undefined)
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
   * After everything was settled.
   * @param {{isClean: boolean}} found isClean: of the whole store, and nothing was left
   */
  async write ({ isClean }) {
    const before = this.#last
    this.#last = this.#now
    if (!isClean || before?.since === this.#now.since) return
    await noteRun(this.couch, NAME, this.#now, { version }, this.signal)
  }
}

/** What was written of a layer. */
class WrittenOfLayer {
  /** Ids of heads. @type {Set<string>} */
  tiles = new Set()
  /** Manifests and their parts. @type {string[]} */
  #manifests = []
  /** Places and names. @type {{place: string, name: string}[]} */
  #blocks = []
  /** Any tile of the layer may be concerned. */
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
   * A block may arrive later than the manifest that names it. The silence of a complete edition counts from then on, so
   * that every tile of the place is settled.
   * @returns {AsyncGenerator<string>}
   */
  async * tilesInBlocks (statements) {
    const complete = statements.manifests.filter(manifest => manifest.complete)
    const whole = new Set()
    for (const { place, name } of this.#blocks) {
      if (whole.has(place)) continue
      for (const manifest of complete) {
        if ((await statements.namesAt(manifest, place))?.includes(name)) whole.add(place)
      }
      const isWhole = whole.has(place)
      const tiles = isWhole ? tilesOfPlace(place) : (await statements.block(place, name))?.tilesAt(place)
      for (const { z, x, y } of tiles ?? []) yield tileId(statements.layer, z, x, y)
    }
  }
}
