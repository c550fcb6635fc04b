// Backups of a store and their restore. Rights in a backup: an edited file makes no user an admin without a
// confirmation.
import assert from 'node:assert/strict'
import { createReadStream, existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { PassThrough } from 'node:stream'
import { PRIVATE_SECURITY, PUBLIC_SECURITY, Store, backup, layerId, restore } from '../../loader/index.js'
import { confirmPrompt } from '../../loader/cli/passwords.js'
import { inWords, plainSecurity, rightsBetween } from '../../loader/backup/rights.js'
import { TargetWriter } from '../../loader/backup/restore-target.js'
import { Couch } from '../../loader/store/couch.js'
import { differences } from '../mirror/compare.js'
import { json, onEachStore, post, request } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { checkInvariants } from '../support/invariants.js'
import { square } from '../support/tiles.js'
import { T3, createVariedStore, fails, head, leaf } from '../support/backups.js'
import { memory, runAtTerminal, runCommand } from '../support/cli.js'
import { rewrite } from './forge.js'

const CLOSED = { admins: { names: [], roles: ['_admin'] }, members: { names: ['anna'], roles: ['surveyors'] } }
const GIVE = { rights: 'give' }

onEachStore('a backup', backend => {
  const folder = useFolder()
  let url, store
  // the embedded store sets revpos to the revision that brought the attachment
  const compare = async (a, b) => assert.deepEqual(await differences(a, b, { revpos: backend.name === 'CouchDB' }), [])

  before(async () => {
    url = await backend.database()
    store = await createVariedStore(url, { q: 2, designs: true })
  })

  it('is restored to a store with the same revisions, conflicts, deletions and images', async () => {
    const summary = await backup(store, folder.path('a.tcb'))
    assert.deepEqual([summary.moment, summary.designs], ['store', 2])
    assert.ok(summary.deleted >= 5 && summary.tiles > 40, JSON.stringify(summary))
    assert.deepEqual(readdirSync(folder.dir), ['a.tcb'])
    const { mode, size } = statSync(folder.path('a.tcb'))
    assert.deepEqual([mode & 0o777, size], [0o600, summary.size])

    const restoredUrl = await backend.database()
    const restored = await restore([folder.path('a.tcb')], restoredUrl, GIVE)
    assert.deepEqual([restored.differences, restored.refused, restored.access, restored.written],
      [0, 0, 'restored', summary.documents])
    await compare(url, restoredUrl)
    assert.equal(await (await Store.open(restoredUrl)).identity(), await store.identity())
    const { cluster } = await json(restoredUrl)
    if (backend.name === 'CouchDB') assert.equal(cluster.q, 2, 'as many shards as it had')
    assert.ok((await json(`${restoredUrl}/_design/versions/_view/by_tile?stale=ok&reduce=false`)).rows.length > 40,
      'its time index is warm')
    assert.ok((await json(`${restoredUrl}/_design/tiles`)).validate_doc_update)
    assert.equal((await json(`${restoredUrl}/_security`)).tilecouch?.restoring, undefined)
    await fails(restore([folder.path('a.tcb')], restoredUrl), 'RESTORE_NOT_EMPTY')
  })

  it('counts the tokens of the store', async () => {
    const token = { type: 'token', hash: 'a'.repeat(64), layers: ['osm'], created: T3, user: 'anna' }
    await store.couch.update('token:abcdefghijk2', () => token)
    assert.equal((await backup(store, folder.path('tokens.tcb'))).tokens, 1)
    await store.couch.update('token:abcdefghijk2', doc => ({ ...doc, _deleted: true }))
    assert.equal((await restore([folder.path('tokens.tcb')], null, { dryRun: true })).tokens, 1)
  })

  it('with a base has the changes only; a chain is restored from files in any order', async () => {
    const ownUrl = await backend.database()
    const ownStore = await createVariedStore(ownUrl)
    await backup(ownStore, folder.path('full.tcb'))
    await ownStore.write(square({ layer: 'osm', time: T3, side: 4, seed: (x, y) => 500 + x * 4 + y }))
    const second = await backup(ownStore, folder.path('second.tcb'), { base: folder.path('full.tcb') })
    assert.ok(second.documents > 16 && second.documents < 50, `${second.documents}: only what changed`)
    const { _rev } = await json(`${ownUrl}/osm:5:0:0`)
    await post(`${ownUrl}/_bulk_docs`, { docs: [{ _id: 'osm:5:0:0', _rev, _deleted: true }] })
    await ownStore.secure(CLOSED)
    const third = await backup(ownStore, folder.path('third.tcb'), { base: folder.path('second.tcb') })
    assert.deepEqual([third.documents, third.deleted], [1, 1])
    const alone = await backup(ownStore, folder.path('alone.tcb'), { base: folder.path('full.tcb') })
    assert.ok(alone.documents >= second.documents)

    const copyUrl = await backend.database()
    const { files, unneeded, written, revisions, security } =
      await restore(['third.tcb', 'full.tcb', 'second.tcb'].map(name => folder.path(name)), copyUrl, GIVE)
    assert.deepEqual(files.map(name => path.basename(name)), ['full.tcb', 'second.tcb', 'third.tcb'])
    assert.deepEqual(unneeded, [])
    assert.equal(written, revisions, 'what was superseded is not written')
    await compare(ownUrl, copyUrl)
    assert.deepEqual(security, CLOSED, 'those may read it who might before')
    assert.deepEqual(await json(`${copyUrl}/_security`), CLOSED)
    await checkInvariants(copyUrl).catch(error => assert.match(error.message, /conflicts|one head/)) // as in the source
    await fails(restore([folder.path('third.tcb'), folder.path('full.tcb')], await backend.database()),
      'BACKUP_MISSING', /second\.tcb/)
    await fails(restore([folder.path('third.tcb')], await backend.database()), 'BACKUP_MISSING')
    const otherBackup = await backup(store, folder.path('another.tcb'))
    assert.ok(otherBackup.documents)
    await fails(restore([folder.path('full.tcb'), folder.path('another.tcb')], await backend.database()),
      'BAD_OPTION', /another database/)
    await fails(backup(store, folder.path('no.tcb'), { base: folder.path('third.tcb') }),
      'BACKUP_UNFIT', /another store/)
    await fails(backup(await Store.open(copyUrl), folder.path('no.tcb'), { base: folder.path('third.tcb') }),
      'BACKUP_UNFIT', /another database/)
    await fails(backup(ownStore, folder.path('full.tcb'), { base: folder.path('full.tcb'), force: true }), 'BAD_OPTION')
    assert.ok(!readdirSync(folder.dir).some(name => /^no|part/.test(name)))
  })

  it('is refused as a base after the database was restored to an older state or purged', async () => {
    const ownUrl = await backend.database()
    const ownStore = await createVariedStore(ownUrl)
    await backup(ownStore, folder.path('full.tcb'))
    const note = await json(`${ownUrl}/_local/tilecouch-backups`)
    await json(`${ownUrl}/_local/tilecouch-backups`,
      { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ ...note, ids: [] }) })
    await fails(backup(ownStore, folder.path('next.tcb'), { base: folder.path('full.tcb') }),
      'BACKUP_UNFIT', /older state/)
    await backup(ownStore, folder.path('full.tcb'), { force: true })
    await backup(ownStore, folder.path('next.tcb'), { base: folder.path('full.tcb') })
    if (backend.name !== 'CouchDB') return
    const { _rev } = await json(`${ownUrl}/osm:5:5:5`)
    await post(`${ownUrl}/_purge`, { 'osm:5:5:5': [_rev] })
    await fails(backup(ownStore, folder.path('last.tcb'), { base: folder.path('next.tcb') }), 'BACKUP_UNFIT', /purged/)
  })

  it('replaces no file without force, and is restored to empty databases only', async () => {
    writeFileSync(folder.path('there.tcb'), 'mine')
    await fails(backup(store, folder.path('there.tcb')), 'TARGET_EXISTS')
    await backup(store, folder.path('there.tcb'), { force: true })
    const targetUrl = await backend.database()
    const otherStore = await Store.create(targetUrl)
    await otherStore.defineLayer('mine', {})
    await fails(restore([folder.path('there.tcb')], targetUrl), 'RESTORE_NOT_EMPTY')
    assert.equal((await json(`${targetUrl}/${layerId('mine')}`)).layer, 'mine')
    const emptyUrl = await backend.database()
    await request(emptyUrl, { method: 'PUT' })
    assert.equal((await restore([folder.path('there.tcb')], emptyUrl, GIVE)).differences, 0)
    const missingUrl = await backend.database()
    const { documents, access } = await restore([folder.path('there.tcb')], missingUrl, { dryRun: true })
    assert.ok(documents > 40 && access === 'closed')
    assert.equal((await request(missingUrl)).status, 404, 'a dry run makes no database')
  })

  it('is restored from a stream that repeats a revision which is still being written', async () => {
    const couch = new Couch(await backend.database())
    await couch.createDatabase({})
    const refused = []
    const writer = await TargetWriter.open(couch,
      { resumed: false, onRefused: row => refused.push(row), onProgress () {} })
    const docs = Array.from({ length: 200 }, (_, x) => leaf(`osm:9:${x}:1`, ['b', 'a'], head(x, x % 250)))
    await writer.write(docs.slice(-1))
    await writer.write(docs) // its last document is in a later request
    await writer.write(docs.slice(0, 1))
    await writer.end()
    writer.check()
    assert.deepEqual([refused, writer.written, (await couch.info()).doc_count], [[], 200, 200])
  })

  it('is restored from a stream, and with partial from a damaged file up to the damage', async () => {
    await backup(store, folder.path('a.tcb'))
    const streamedUrl = await backend.database()
    assert.equal((await restore(createReadStream(folder.path('a.tcb')), streamedUrl, GIVE)).differences, 0)
    await compare(url, streamedUrl)

    const wholeFile = readFileSync(folder.path('a.tcb'))
    writeFileSync(folder.path('a.tcb'), wholeFile.subarray(0, wholeFile.length - 3000))
    const targetUrl = await backend.database()
    await fails(restore([folder.path('a.tcb')], targetUrl), 'BACKUP_DAMAGED', /cut off/)
    assert.equal((await request(targetUrl)).status, 404, 'nothing was done')
    const { damage, access, differences: count } = await restore([folder.path('a.tcb')], targetUrl, { partial: true })
    assert.equal(damage[0].file, folder.path('a.tcb'))
    assert.deepEqual([access, count], ['closed', 0])
    assert.deepEqual((await json(`${targetUrl}/_security`)).members.roles, ['_admin'], 'and only admins see it')
    const cutUrl = await backend.database()
    await fails(restore(createReadStream(folder.path('a.tcb')), cutUrl, GIVE), 'BACKUP_DAMAGED')
    assert.deepEqual((await json(`${cutUrl}/_security`)).members.roles, ['_admin'])
  })
}, { timeout: 60000 })

