// Files of backups in the order in which they go on from one another, however they were named.
import { TilecouchError } from '../../core/index.js'
import { position } from '../../core/place.js'
import { readEnds, readFileParts } from './reader.js'

/**
 * @typedef {object} Link
 * @property {string} file
 * @property {import('./format.js').Header} header
 * @property {import('./format.js').Trailer} [trailer] nothing: the file is damaged
 */

/**
 * The chain that ends with the newest of the files, the full backup first.
 * @param {string[]} files
 * @param {{partial?: boolean, keys?: import('./file.js').Keys}} [options] partial: damaged files as well
 * @returns {Promise<{links: Link[], unneeded: string[]}>} unneeded: files that it does without
 */
export async function chainOf (files, { partial = false, keys = {} } = {}) {
  /** @type {Link[]} */
  const found = []
  for (const file of new Set(files)) found.push(await look(file, partial, keys))
  const [{ header: { database } }] = found
  const other = found.find(({ header }) => header.database !== database)
  if (other) throw new TilecouchError('BAD_OPTION', { option: 'the files', value: other.file, why: `it is of another database than ${found[0].file}` })
  const byId = new Map(found.map(link => [link.header.id, link]))
  // of two that go on from the same one, either has everything since
  const newest = found.reduce((a, b) => b.header.made > a.header.made || b.header.base?.id === a.header.id || (b.header.made === a.header.made && begins(b) > begins(a)) ? b : a)
  /** @type {Link[]} */
  const links = []
  for (let link = newest; ;) {
    links.unshift(link)
    const { base } = link.header
    if (!base) break
    const before = byId.get(base.id)
    if (!before) throw new TilecouchError('BACKUP_MISSING', { file: link.file, why: `it was called ${base.file}, and was made at ${base.made} (${base.id})` })
    if (links.includes(before)) throw new TilecouchError('BACKUP_DAMAGED', { file: link.file, why: 'it goes on from itself' })
    link = before
  }
  return { links, unneeded: found.filter(link => !links.includes(link)).map(({ file }) => file) }
}

/** Times are whole seconds: of one second it is the one that begins later in the feed. */
const begins = ({ header }) => position(header.since)

/** @returns {Promise<Link>} */
async function look (file, partial, keys) {
  try {
    return { file, ...await readEnds(file, keys) }
  } catch (error) {
    if (!partial || error.code !== 'BACKUP_DAMAGED') throw error
    for await (const part of readFileParts(file, keys)) if (part.kind === 'header') return { file, header: part.header }
    throw error
  }
}
