// The tiles of a layer, with their past, under another name or in another store. CouchDB has nothing that would spare the
// way through here: attachments belong to one document, and its COPY keeps fields that the new id gives the lie. Through the
// client, many at once, it takes a third of the time (docs/expiry.md).
import { pMapIterable } from 'p-map'
import { tileId } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { batchesOf } from '../../core/batches.js'
import { imageAnew, isSameVersion, shownBy } from '../../core/store/documents.js'
import { isRefusal } from '../../core/couch/answers.js'
import { LayerStatements } from '../../core/store/statements.js'
import { settleTiles, versionIn } from '../../core/store/settle.js'
import { readTiles } from '../remove/documents.js'
import { fieldsOf } from '../store/revisions.js'
import { extendHeads } from '../store/extend.js'
import { tileAccess } from '../store/settle.js'

export const copyDefaults = {
  tiles: 100, // tiles looked at together
  batch: 200, // versions in a request
  bytes: 2e6, // of images in a request, unless one alone has more
  concurrency: 4 // of these at once
}

/**
 * @typedef {import('../store/list.js').ListedTile} ListedTile
 * @typedef {import('../remove/documents.js').StoredTile} StoredTile
 *
 * @typedef {object} TilesOptions
 * @property {string} to layer
 * @property {string} [time] exact: as of which
 * @property {boolean} history
 * @property {boolean} isNew nothing stands there yet
 * @property {import('./index.js').Tally} tally
 * @property {typeof copyDefaults} limits
 * @property {boolean} dryRun
 * @property {AbortSignal} [signal]
 * @property {(tally: import('./index.js').Tally) => void} [onProgress]
 */

export class Copier {
  #access
  #said

  /** @param {import('../store/couch.js').Couch} source @param {import('../store/couch.js').Couch} target @param {TilesOptions} options */
  constructor (source, target, options) {
    this.source = source
    this.target = target
    this.options = options
    this.tally = options.tally
    this.#access = tileAccess(target)
    this.#said = new LayerStatements(target, options.to)
  }

  /** @param {AsyncIterable<ListedTile>} tiles */
  async copy (tiles) {
    const { limits, signal, onProgress } = this.options
    const batches = batchesOf(tiles, { most: limits.tiles, bytes: limits.bytes, sizeOf: ({ versions }) => versions.reduce((sum, { size }) => sum + size, 0) })
    const copied = pMapIterable(batches, batch => this.#some(batch), { concurrency: limits.concurrency })
    for await (const tally of copied) {
      onProgress?.(tally)
      if (signal?.aborted) throw new TilecouchError('ABORTED')
    }
  }

  /** @param {ListedTile[]} tiles */
  async #some (tiles) {
    const { to, isNew, signal, dryRun } = this.options
    if (signal?.aborted) return this.tally
    const heres = await readTiles(this.source, tiles.map(({ id }) => id), signal)
    const ids = tiles.map(({ z, x, y }) => tileId(to, z, x, y))
    const theres = isNew ? ids.map(id => /** @type {StoredTile} */ ({ id, pasts: [] })) : await readTiles(this.target, ids, signal)
    const extensions = []
    /** @type {{id: string, seen: any, isNewest: boolean}[]} */
    const wanted = []
    for (const [index, here] of heres.entries()) {
      const [head, ...rest] = this.#wanted(here)
      if (!head) continue
      this.tally.tiles++
      const there = theres[index]
      const holdsOn = extensionOf(head, there.head, this.options)
      if (holdsOn) extensions.push(holdsOn)
      for (const seen of [head, ...rest]) {
        if (stands(seen, there)) this.tally.unchanged++
        else wanted.push({ id: ids[index], seen, isNewest: seen === head })
      }
    }
    if (dryRun) {
      this.tally.versions += wanted.length
      for (const { seen } of wanted) this.tally.bytes += sizeOf(seen)
      return this.tally
    }
    if (extensions.length) this.tally.extended += (await extendHeads(this.target, extensions, { signal })).extended.size
    await this.#write(wanted)
    return this.tally
  }

