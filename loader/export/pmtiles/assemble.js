// Makes an archive of the tiles that were gathered: header, root, metadata, leaves, data. What may not fit into memory,
// entries and leaves, waits in files beside it.
import { open, rm } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { copyPieces } from './copy.js'
import { buildDirectories } from './directory.js'
import { Entries } from './entries.js'
import { describe, headerBytes } from './header.js'

const LONGEST_RUN = 2 ** 32 - 1

const waitingFiles = part => ({ entries: `${part}-entries`, leaves: `${part}-leaves` })

/** Removes what a run left that was killed while it assembled. @param {string} part */
export async function removeAssembled (part) {
  for (const file of [part, ...Object.values(waitingFiles(part))]) await rm(file, { force: true })
}

/**
 * @param {string} part the file to write; what waits lies in files whose names begin with this one
 * @param {import('./gathered.js').Gathered} gathered
 * @param {import('../target.js').TargetOptions} options
 * @param {import('../facts.js').Facts} facts
 * @param {(types: number[]) => void} check throws when these cannot be in one archive
 * @returns {Promise<{size: number, distinct: number}>}
 */
export async function assemble (part, gathered, options, facts, check) {
  const files = waitingFiles(part)
  const entries = new Entries(files.entries)
  const waiting = await open(files.leaves, 'w+')
  const target = await open(part, 'w')
  try {
    const { counts, types, length, zooms } = await lay(gathered, entries)
    check(Object.keys(types).map(Number))
    const { root, leaves } = await buildDirectories(entries, {
      clear: () => waiting.truncate(0),
      write: bytes => waiting.appendFile(bytes)
    })
    const { metadata: said, bounds, center } = describe(options, facts, types)
    const metadata = gzipSync(JSON.stringify(said), { level: 9 })
    const lengths = { root: root.length, metadata: metadata.length, leaves, data: length }
    const front = Buffer.concat([headerBytes({ lengths, counts, types, zooms, bounds, center }), root, metadata])
    await target.writeFile(front)
    await copyPieces(waiting, target, front.length, [{ at: 0, length: leaves }])
    await copyPieces(gathered.data, target, front.length + leaves, contents(entries))
    await target.sync()
    return { size: front.length + leaves + length, distinct: counts.contents }
  } catch (error) {
    await rm(part, { force: true }) // it is large, and the disk may be full
    throw error
  } finally {
    entries.close()
    await Promise.all([target.close(), waiting.close()])
    await rm(files.leaves, { force: true })
  }
}

/** Gives every content its place, in the order of the first tile that shows it, and makes the entries. */
async function lay (gathered, entries) {
  const counts = { addressed: 0, entries: 0, contents: 0 }
  const types = /** @type {Record<number, number>} */ ({})
  let [first, entry, end] = [-1, /** @type {any} */ (undefined), 0]
  for (const tiles of gathered.pages()) {
    if (first < 0) first = tiles[0].id
    for (const { id, at, length, type, shared } of tiles) {
      counts.addressed++
      types[type] = (types[type] ?? 0) + 1
      if (entry?.at === at && entry.id + entry.run === id && entry.run < LONGEST_RUN) {
        entry.run++
        continue
      }
      if (entry) entries.push(entry)
      let offset = shared ? gathered.placeOf(at) : undefined
      if (offset === undefined) {
        offset = end
        end += length
        counts.contents++
        if (shared) gathered.place(at, offset)
      }
      entry = { id, run: 1, offset, length, at }
    }
    await setImmediate() // others want to work, too
  }
  entries.push(entry)
  gathered.forgetPlaces()
  counts.entries = entries.count
  return { counts, types, length: end, zooms: { min: zoomOf(first), max: zoomOf(entry.id + entry.run - 1) } }
}

// ids of one zoom follow those of the zoom before
function zoomOf (id) {
  let zoom = 0
  for (let first = 0; id >= first + 4 ** zoom; zoom++) first += 4 ** zoom
  return zoom
}

/** The contents in their new order: an entry whose place is the end of all before it is the first to show its content. */
function * contents (entries) {
  let end = 0
  for (const group of entries.groups()) {
    for (const { at, offset, length } of group) {
      if (offset !== end) continue
      yield { at, length }
      end += length
    }
  }
}
