// A store, its backups, and what is restored from them.
import assert from 'node:assert/strict'
import { createReadStream, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Store, layerId } from '../../loader/index.js'
import { backup } from '../../loader/backup/index.js'
import { restore } from '../../loader/backup/restore.js'
import { differences } from '../mirror/compare.js'
import { json, onEachStore, post, request } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { checkInvariants } from '../support/invariants.js'
import { square } from '../support/tiles.js'
import { T3, fails, fill } from '../support/backups.js'

const CLOSED = { admins: { names: [], roles: ['_admin'] }, members: { names: ['anna'], roles: ['surveyors'] } }
const GIVE = { rights: /** @type {const} */ ('give') }

onEachStore('a backup', backend => {
  const folder = useFolder()
  const file = name => path.join(folder.dir, name)
  let url, store
  // the embedded store takes an attachment for as new as the revision it came with
  const same = async (a, b) => assert.deepEqual(await differences(a, b, { revpos: backend.name === 'CouchDB' }), [])

  before(async () => {
    url = await backend.database()
    store = await fill(url, { q: 2, designs: true })
  })

  it('is restored to a store with the same revisions, conflicts, deletions and images', async () => {
    const summary = await backup(store, file('a.tcb'))
    assert.equal(summary.moment, 'store')
    assert.equal(summary.designs, 2)
    assert.ok(summary.deleted >= 5 && summary.tiles > 40, JSON.stringify(summary))
    assert.deepEqual(readdirSync(folder.dir), ['a.tcb'])
    assert.equal(statSync(file('a.tcb')).mode & 0o777, 0o600)
    assert.equal(statSync(file('a.tcb')).size, summary.size)

    const to = await backend.database()
    const restored = await restore([file('a.tcb')], to, GIVE)
    assert.deepEqual([restored.differences, restored.refused, restored.access, restored.written],
      [0, 0, 'restored', summary.documents])
    await same(url, to)
    assert.equal(await (await Store.open(to)).identity(), await store.identity())
    const { cluster } = await json(to)
    if (backend.name === 'CouchDB') assert.equal(cluster.q, 2, 'as many shards as it had')
    assert.ok((await json(`${to}/_design/versions/_view/by_tile?stale=ok&reduce=false`)).rows.length > 40,
      'its time index is warm')
    assert.ok((await json(`${to}/_design/tiles`)).validate_doc_update)
    assert.equal((await json(`${to}/_security`)).tilecouch?.restoring, undefined)
    await fails(restore([file('a.tcb')], to), 'RESTORE_NOT_EMPTY')
  })

  it('counts the tokens of the store', async () => {
    const token = { type: 'token', hash: 'a'.repeat(64), layers: ['osm'], created: T3, user: 'anna' }
    await store.couch.update('token:abcdefghijk2', () => token)
    assert.equal((await backup(store, file('tokens.tcb'))).tokens, 1)
    await store.couch.update('token:abcdefghijk2', doc => ({ ...doc, _deleted: true }))
    assert.equal((await restore([file('tokens.tcb')], null, { dryRun: true })).tokens, 1)
  })

  it('with a base has the changes only; a chain is restored from files in any order', async () => {
    const own = await backend.database()
    const mine = await fill(own)
    await backup(mine, file('full.tcb'))
    await mine.write(square({ layer: 'osm', time: T3, side: 4, seed: (x, y) => 500 + x * 4 + y }))
    const second = await backup(mine, file('second.tcb'), { base: file('full.tcb') })
    assert.ok(second.documents > 16 && second.documents < 50, `${second.documents}: only what changed`)
    const { _rev } = await json(`${own}/osm:5:0:0`)
    await post(`${own}/_bulk_docs`, { docs: [{ _id: 'osm:5:0:0', _rev, _deleted: true }] })
    await mine.secure(CLOSED)
    const third = await backup(mine, file('third.tcb'), { base: file('second.tcb') })
    assert.deepEqual([third.documents, third.deleted], [1, 1])
    const alone = await backup(mine, file('alone.tcb'), { base: file('full.tcb') })
    assert.ok(alone.documents >= second.documents)

    const to = await backend.database()
    const { files, unneeded, written, revisions, security } =
      await restore(['third.tcb', 'full.tcb', 'second.tcb'].map(file), to, GIVE)
    assert.deepEqual(files.map(name => path.basename(name)), ['full.tcb', 'second.tcb', 'third.tcb'])
    assert.deepEqual(unneeded, [])
    assert.equal(written, revisions, 'what was superseded is not written')
    await same(own, to)
    assert.deepEqual(security, CLOSED, 'those may read it who might before')
    assert.deepEqual(await json(`${to}/_security`), CLOSED)
    await checkInvariants(to).catch(error => assert.match(error.message, /conflicts|one head/)) // those it had
    await fails(restore([file('third.tcb'), file('full.tcb')], await backend.database()),
      'BACKUP_MISSING', /second\.tcb/)
    await fails(restore([file('third.tcb')], await backend.database()), 'BACKUP_MISSING')
    const whole = await backup(store, file('another.tcb'))
    assert.ok(whole.documents)
    await fails(restore([file('full.tcb'), file('another.tcb')], await backend.database()),
      'BAD_OPTION', /another database/)
    await fails(backup(store, file('no.tcb'), { base: file('third.tcb') }), 'BACKUP_UNFIT', /another store/)
    await fails(backup(await Store.open(to), file('no.tcb'), { base: file('third.tcb') }),
      'BACKUP_UNFIT', /another database/)
    await fails(backup(mine, file('full.tcb'), { base: file('full.tcb'), force: true }), 'BAD_OPTION')
    assert.ok(!readdirSync(folder.dir).some(name => /^no|part/.test(name)))
  })

  it('is refused as a base after the database was restored to an older state or purged', async () => {
    const own = await backend.database()
    const mine = await fill(own)
    await backup(mine, file('full.tcb'))
    const note = await json(`${own}/_local/tilecouch-backups`)
    await json(`${own}/_local/tilecouch-backups`,
      { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ ...note, ids: [] }) })
    await fails(backup(mine, file('next.tcb'), { base: file('full.tcb') }), 'BACKUP_UNFIT', /older state/)
    await backup(mine, file('full.tcb'), { force: true })
    await backup(mine, file('next.tcb'), { base: file('full.tcb') })
    if (backend.name !== 'CouchDB') return
    const { _rev } = await json(`${own}/osm:5:5:5`)
    await post(`${own}/_purge`, { 'osm:5:5:5': [_rev] })
    await fails(backup(mine, file('last.tcb'), { base: file('next.tcb') }), 'BACKUP_UNFIT', /purged/)
  })

  it('replaces no file without force, and is restored to empty databases only', async () => {
    writeFileSync(file('there.tcb'), 'mine')
    await fails(backup(store, file('there.tcb')), 'TARGET_EXISTS')
    await backup(store, file('there.tcb'), { force: true })
    const to = await backend.database()
    const other = await Store.create(to)
    await other.defineLayer('mine', {})
    await fails(restore([file('there.tcb')], to), 'RESTORE_NOT_EMPTY')
    assert.equal((await json(`${to}/${layerId('mine')}`)).layer, 'mine')
    const empty = await backend.database()
    await request(empty, { method: 'PUT' })
    assert.equal((await restore([file('there.tcb')], empty, GIVE)).differences, 0)
    const nothing = await backend.database()
    const { documents, access } = await restore([file('there.tcb')], nothing, { dryRun: true })
    assert.ok(documents > 40)
    assert.equal(access, 'closed')
    assert.equal((await request(nothing)).status, 404, 'a dry run makes no database')
  })

  it('is restored from a stream, and with partial from a damaged file up to the damage', async () => {
    await backup(store, file('a.tcb'))
    const streamed = await backend.database()
    assert.equal((await restore(createReadStream(file('a.tcb')), streamed, GIVE)).differences, 0)
    await same(url, streamed)

    const whole = readFileSync(file('a.tcb'))
    writeFileSync(file('a.tcb'), whole.subarray(0, whole.length - 3000))
    const to = await backend.database()
    await fails(restore([file('a.tcb')], to), 'BACKUP_DAMAGED', /cut off/)
    assert.equal((await request(to)).status, 404, 'nothing was done')
    const { damage, access, differences: differing } = await restore([file('a.tcb')], to, { partial: true })
    assert.equal(damage[0].file, file('a.tcb'))
    assert.deepEqual([access, differing], ['closed', 0])
    assert.deepEqual((await json(`${to}/_security`)).members.roles, ['_admin'], 'and only admins see it')
    const cut = await backend.database()
    await fails(restore(createReadStream(file('a.tcb')), cut, GIVE), 'BACKUP_DAMAGED')
    assert.deepEqual((await json(`${cut}/_security`)).members.roles, ['_admin'])
  })
}, { timeout: 60000 })
