// The faults that `tilecouch check --fix` repairs, in the table `repairs`; and the queue of findings that are to be
// repaired. Tiles are repaired a few at a time while a layer is read, so that memory stays flat however much is wrong;
// faults of layers and of the store are repaired at the end.
import { headId, isTileId } from '../../core/index.js'
import { TileRepair } from './tile-repair.js'

const repairDefaults = {
  gather: 20_000, // findings kept before they are repaired
  tiles: 100, // tiles repaired together
  named: 100 // documents named in a report
}

/** Findings about one tile. */
const OF_BYTES = new Set([
  'empty-tile', 'unknown-format', 'truncated-tile', 'undecodable-tile', 'wrong-digest', 'wrong-length', 'unreadable-tile'
])
const OF_TILES = new Set([
  'fields-disagree', 'wrong-current', 'time-disagrees', 'bad-time', 'not-a-tile', 'wrong-type', 'no-bytes', 'stray-attachment',
  'conflict', 'head-too-old', 'two-at-one-time', 'no-head', 'version-twice'
])

/** @typedef {import('../verify/report.js').Finding} Finding */

export class RepairQueue {
  /** Tile -> its findings. @type {Map<string, Finding[]>} */
  #tiles = new Map()
  #gathered = 0
  /** Code -> findings about layers and the store. @type {Map<string, {count: number, some: Finding[]}>} */
  #others = new Map()

  /** @param {import('../store/index.js').Store} store @param {{tally: RepairTally, [option: string]: any}} options */
  constructor (store, { signal, from, tally }) {
    this.tally = tally
    this.from = from
    this.tiles = new TileRepair(store, { signal, from, onLeft: (id, reason) => tally.explain(id, reason) })
  }

  /** @param {Finding} finding */
  note (finding) {
    const tile = tileOf(finding.where)
    const isOurs = OF_TILES.has(finding.code) || (this.from && OF_BYTES.has(finding.code))
    if (tile && isOurs) {
      this.#tiles.set(tile, [...this.#tiles.get(tile) ?? [], finding])
      this.#gathered++
    } else if (repairs[finding.code]) {
      const found = this.#others.get(finding.code) ?? { count: 0, some: [] }
      this.#others.set(finding.code, found)
      found.count++
      if (found.some.length < repairDefaults.gather) found.some.push(finding)
    } else this.tally.left(finding)
  }

