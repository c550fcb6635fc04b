// Checks the manifests of a layer: whether every part is in the store, the bytes of each block match its name, roots
// are right, and the versions of every tile follow from all statements. A mirror of a part of a store need not have the
// other blocks.
import { pMapIterable } from 'p-map'
import { batchesOf } from '../../core/lists.js'
import { compareIds, formatReference, manifestId } from '../../core/index.js'
import { ignoring } from '../../core/promises.js'
import { TilecouchError } from '../errors.js'
import { Block } from '../../core/store/blocks.js'
import { faultInRecord } from '../../core/store/records.js'
import { settleTiles } from '../../core/store/settle.js'
import { nameOf, rootOf } from '../load/manifest.js'
import { lostStatements } from '../maintain/prune/mark.js'
import { everyTile, tileAccess, settleDefaults } from '../store/settle.js'
import { readEach } from './bytes.js'
import { CONFLICTS } from './conflicts.js'

const PAGE = 50 // blocks a request
const BAD = { manifest: 'bad-manifest', removed: 'bad-removal', limits: 'bad-limits' }

/**
 * @param {import('../../core/store/statements.js').LayerStatements} statements
 * @param {object} options
 * @param {any[]} options.editions
 * @param {any} options.doc of the layer
 * @param {import('./files/report.js').Report} options.report
 */
export async function checkManifests (statements, { editions, doc, report }) {
  const { couch, layer, signal } = statements
  await statements.open()
  const { manifests, faults } = statements
  if (!statements.limits.hasPast) return { manifests: manifests.length, blocks: 0 }
  const { blocks, damaged } = await checkBlocks(couch, layer, report, signal)
  const kinds = ['manifest', 'block', 'removed'].map(kind => [layer, kind])
  const conflicts = await couch.view(CONFLICTS, { keys: kinds, reduce: false }, signal).catch(ignoring('INDEX_MISSING'))
  for (const { id, value } of conflicts ?? []) report.add('conflict', id, `the shown revision and ${value}`)
  let isSound = !damaged && !faults.size
  for (const [id, fault] of faults) report.add(BAD[id.slice(0, id.indexOf(':'))], id, fault)
  for (const manifest of manifests) if (!await checkManifest(statements, manifest, blocks, report)) isSound = false
  for (const { _id, time, run, root, finished } of editions) {
    if (!finished || !run || !root) continue
    const ownManifest = manifests.find(manifest => manifest.time === time && manifest.run === run)
    if (!ownManifest) report.add('manifest-incomplete', _id, `the manifest of its run ${run} is missing`)
    else if (ownManifest.root !== root) report.add('wrong-root', _id, `${root}, its manifest says ${ownManifest.root}`)
  }
  for (const { id, finished } of statements.removals) if (!finished) report.add('unfinished-removal', id)
  const checked = { manifests: manifests.length, blocks: blocks.size }
  // tiles cannot be compared with a damaged manifest
  if (!(manifests.length || statements.removals.length) || !isSound) return checked
  for await (const { id, why, settled } of unsettled(couch, statements, signal)) {
    if (why) report.add('not-settled', id, why)
    for (const { time } of lostStatements(id, settled, { limits: statements.limits, doc })) {
      report.add('image-missing', id, `${formatReference(layer, time)} has it: load that edition again`)
    }
  }
  return checked
}

/**
 * Reads and checks every block of a layer.
 * @returns {Promise<{blocks: Set<string>, damaged: number}>} blocks: place and name of each
 */
async function checkBlocks (couch, layer, report, signal) {
  const blocks = new Set()
  const prefix = `block:${layer}:`
  let damaged = 0
  for await (const rows of couch.pages({ startkey: prefix, endkey: `block:${layer};` }, { page: PAGE, signal })) {
    for (const [id, doc] of await readEach(couch, rows.map(row => row.id), signal)) {
      blocks.add(id.slice(prefix.length))
      const why = doc instanceof Error
        ? `it cannot be read: ${doc.message}`
        : faultInRecord(doc) ?? faultInDigests(id, doc._attachments?.digests)
      if (!why) continue
      damaged++
      report.add('block-damaged', id, why)
    }
  }
  return { blocks, damaged }
}