  /** The newest version that is wanted, then the others. @param {StoredTile} tile */
  #wanted ({ head, pasts }) {
    const { time, history } = this.options
    // a copy that a load has made of its head is the same version
    const all = [...pasts.filter(doc => !head || !isSameVersion(doc, head)), ...(head ? [head] : [])].sort((a, b) => a.time < b.time ? -1 : 1)
    const wanted = time === undefined ? all : all.filter(doc => doc.time <= time)
    const newest = wanted.pop()
    if (!newest || (!history && shownBy(newest) === null)) return []
    return [newest, ...(history ? wanted : [])]
  }

  /** @param {{id: string, seen: any, isNewest: boolean}[]} wanted */
  async #write (wanted) {
    if (!wanted.length) return
    const { to, time, isNew, signal } = this.options
    const rows = await this.source.docs(wanted.map(({ seen }) => seen._id), { attachments: true, signal })
    /** @type {Map<string, {mine: import('../../core/store/settle.js').Incoming & {size: number}, isNewest: boolean}[]>} */
    const byTile = new Map()
    for (const [index, { doc }] of rows.entries()) {
      const { id, seen, isNewest } = wanted[index]
      // whoever wrote it meanwhile: the next pass finds where it is now
      if (!doc || !isSameVersion(doc, seen)) this.tally.moved++
      else byTile.set(id, [...byTile.get(id) ?? [], { mine: incomingOf(doc, to, isNewest ? time : undefined), isNewest }])
    }
    const left = isNew ? await this.#writeNew(byTile) : [...byTile.keys()]
    if (!left.length) return
    const settled = await settleTiles(this.#access, left, {
      knownOf: ids => this.#said.knownOf(ids, { isFresh: true }),
      incomingOf: id => (byTile.get(id) ?? []).map(({ mine }) => mine),
      signal
    })
    for (const [id, { error, done }] of settled) {
      if (error) this.tally.fail(id, error)
      else {
        for (const { mine } of byTile.get(id) ?? []) {
          this.#count(mine, done.some(({ want }) => want?.time === mine.time && want?.content === mine.content))
        }
      }
    }
  }

  /** Into a layer that was empty: nothing to compare with. Answers the tiles of which something was there all the same. */
  async #writeNew (byTile) {
    const docs = [...byTile].flatMap(([id, versions]) => versions.map(({ mine, isNewest }) => ({ ...mine.documentOf(), _id: isNewest ? id : `${id}@${mine.time}`, current: isNewest })))
    const byId = new Map((await this.target.write(docs, this.options.signal)).map(answer => [answer.id, answer]))
    const left = []
    for (const [id, versions] of byTile) {
      const answers = versions.map(({ mine, isNewest }) => byId.get(isNewest ? id : `${id}@${mine.time}`) ?? { error: 'no answer' })
      const refused = answers.find(({ error }) => isRefusal(error))
      if (refused) this.tally.fail(id, new TilecouchError('REFUSED', { id, reason: refused.reason || refused.error }))
      else if (answers.some(({ error }) => error)) left.push(id)
      else for (const { mine } of versions) this.#count(mine, true)
    }
    return left
  }

  #count ({ size }, isWritten) {
    if (!isWritten) this.tally.unchanged++
    else {
      this.tally.versions++
      this.tally.bytes += size
    }
  }
}

/** Whether a version stands in a tile. @param {any} doc @param {StoredTile} there */
export const stands = (doc, { head, pasts }) => [head, ...pasts].some(other => other && isSameVersion(doc, other))

const sizeOf = doc => doc._attachments?.tile?.length ?? 0

/**
 * A version that is to be written, with every field it has.
 * @param {any} doc with bytes @param {string} layer @param {string} [until] it stands still as of then: it does not expire
 */
function incomingOf (doc, layer, until) {
  const { z, x, y } = doc
  const own = until === undefined ? doc : asOfThen(doc, until)
  const { expires, ...fields } = fieldsOf(own)
  const { time, content, run, seen, contested } = versionIn(own)
  const document = { ...fields, ...(until === undefined && expires && { expires }), layer, _id: tileId(layer, z, x, y), ...imageAnew(doc) }
  return { time, content, run, seen, contested, inManifest: false, size: doc._attachments?.tile?.data.length ?? 0, documentOf: () => document }
}

/** Without what was said of it later. @param {any} doc @param {string} until */
function asOfThen ({ seen = [], origin, ...doc }, until) {
  const { checked, ...rest } = origin ?? {}
  const then = seen.filter(([at]) => at <= until)
  return { ...doc, ...(origin && { origin: checked > until ? rest : origin }), ...(then.length && { seen: then }) }
}

/** What makes the head of the copy hold as long as the one it is a copy of. */
export function extensionOf (head, there, { time } = /** @type {{time?: string}} */ ({})) {
  if (time !== undefined || !there || !isSameVersion(head, there) || (head.expires ?? '') <= (there.expires ?? '')) return undefined
  return { id: there._id, rev: there._rev, expires: head.expires, ...(head.origin && { origin: head.origin }) }
}
