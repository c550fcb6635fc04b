// The manifests of a layer: whether all of each is here, the bytes of blocks are those they are named by, roots are as stated,
// and the versions of every tile follow from what was said. A mirror of a part has not all of it, and is not asked.
import { pMapIterable } from 'p-map'
import { batchesOf } from '../../core/batches.js'
import { compareIds, formatReference, manifestId } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { Block } from '../../core/store/blocks.js'
import { faultInRecord } from '../../core/store/records.js'
import { LayerStatements } from '../../core/store/statements.js'
import { settleTiles } from '../../core/store/settle.js'
import { nameOf, rootOf } from '../load/manifest.js'
import { isPartHere } from '../mirror/list.js'
import { lostStatements } from '../prune/mark.js'
import { tileAccess, everyTile, settleDefaults } from '../store/settle.js'
import { plainBytes } from './bytes.js'

const PAGE = 50 // blocks a request

/** Failures that may lie in the bytes of one block. */
const MAY_BE_ONE = new Set(['BAD_ANSWER', 'COUCHDB_ERROR', 'UNREACHABLE'])

/**
 * @param {import('../store/couch.js').Couch} couch
 * @param {string} layer
 * @param {object} options
 * @param {any[]} options.editions
 * @param {any} options.doc of the layer
 * @param {import('../verify/report.js').Report} options.report
 * @param {AbortSignal} [options.signal]
 */
export async function checkManifests (couch, layer, { editions, doc, report, signal }) {
  const said = new LayerStatements(couch, layer, signal)
  await said.open()
  // there is not all that editions speak of, and need not be
  if (await isPartHere(couch, layer, signal)) return { manifests: said.manifests.length, blocks: 0 }
  const { blocks, damaged } = await checkBlocks(couch, layer, report, signal)
  let isSound = !damaged && !said.faults.size
  for (const [id, fault] of said.faults) report.add(id.startsWith('removed:') ? 'bad-removal' : 'bad-manifest', id, fault)
  for (const manifest of said.manifests) if (!await checkManifest(said, manifest, blocks, report)) isSound = false
  for (const { _id, time, run, root, finished } of editions) {
    if (!finished || !run || !root) continue
    const own = said.manifests.find(manifest => manifest.time === time && manifest.run === run)
    if (!own) report.add('manifest-incomplete', _id, `the manifest of its run ${run} is not here`)
    else if (own.root !== root) report.add('wrong-root', _id, `${root}, its manifest says ${own.root}`)
  }
  const checked = { manifests: said.manifests.length, blocks: blocks.size }
  // what a damaged manifest says is not to be believed
  if (!said.manifests.length || !isSound) return checked
  for await (const { id, how, settled } of unsettled(couch, said, signal)) {
    if (how) report.add('not-settled', id, how)
    for (const { time } of lostStatements(doc, settled)) report.add('image-missing', id, `${formatReference(layer, time)} has it: load that edition again`)
  }
  return checked
}

/** Every block of a layer. @returns {Promise<{blocks: Set<string>, damaged: number}>} blocks: place and name of those that are there */
async function checkBlocks (couch, layer, report, signal) {
  const blocks = new Set()
  const prefix = `block:${layer}:`
  let damaged = 0
  for await (const rows of couch.pages({ startkey: prefix, endkey: `block:${layer};` }, { page: PAGE, signal })) {
    for (const { id, doc, error } of await readBlocks(couch, rows.map(row => row.id), signal)) {
      if (!doc && !error) continue // it went meanwhile
      blocks.add(id.slice(prefix.length))
      const why = error ? `it cannot be read: ${error.message}` : faultInRecord(doc) ?? wrongWith(id, doc._attachments?.digests)
      if (!why) continue
      damaged++
      report.add('block-damaged', id, why)
    }
  }
  return { blocks, damaged }
}

/** @returns {Promise<{id: string, doc?: any, error?: Error}[]>} */
async function readBlocks (couch, ids, signal) {
  if (!ids.length) return []
  try {
    return await couch.docs(ids, { attachments: true, signal })
  } catch (error) {
    if (!MAY_BE_ONE.has(error.code)) throw error
    await couch.request({ path: '', signal }) // the server itself is well, or this says what it is
    if (ids.length === 1) return [{ id: ids[0], error }]
    const half = ids.length >> 1
    return [...await readBlocks(couch, ids.slice(0, half), signal), ...await readBlocks(couch, ids.slice(half), signal)]
  }
}

function wrongWith (id, attachment) {
  if (!attachment?.data) return 'it has no digests'
  const bytes = plainBytes(attachment)
  const name = nameOf(bytes)
  if (name !== id.slice(id.lastIndexOf(':') + 1)) return `its bytes are those of ${name}`
  return Block.decode(bytes) ? undefined : 'it cannot be decoded'
}

/** @returns {Promise<boolean>} whether nothing is wrong with it */
async function checkManifest (said, manifest, blocks, report) {
  const { id, parts, complete, area, zooms, root, time, run } = manifest
  let entries
  try {
    entries = Object.entries(await said.blocksOf(manifest))
  } catch (error) {
    if (error.code !== 'NOT_FOUND') throw error
    const missing = []
    for (const part of parts.keys()) {
      const doc = await said.couch.get(manifestId(said.layer, time, run, part))
      if (!doc || faultInRecord(doc)) missing.push(part)
    }
    report.add('manifest-incomplete', id, `of ${parts.length} parts ${missing.length} are missing or not valid: ${missing.slice(0, 5).join(', ')}`)
    return false
  }
  const wanted = entries.flatMap(([place, names]) => names.map(name => `${place}:${name}`))
  const missing = wanted.filter(name => !blocks.has(name))
  // one that came since they were read is there
  const gone = missing.length ? (await said.couch.docs(missing.map(name => `block:${said.layer}:${name}`))).filter(({ doc }) => !doc) : []
  if (gone.length) report.add('manifest-incomplete', id, `of ${wanted.length} blocks ${gone.length} are missing, such as ${gone[0].id}`)
  const reach = { complete, ...(area && { area }), ...(zooms && { zooms }) }
  const found = rootOf(entries.sort(([a], [b]) => compareIds(a, b)), reach)
  if (found !== root) report.add('wrong-root', id, `${root}, its blocks make ${found}`)
  return !gone.length && found === root
}

/**
 * Tiles whose versions do not follow from what was said. Somebody may be writing them: only what two looks say counts.
 * @param {import('../store/couch.js').Couch} couch
 * @param {LayerStatements} said
 * @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<{id: string, how?: string, settled: import('../../core/store/settle.js').Settled}>}
 */
export async function * unsettled (couch, said, signal) {
  const access = tileAccess(couch)
  const look = async ids => {
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    const settled = await settleTiles(access, ids, { knownOf: some => said.knownOf(some, { isFresh: true }), dryRun: true, signal })
    return [...settled].filter(([, { done, unknown, error }]) => done.length || unknown.length || error)
  }
  const found = pMapIterable(batchesOf(everyTile(couch, said, signal), { most: settleDefaults.tiles, bytes: Infinity }), async ids => {
    const suspects = await look(ids)
    return suspects.length ? look(suspects.map(([id]) => id)) : []
  }, { concurrency: settleDefaults.concurrency })
  for await (const tiles of found) {
    for (const [id, settled] of tiles) {
      const { done, error } = settled
      yield { id, how: error?.message ?? (done.length ? done.map(describe).join(', ') : undefined), settled }
    }
  }
}

/** @param {import('../../core/store/settle.js').Write} write */
const describe = ({ id, want, end }) => end ? `${id} is said by nobody` : `${id} should show what was said of ${want?.time}`
