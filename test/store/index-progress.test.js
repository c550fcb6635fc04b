// The progress of an index that is built while a command waits for it.
import assert from 'node:assert/strict'
import { warm } from '../../loader/store/indexes.js'

const DESIGN = '_design/versions'
const refused = () => { throw new Error('You are not a server admin.') }

/**
 * A connection to a CouchDB that builds an index until `finish` is called.
 * @param {Record<string, any>} answers by the last part of the path
 */
function building (answers) {
  let finish = () => {}
  const built = new Promise(resolve => { finish = () => resolve({ rows: [] }) })
  const couch = /** @type {any} */ ({
    db: 'a/tiles',
    async request ({ path }) {
      if (path.includes('/_view/')) return built
      const answer = answers[path.split('/').at(-1)]
      return typeof answer === 'function' ? answer() : answer
    }
  })
  return { couch, finish }
}

describe('the progress of an index that is being built', () => {
  async function firstProgress (answers) {
    const { couch, finish } = building(answers)
    let warmed
    const progress = await new Promise(resolve => { warmed = warm(couch, DESIGN, 'by_tile', { onProgress: resolve }) })
    finish()
    await warmed
    return progress
  }

  it('sums the tasks of all shards of the database, and of no other index', async () => {
    const task = {
      type: 'indexer', design_document: DESIGN, database: 'shards/00000000-7fffffff/a/tiles.1700000000',
      changes_done: 100, total_changes: 400
    }
    const tasks = [
      task, { ...task, database: 'shards/80000000-ffffffff/a/tiles.1700000000', changes_done: 50, total_changes: 600 },
      { ...task, database: 'shards/00000000-7fffffff/tiles.1700000000', changes_done: 7 },
      { ...task, design_document: '_design/other', changes_done: 7 },
      { ...task, type: 'database_compaction' }
    ]
    assert.deepEqual(await firstProgress({ _active_tasks: tasks }), { done: 150, total: 1000 })
  })

  it('compares update sequences when the tasks are forbidden or missing', async () => {
    const behind = { _info: { view_index: { update_seq: 12 } }, '': { update_seq: '40-g1AAAA' } }
    assert.deepEqual(await firstProgress({ ...behind, _active_tasks: refused }), { done: 12, total: 40 })
    assert.deepEqual(await firstProgress({ ...behind, _active_tasks: [] }), { done: 12, total: 40 })
  })

  it('is not requested without onProgress, or after the index is built', async () => {
    const { couch, finish } = building({ _active_tasks: () => assert.fail('nobody asked') })
    const warmed = warm(couch, DESIGN, 'by_tile')
    finish()
    await warmed
    let requestCount = 0
    const quick = building({ _active_tasks: () => { requestCount++; return [] } })
    quick.finish()
    await warm(quick.couch, DESIGN, 'by_tile', { onProgress: () => {} })
    assert.equal(requestCount, 0)
  })
})
