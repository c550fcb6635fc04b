// PouchDBs of a suite on LevelDB, and what is in them.
import path from 'node:path'
import PouchDB from 'pouchdb-node'
import { useFolder } from '../folder.js'

export { PouchDB }

/** A new PouchDB for whoever asks, all of them gone after each test. */
export function usePouches () {
  const made = []
  afterEach(async () => {
    for (const db of made.splice(0)) await db.close().catch(() => {}) // some tests close them
  })
  const folder = useFolder() // removed after they are closed
  return (options = {}) => {
    const db = new PouchDB(path.join(folder.dir, `${made.length}`), options)
    made.push(db)
    return db
  }
}

/**
 * Every leaf of every document with its fields, ancestors and bytes, and which one wins. Runs in pages as well.
 * @param {any} db
 */
export async function everything (db) {
  const { results } = await db.changes({ style: 'all_docs', return_docs: true })
  const all = {}
  for (const { id, changes } of results) {
    if (id.startsWith('_design/')) continue
    const leaves = await db.get(id, { open_revs: changes.map(({ rev }) => rev), revs: true, attachments: true })
    const winner = await db.get(id).then(({ _rev: rev }) => rev, ({ reason }) => reason)
    // PouchDB answers in the order in which it finds them
    all[id] = {
      winner, leaves: leaves.map(({ ok, missing }) => ok ?? { _rev: missing }).sort((a, b) => a._rev < b._rev ? -1 : 1)
    }
  }
  return all
}

/**
 * Images are taken by a compaction while a database reads them: PouchDB answers no bytes then, and no error.
 * @param {any} db a PouchDB @param {'allDocs' | 'get' | 'bulkGet'} method
 * @param {(answer: any) => any[]} docsOf its answer
 * @param {number} [times] how often
 * @returns {() => number} how many were taken
 */
export function takeImages (db, method, docsOf, times = 1) {
  const read = db[method]
  let taken = 0
  db[method] = async (...asked) => {
    const answer = await read.apply(db, asked)
    const isOpen = taken < times && asked.at(-1)?.attachments
    const image = isOpen && docsOf(answer).find(doc => doc?._attachments?.tile)?._attachments.tile
    if (image) {
      image.data = typeof image.data === 'string' ? '' : Buffer.alloc(0)
      taken++
    }
    return answer
  }
  return () => taken
}
