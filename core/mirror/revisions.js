// Revisions of documents: which comes before which.
import { compareIds } from '../ids.js'

export const generation = rev => Number.parseInt(rev, 10)

/** The order in which CouchDB chooses among living leaves: the last one wins. @param {string} a @param {string} b */
export const compareRevs = (a, b) => generation(a) - generation(b) || compareIds(a, b)

export const winnerFirst = (a, b) => compareRevs(b._rev, a._rev)

/** @param {string} rev @returns {(ancestor: string) => boolean} */
export const isParentOf = rev => ancestor => generation(ancestor) === generation(rev) - 1

export const parentOf = ({ _revisions: { start, ids } = { start: 0, ids: [] } }) => `${start - 1}-${ids[1]}`

export const hasStubs = ({ _attachments: attachments = {} }) => Object.values(attachments).some(({ stub }) => stub)

/**
 * Which of those asked for are missing. A descendant counts as well: asked for the latest revision, a source sends
 * that.
 */
export function missingIn (asked, docs) {
  const there = new Set()
  for (const { _id: id, _rev: rev, _revisions: revisions } of docs) {
    there.add(`${id} ${rev}`)
    revisions?.ids.forEach((hash, index) => there.add(`${id} ${revisions.start - index}-${hash}`))
  }
  return asked.filter(({ id, rev }) => !there.has(`${id} ${rev}`))
}