function faultInDigests (id, attachment) {
  if (!attachment?.data) return 'it has no digests'
  const { data: bytes } = attachment
  const name = nameOf(bytes)
  if (name !== id.slice(id.lastIndexOf(':') + 1)) return `its bytes are those of ${name}`
  return Block.decode(bytes) ? undefined : 'it cannot be decoded'
}

/** @returns {Promise<boolean>} whether the manifest is sound */
async function checkManifest (statements, manifest, blocks, report) {
  const { id, parts, complete, area, zooms, root, time, run } = manifest
  const { couch, layer } = statements
  let entries
  try {
    entries = Object.entries(await statements.blocksOf(manifest))
  } catch (error) {
    if (error.code !== 'NOT_FOUND') throw error
    const rows = await couch.docs(Array.from(parts.keys(), part => manifestId(layer, time, run, part)))
    const missing = rows.flatMap(({ doc }, part) => !doc || faultInRecord(doc) ? [part] : [])
    const firstMissing = missing.slice(0, 5).join(', ')
    report.add('manifest-incomplete', id, `of ${parts.length} parts ${missing.length} are missing or not valid: ` +
      `${firstMissing}`)
    return false
  }
  const blockNames = entries.flatMap(([place, names]) => names.map(name => `${place}:${name}`))
  const isExpected = name => statements.limits.hasBlocks(name.slice(0, name.lastIndexOf(':')))
  const missing = blockNames.filter(name => !blocks.has(name) && isExpected(name)).map(name => `block:${layer}:${name}`)
  // blocks may have arrived since
  const missingRows = missing.length ? (await couch.docs(missing)).filter(row => !row.doc) : []
  if (missingRows.length) {
    report.add('manifest-incomplete', id, `of ${blockNames.length} blocks ${missingRows.length} are missing, such as ` +
      `${missingRows[0].id}`)
  }
  const reach = { complete, ...(area && { area }), ...(zooms && { zooms }) }
  const computedRoot = rootOf(entries.sort(([a], [b]) => compareIds(a, b)), reach)
  if (computedRoot !== root) report.add('wrong-root', id, `${root}, its blocks make ${computedRoot}`)
  return !missingRows.length && computedRoot === root
}

/**
 * Yields tiles whose versions do not follow from all statements. Looks twice, since a program may be writing them.
 * @param {import('../store/couch.js').Couch} couch
 * @param {import('../../core/store/statements.js').LayerStatements} statements
 * @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<{id: string, why?: string, settled: import('../../core/store/settle.js').Settled}>}
 */
export async function * unsettled (couch, statements, signal) {
  const access = tileAccess(couch)
  const readFacts = ids => statements.readFacts(ids, { isFresh: true })
  const look = async ids => {
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    const settled = await settleTiles(access, ids, { readFacts, dryRun: true, signal })
    return [...settled].filter(([, { done, unknown, error }]) => done.length || unknown.length || error)
  }
  const lookTwice = async ids => {
    const suspects = await look(ids)
    return suspects.length ? look(suspects.map(([id]) => id)) : []
  }
  const { tiles: most, concurrency } = settleDefaults
  const batches = batchesOf(everyTile(couch, statements, signal), { most, bytes: Infinity })
  for await (const tiles of pMapIterable(batches, lookTwice, { concurrency })) {
    for (const [id, settled] of tiles) {
      const { done, error } = settled
      yield { id, why: error?.message ?? (done.length ? done.map(describeWrite).join(', ') : undefined), settled }
    }
  }
}

/** @param {import('../../core/store/plan.js').Write} write */
const describeWrite = ({ id, version, end }) =>
  end ? `no statement says ${id}` : `${id} should show what was stated for ${version?.time}`
