// Creates PouchDBs of a suite on LevelDB, and reads all their documents.
import PouchDB from 'pouchdb-node'
import { useFolder } from '../folder.js'

export { PouchDB }

/** Returns a function that creates PouchDBs, which are removed after each test. */
export function usePouches () {
  const databases = []
  afterEach(async () => {
    for (const db of databases.splice(0)) await db.close().catch(() => {}) // some tests close them
  })
  const folder = useFolder() // removed after they are closed
  return (options = {}) => {
    const db = new PouchDB(folder.path(`${databases.length}`), options)
    databases.push(db)
    return db
  }
}

/**
 * Reads every leaf of every document with its fields, ancestors and bytes, and the winning revision. Runs in pages too.
 * @param {any} db
 */
export async function everything (db) {
  const { results } = await db.changes({ style: 'all_docs', return_docs: true })
  const docsById = {}
  for (const { id, changes } of results) {
    if (id.startsWith('_design/')) continue
    const leaves = await db.get(id, { open_revs: changes.map(({ rev }) => rev), revs: true, attachments: true })
    const winner = await db.get(id).then(({ _rev: rev }) => rev, ({ reason }) => reason)
    // PouchDB returns the leaves in no fixed order
    docsById[id] = {
      winner, leaves: leaves.map(({ ok, missing }) => ok ?? { _rev: missing }).sort((a, b) => a._rev < b._rev ? -1 : 1)
    }
  }
  return docsById
}

/**
 * Imitates a compaction that removes images while a database reads them: PouchDB then returns no bytes and no error.
 * @param {any} db a PouchDB @param {'allDocs' | 'get' | 'bulkGet'} method
 * @param {(answer: any) => any[]} docsOf its answer
 * @param {number} [times] how often
 * @returns {() => number} returns how many images were removed
 */
export function takeImages (db, method, docsOf, times = 1) {
  const read = db[method]
  let removed = 0
  db[method] = async (...args) => {
    const answer = await read.apply(db, args)
    const isDue = removed < times && args.at(-1)?.attachments
    const image = isDue && docsOf(answer).find(doc => doc?._attachments?.tile)?._attachments.tile
    if (image) {
      image.data = typeof image.data === 'string' ? '' : Buffer.alloc(0)
      removed++
    }
    return answer
  }
  return () => removed
}