  async repairIfMany () {
    if (this.#gathered >= repairDefaults.gather) await this.repairTiles()
  }

  async repairTiles () {
    const ids = [...this.#tiles.keys()]
    for (let at = 0; at < ids.length; at += repairDefaults.tiles) {
      const some = ids.slice(at, at + repairDefaults.tiles)
      const found = some.flatMap(id => /** @type {Finding[]} */ (this.#tiles.get(id)))
      const isOfType = ({ code }) => code === 'wrong-type'
      const isOfBytes = ({ code }) => OF_BYTES.has(code)
      const whereOf = isOf => new Set(found.filter(isOf).map(({ where }) => where))
      const wrong = await this.tiles.repair(some, { types: whereOf(isOfType), bytes: whereOf(isOfBytes) })
      for (const finding of found) {
        const { code, where } = finding
        const isRepaired = isOfType(finding) || isOfBytes(finding)
          ? this.tiles.repaired.has(where)
          : !wrong.has(`${code} ${where}`)
        if (isRepaired) this.tally.repair(finding)
        else this.tally.left(finding)
      }
    }
    this.#tiles.clear()
    this.#gathered = 0
  }

  /** Takes the findings of a code out of the queue. @param {string} code */
  take (code) {
    const found = this.#others.get(code)
    this.#others.delete(code)
    return found
  }

  /**
   * Repairs all findings of some codes together, and counts the result.
   * @param {string[]} codes
   * @param {(found: Finding[]) => Promise<boolean | string>} repair answers whether it was done, or why not
   */
  async repairAll (codes, repair) {
    const taken = codes.map(code => this.take(code)).filter(found => found !== undefined)
    if (!taken.length) return
    const done = await repair(taken.flatMap(({ some }) => some))
    for (const { some: [finding], count } of taken) {
      if (done === true) this.tally.repair(finding, count)
      else this.tally.left(finding, done || undefined, count)
    }
  }

  /** Counts the findings that nobody took as left. */
  end () {
    for (const { some: [finding], count } of this.#others.values()) this.tally.left(finding, undefined, count)
    this.#others.clear()
  }
}

const tileOf = where => isTileId(where) ? headId(where) : undefined

/** How many findings were repaired, and how many are left. */
export class RepairTally {
  /** By code. @type {Record<string, number>} */
  repaired = {}
  /** By code. @type {Record<string, number>} */
  remaining = {}
  faults = 0 // among the remaining
  warnings = 0
  /** The first of the remaining. @type {(Finding & {reason?: string})[]} */
  named = []
  #reasons = new Map()

  /** @param {Finding} finding */
  repair ({ code }, count = 1) {
    this.repaired[code] = (this.repaired[code] ?? 0) + count
  }

  /** @param {Finding} finding @param {string} [reason] */
  left (finding, reason = this.#reasons.get(finding.where), count = 1) {
    this.remaining[finding.code] = (this.remaining[finding.code] ?? 0) + count
    if (finding.level === 'fault') this.faults += count
    else this.warnings += count
    if (this.named.length < repairDefaults.named) this.named.push({ ...finding, ...(reason && { reason }) })
  }

  /** Why a document could not be repaired; called before `left`. @param {string} id @param {string} reason */
  explain (id, reason) {
    if (this.#reasons.size < 100 * repairDefaults.named) this.#reasons.set(id, reason)
  }
}

/**
 * What is repaired: docs/checking.md shows this table. A fault that is not here needs a person's decision.
 * @type {Record<string, {cause: string, fix: string, reason: string}>} by code; reason: why the fix is right
 */
export const repairs = {
  'fields-disagree': {
    cause: 'another program wrote the document before there was a validation function',
    fix: 'layer, z, x and y become those of the id',
    reason: 'readers find a tile by its id: the map shows it there already'
  },
  'wrong-current': {
    cause: 'the same',
    fix: '`current` becomes true for a head, false for a past version',
    reason: 'the id says which of the two it is'
  },
  'time-disagrees': {
    cause: 'the same',
    fix: 'the time of a past version becomes that of its id',
    reason: 'requests as of a time read the id'
  },
  'bad-time': {
    cause: 'another program writes `2024-03-01T01:00:00+01:00`, or fractions of a second',
    fix: 'it is written as UTC in whole seconds, if it names one second; otherwise it is left',
    reason: 'the same moment, in the form that all programs read'
  },
  'not-a-tile': {
    cause: 'another program left out the type',
    fix: '`type: "tile"`, if there is none and the rest is that of a tile; another type is left',
    reason: 'nothing else can have this id'
  },
  'wrong-type': {
    cause: 'a program trusted the name of a file',
    fix: 'the content type becomes that of the bytes',
    reason: 'browsers and decoders read the bytes'
  },
  'no-bytes': {
    cause: 'a program gave the tile another name',
    fix: 'the only attachment becomes `tile`, if it is an image; otherwise it is left',
    reason: 'it is the only image that the version can show'
  },
  'stray-attachment': {
    cause: 'a program attached something of its own',
    fix: 'attachments that are not called `tile` are removed',
    reason: 'nobody reads them, and the validation function refuses such a document'
  },
  conflict: {
    cause: 'two stores were loaded independently and then replicated',
    fix: 'the newest stays, the others become its past; documents of layers, editions and the store are merged',
    reason: 'no version is lost, and all stores come to the same result. Losing revisions of our design documents are deleted'
  },
  'head-too-old': {
    cause: 'a program that knows no versions overwrote the head, or a replication brought a newer past',
    fix: 'the newest past version becomes the head, the former head a past version',
    reason: 'the head is the newest version, and none is lost'
  },
  'two-at-one-time': {
    cause: 'two stores loaded different images for one time',
    fix: 'the head keeps the time, the other moves to the second before',
    reason: 'both are kept, in the same order in all stores'
  },
  'no-head': {
    cause: 'somebody deleted the head by hand, or a program cleaned its cache',
    fix: 'the newest past version becomes the head, and is then deleted from the past',
    reason: '`tilecouch remove` deletes the past first and the head last: a past without a head is never a removal that stopped'
  },
  'version-twice': {
    cause: 'two stores moved a contested version at different moments',
    fix: 'the earlier one stays, the later one is deleted',
    reason: 'as with conflicts: no two stores can delete both'
  },
  'not-settled': {
    cause: 'two stores that were loaded independently were merged, or a load or removal was killed and never run again',
    fix: 'the versions become what all statements about the tile say',
    reason: 'the order in which statements came does not matter. A missing image is never guessed'
  },
  'no-layer': {
    cause: 'another program wrote tiles, or only tiles were replicated',
    fix: 'the document is made from the tiles: format, zooms, bounds',
    reason: 'clients then find the map'
  },
  'bad-layer': {
    cause: 'somebody edited the document',
    fix: 'type and name become those of the id; swapped zooms those of the tiles; other fields are left',
    reason: 'the id and the tiles say it'
  },
  'outside-zooms': {
    cause: 'another program wrote tiles, or somebody narrowed the layer',
    fix: 'minzoom and maxzoom are widened to the tiles',
    reason: 'clients then request these tiles. To hide zooms on purpose, remove their tiles'
  },
  'outside-bounds': { cause: 'the same', fix: 'the bounds are widened to the tiles', reason: 'the same' },
  'not-in-index': {
    cause: 'the disk of the index was damaged, or its files were restored from a backup',
    fix: 'a new index is built beside the old one, which serves meanwhile',
    reason: 'an index holds nothing that the documents do not say'
  },
  'index-too-long': {
    cause: 'the same; or CouchDB compacted a database with an outdated index, which then forgets purges',
    fix: 'the same',
    reason: 'the same'
  },
  'wrong-sums': { cause: 'the same as with the two above', fix: 'the same', reason: 'the same' },
  'no-mark': {
    cause: 'another program, or replication of a part, filled the database',
    fix: 'the document that marks a store is written',
    reason: 'the database holds tiles: it is a store'
  },
  'bad-mark': {
    cause: 'somebody edited the document',
    fix: '`type` and `schema` are corrected; other fields stay',
    reason: 'the id is reserved for this document'
  },
  'no-design': {
    cause: 'somebody deleted it, or a replication without rights left it out',
    fix: 'the one of this tilecouch is pushed',
    reason: 'there is only one of this name'
  },
  'no-validation': {
    cause: 'the store was opened to the public before it was published',
    fix: 'the design document `tiles` of this tilecouch is pushed',
    reason: 'without it all readers may write'
  },
  'left-staging': {
    cause: 'a push was killed before its last step',
    fix: 'the staging document is deleted if the design document is already ours',
    reason: 'its index is built and in use. Otherwise it is left: run the push again, and it resumes'
  }
}