const group = (names, ...roles) => ({ names, roles })
const MINE = {
  admins: group([], '_admin'), members: group(['anna'], '_admin'), tilecouch: { writers: group(['anna']) }
}
const EDITED = {
  admins: group(['mallory'], '_admin'), members: group(['anna', 'mallory']),
  tilecouch: { writers: group(['mallory'], 'staff') }
}

describe('the rights of a backup', function () {
  this.timeout(30000)
  const changes = (before, after) => rightsBetween(before, plainSecurity(after)).map(inWords)

  it('are described by the users and roles that gain or lose them, of those that CouchDB uses', () => {
    assert.deepEqual(changes(MINE, EDITED), ['the user mallory becomes an admin', 'the user mallory may write',
      'the user anna may not write any more', 'the role staff may write', 'the user mallory may read'])
    assert.deepEqual(changes(PRIVATE_SECURITY, PUBLIC_SECURITY),
      ['the role tilecouch-writer may write', 'everybody may read, without a name'])
    assert.deepEqual(changes(PUBLIC_SECURITY, PRIVATE_SECURITY),
      ['the role tilecouch-writer may not write any more', 'everybody may not read any more'])
    assert.deepEqual(changes(MINE, MINE), [])
    // opening a closed store also opens it to the writers that its _security names
    assert.deepEqual(changes(PRIVATE_SECURITY, { ...PRIVATE_SECURITY, tilecouch: { writers: { names: ['mallory'] } } }),
      ['the user mallory may write'])
    assert.deepEqual(changes({ ...PRIVATE_SECURITY, tilecouch: { writers: { names: ['mallory'] } } }, PUBLIC_SECURITY),
      ['the user mallory may not write any more', 'the role tilecouch-writer may write',
        'everybody may read, without a name'])
    assert.deepEqual(changes(PRIVATE_SECURITY, { ...PRIVATE_SECURITY, cloudant: { nobody: ['_admin'] } }),
      ['another field is set: cloudant'])
    assert.deepEqual(plainSecurity({ readers: { names: ['mallory'] } }).members, group(['mallory']),
      'CouchDB takes readers for members')
    assert.deepEqual(plainSecurity({ readers: { names: ['mallory'] }, members: { names: ['anna'] } }),
      { admins: group([]), members: group(['anna']) })
    assert.deepEqual(plainSecurity({ members: { names: 'mallory', roles: [1] }, tilecouch: { writers: 'x' } }),
      { admins: group([]), members: group([]), tilecouch: { writers: group([]) } })
    for (const invalid of [undefined, null, 'x', []]) assert.equal(plainSecurity(invalid), null)
  })
})

