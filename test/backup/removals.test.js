// A backup that is made between two requests of a removal or a load is restored to a store with nothing half done.
import assert from 'node:assert/strict'
import path from 'node:path'
import { backup } from '../../loader/backup/index.js'
import { restore } from '../../loader/backup/restore.js'
import { check } from '../../loader/check/index.js'
import { removeTiles } from '../../loader/maintain/remove/index.js'
import { Store } from '../../loader/store/index.js'
import { onEachStore, request } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { png } from '../support/tiles.js'
import { HISTORY, T, Z, storeOf } from '../support/removals.js'

const UNSETTLED = new Set(['head-too-old', 'no-head', 'version-twice'])

onEachStore('a backup between two requests', backend => {
  const folder = useFolder()

  /** Does something, with a backup after each request to write; answers what is wrong with each restored store. */
  async function backups (work) {
    const url = await backend.database()
    const settled = await storeOf(url, HISTORY)
    const store = await Store.open(url)
    const ask = store.couch.request.bind(store.couch)
    const files = []
    store.couch.request = async asked => {
      const answer = await ask(asked)
      if (/^_bulk_docs/.test(asked.path ?? '')) {
        const file = path.join(folder.dir, `${files.length}.tcb`)
        await backup(settled, file)
        files.push(file)
      }
      return answer
    }
    await work(store)
    assert.ok(files.length > 1, `${files.length} requests to write`)
    const wrong = []
    for (const [at, file] of files.entries()) {
      const to = await backend.database()
      await restore([file], to, { rights: 'give' })
      await check(await Store.open(to), { decode: false, onFinding: ({ code, where }) => {
        if (UNSETTLED.has(code)) wrong.push(`after request ${at + 1} of ${files.length}: ${code} ${where}`)
      } })
      await request(to, { method: 'DELETE' })
    }
    await settled.destroy()
    return wrong
  }

  it('of a removal is restored to a store without unsettled tiles', async () => {
    assert.deepEqual(await backups(store => removeTiles(store, 'osm', { since: '2022', until: '2022' })), [])
  })

  it('of a removal during an older load is restored to a store without unsettled tiles', async () => {
    const wrong = await backups(async store => {
      const ask = store.couch.request
      let met = false
      store.couch.request = async asked => {
        // the load has looked at the heads before they fall back, and writes what it decided after that
        const answer = await ask(asked)
        const falls = asked.path === '_bulk_docs' && /"current":true/.test(asked.body.toString())
        if (falls && !met) {
          met = true
          const doc = {
            type: 'tile', layer: 'osm', z: Z, x: 1, y: 3, current: false, time: T(2021),
            stored: T(2021), _attachments: { tile: { content_type: 'image/png', data: png(40).toString('base64') } }
          }
          await ask(
            { method: 'POST', path: '_bulk_docs', body: { docs: [{ _id: `osm:${Z}:1:3@${T(2021)}`, ...doc }] } }
          )
        }
        return answer
      }
      await removeTiles(store, 'osm', { since: '2022', until: '2022' })
    })
    assert.deepEqual(wrong, [])
  })

  it('of a load is restored to a store without unsettled tiles', async () => {
    const versions = [1, 2, 3, 4].map(y => ({ layer: 'osm', z: Z, x: 1, y, time: T(2024), bytes: png(50 + y) }))
    assert.deepEqual(await backups(store => store.write(versions)), [])
  })
}, { timeout: 120000 })