onEachStore('a backup with an edited _security', backend => {
  const folder = useFolder()
  let store

  before(async () => {
    store = await Store.create(await backend.database())
    await store.defineLayer('osm', { format: 'png', upstream: { url: 'https://tiles.example.org/{z}/{x}/{y}.png' } })
    await store.secure(MINE)
  })

  async function edited (security) {
    const target = folder.path('edited.tcb')
    await backup(store, folder.path('mine.tcb'), { force: true })
    await rewrite(folder.path('mine.tcb'), target, { trailer: trailer => ({ ...trailer, security }) })
    return target
  }

  const assertClosed = async url => {
    const { admins, members } = await json(`${url}/_security`)
    assert.deepEqual([admins.names, members.names, members.roles], [[], [], ['_admin']])
  }

  it('restores the documents, but gives no rights until it is run again with --yes', async () => {
    const [to, streamed] = [await backend.database(), await backend.database()]
    const restored = await restore([await edited(EDITED)], to)
    assert.deepEqual([restored.withheld, restored.access, restored.differences], [true, 'closed', 0])
    await assertClosed(to)
    assert.ok(restored.rights.some(change => inWords(change) === 'the user mallory becomes an admin'))
    assert.deepEqual(restored.upstreams, [{ layer: 'osm', hosts: ['tiles.example.org'] }])
    assert.equal((await restore(createReadStream(folder.path('edited.tcb')), streamed)).withheld, true)
    await assertClosed(streamed)
    const repeated = await runCommand(['restore', folder.path('edited.tcb'), '--db', to])
    assert.equal(repeated.code, 1)
    assert.match(repeated.out, /run it again with --yes[^]*the user mallory becomes an admin\n[^]*Only admins may use/)
    const confirmed = await runCommand(['restore', folder.path('edited.tcb'), '--yes', '--db', to])
    assert.equal(confirmed.code, 0, confirmed.err)
    assert.deepEqual(await json(`${to}/_security`), EDITED)
  })

  it('gives rights only after a confirmation or with --yes', async () => {
    await edited(EDITED)
    const to = await backend.database()
    const refused = await runAtTerminal(['restore', folder.path('edited.tcb'), '--db', to], 'n')
    assert.equal(refused.code, 1)
    assert.match(refused.err, /the user mallory becomes an admin\n[^]*Give them\? \[y\/N\]/)
    assert.equal((await request(to)).status, 404)
    const confirmed = await runAtTerminal(['restore', folder.path('edited.tcb'), '--db', to], 'y')
    assert.equal(confirmed.code, 0, confirmed.err)
    assert.match(confirmed.out, /layer osm are fetched from tiles.example.org/)
    assert.deepEqual(await json(`${to}/_security`), EDITED)
    const [givenUrl, closedUrl] = [await backend.database(), await backend.database()]
    assert.equal((await runCommand(['restore', folder.path('edited.tcb'), '--yes', '--db', givenUrl])).code, 0)
    assert.deepEqual(await json(`${givenUrl}/_security`), EDITED)
    const closed = await runCommand(['restore', folder.path('edited.tcb'), '--closed', '--db', closedUrl])
    assert.equal(closed.code, 0)
    assert.match(closed.out, /Only admins may use/)
    await assertClosed(closedUrl)
    assert.equal((await json(`${closedUrl}/_security`)).tilecouch.restoring, undefined)
  })

  it('gives no rights of a file that replaces a damaged one during the restore', async () => {
    await edited(EDITED)
    writeFileSync(folder.path('cut.tcb'), readFileSync(folder.path('mine.tcb')).subarray(0, -50))
    const to = await backend.database()
    const onProgress = ({ step }) => {
      if (step !== 'reading' || !existsSync(folder.path('edited.tcb'))) return
      renameSync(folder.path('edited.tcb'), folder.path('cut.tcb'))
    }
    const { access } = await restore([folder.path('cut.tcb')], to, { partial: true, onProgress })
    assert.equal(access, 'closed')
    await assertClosed(to)
  })

  it('stops asking when its signal aborts', async () => {
    const stdin = Object.assign(new PassThrough(), { isTTY: true })
    const controller = new AbortController()
    const stderr = Object.assign(memory(), { isTTY: true })
    const pendingAnswer = confirmPrompt({ stdin, stderr, signal: controller.signal })('Is that right? ')
    controller.abort()
    await assert.rejects(pendingAnswer, { code: 'ABORTED' })
  })

  it('does not ask when nobody gains a right, or restore the mark of an unfinished restore', async () => {
    const [to, likeUrl] = [await backend.database(), await backend.database()]
    const { access } = await restore([await edited(PRIVATE_SECURITY)], to)
    assert.equal(access, 'restored')
    await request(likeUrl, { method: 'PUT' })
    await request(`${likeUrl}/_security`,
      { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(MINE) })
    await restore([folder.path('mine.tcb')], likeUrl)
    assert.deepEqual(await json(`${likeUrl}/_security`), MINE)
    const markedUrl = await backend.database()
    await restore([await edited({ ...EDITED, tilecouch: { ...EDITED.tilecouch, restoring: ['x'] } })],
      markedUrl, { rights: 'give' })
    assert.equal((await json(`${markedUrl}/_security`)).tilecouch?.restoring, undefined)
  })
}, { timeout: 30000 })
