// A store, its backups, and what is restored from them. Who has which rights by a backup: a file that somebody else had
// in his hands makes nobody an admin unasked.
import assert from 'node:assert/strict'
import { createReadStream, existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { PassThrough } from 'node:stream'
import { PRIVATE_SECURITY, PUBLIC_SECURITY, Store, backup, layerId, restore } from '../../loader/index.js'
import { confirmPrompt } from '../../loader/cli/passwords.js'
import { inWords, plainSecurity, rightsBetween } from '../../loader/backup/rights.js'
import { differences } from '../mirror/compare.js'
import { json, onEachStore, post, request } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { checkInvariants } from '../support/invariants.js'
import { square } from '../support/tiles.js'
import { T3, fails, fill } from '../support/backups.js'
import { memory, runAtTerminal, runCommand } from '../support/cli.js'
import { rewrite } from './forge.js'

const CLOSED = { admins: { names: [], roles: ['_admin'] }, members: { names: ['anna'], roles: ['surveyors'] } }
const GIVE = { rights: 'give' }

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
    assert.deepEqual([summary.moment, summary.designs], ['store', 2])
    assert.ok(summary.deleted >= 5 && summary.tiles > 40, JSON.stringify(summary))
    assert.deepEqual(readdirSync(folder.dir), ['a.tcb'])
    const { mode, size } = statSync(file('a.tcb'))
    assert.deepEqual([mode & 0o777, size], [0o600, summary.size])

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
    assert.ok(documents > 40 && access === 'closed')
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

const named = (names, ...roles) => ({ names, roles })
const MINE = {
  admins: named([], '_admin'), members: named(['anna'], '_admin'), tilecouch: { writers: named(['anna']) }
}
const EDITED = {
  admins: named(['mallory'], '_admin'), members: named(['anna', 'mallory']),
  tilecouch: { writers: named(['mallory'], 'staff') }
}

describe('the rights of a backup', function () {
  this.timeout(30000)
  const words = (before, after) => rightsBetween(before, plainSecurity(after)).map(inWords)

  it('are described by the users and roles that gain or lose them, of those that CouchDB uses', () => {
    assert.deepEqual(words(MINE, EDITED), ['the user mallory becomes an admin', 'the user mallory may write',
      'the user anna may not write any more', 'the role staff may write', 'the user mallory may read'])
    assert.deepEqual(words(PRIVATE_SECURITY, PUBLIC_SECURITY),
      ['the role tilecouch-writer may write', 'everybody may read, without a name'])
    assert.deepEqual(words(PUBLIC_SECURITY, PRIVATE_SECURITY),
      ['the role tilecouch-writer may not write any more', 'everybody may not read any more'])
    assert.deepEqual(words(MINE, MINE), [])
    // whoever opens a closed store opens it to the writers that it names
    assert.deepEqual(words(PRIVATE_SECURITY, { ...PRIVATE_SECURITY, tilecouch: { writers: { names: ['mallory'] } } }),
      ['the user mallory may write'])
    assert.deepEqual(words({ ...PRIVATE_SECURITY, tilecouch: { writers: { names: ['mallory'] } } }, PUBLIC_SECURITY),
      ['the user mallory may not write any more', 'the role tilecouch-writer may write',
        'everybody may read, without a name'])
    assert.deepEqual(words(PRIVATE_SECURITY, { ...PRIVATE_SECURITY, cloudant: { nobody: ['_admin'] } }),
      ['another field is set: cloudant'])
    assert.deepEqual(plainSecurity({ readers: { names: ['mallory'] } }).members, named(['mallory']),
      'CouchDB takes readers for members')
    assert.deepEqual(plainSecurity({ readers: { names: ['mallory'] }, members: { names: ['anna'] } }),
      { admins: named([]), members: named(['anna']) })
    assert.deepEqual(plainSecurity({ members: { names: 'mallory', roles: [1] }, tilecouch: { writers: 'x' } }),
      { admins: named([]), members: named([]), tilecouch: { writers: named([]) } })
    for (const none of [undefined, null, 'x', []]) assert.equal(plainSecurity(none), null)
  })
})

onEachStore('a backup with an edited _security', backend => {
  const folder = useFolder()
  const file = name => path.join(folder.dir, name)
  let store

  before(async () => {
    store = await Store.create(await backend.database())
    await store.defineLayer('osm', { format: 'png', upstream: { url: 'https://tiles.example.org/{z}/{x}/{y}.png' } })
    await store.secure(MINE)
  })

  async function edited (security) {
    await backup(store, file('mine.tcb'), { force: true })
    await rewrite(file('mine.tcb'), file('edited.tcb'), { trailer: trailer => ({ ...trailer, security }) })
    return file('edited.tcb')
  }

  const isClosed = async url => {
    const { admins, members } = await json(`${url}/_security`)
    assert.deepEqual([admins.names, members.names, members.roles], [[], [], ['_admin']])
  }

  it('restores the documents, but gives no rights until it is run again with --yes', async () => {
    const [to, streamed] = [await backend.database(), await backend.database()]
    const restored = await restore([await edited(EDITED)], to)
    assert.deepEqual([restored.withheld, restored.access, restored.differences], [true, 'closed', 0])
    await isClosed(to)
    assert.ok(restored.rights.some(change => inWords(change) === 'the user mallory becomes an admin'))
    assert.deepEqual(restored.upstreams, [{ layer: 'osm', hosts: ['tiles.example.org'] }])
    assert.equal((await restore(createReadStream(file('edited.tcb')), streamed)).withheld, true)
    await isClosed(streamed)
    const again = await runCommand(['restore', file('edited.tcb'), '--db', to])
    assert.equal(again.code, 1)
    assert.match(again.out, /run it again with --yes[^]*the user mallory becomes an admin\n[^]*Only admins may use/)
    const confirmed = await runCommand(['restore', file('edited.tcb'), '--yes', '--db', to])
    assert.equal(confirmed.code, 0, confirmed.err)
    assert.deepEqual(await json(`${to}/_security`), EDITED)
  })

  it('gives rights only after a confirmation or with --yes', async () => {
    await edited(EDITED)
    const to = await backend.database()
    const no = await runAtTerminal(['restore', file('edited.tcb'), '--db', to], 'n')
    assert.equal(no.code, 1)
    assert.match(no.err, /the user mallory becomes an admin\n[^]*Give them\? \[y\/N\]/)
    assert.equal((await request(to)).status, 404)
    const yes = await runAtTerminal(['restore', file('edited.tcb'), '--db', to], 'y')
    assert.equal(yes.code, 0, yes.err)
    assert.match(yes.out, /layer osm are fetched from tiles.example.org/)
    assert.deepEqual(await json(`${to}/_security`), EDITED)
    const [given, left] = [await backend.database(), await backend.database()]
    assert.equal((await runCommand(['restore', file('edited.tcb'), '--yes', '--db', given])).code, 0)
    assert.deepEqual(await json(`${given}/_security`), EDITED)
    const closed = await runCommand(['restore', file('edited.tcb'), '--closed', '--db', left])
    assert.equal(closed.code, 0)
    assert.match(closed.out, /Only admins may use/)
    await isClosed(left)
    assert.equal((await json(`${left}/_security`)).tilecouch.restoring, undefined)
  })

  it('gives no rights of a file that replaces a damaged one during the restore', async () => {
    await edited(EDITED)
    writeFileSync(file('cut.tcb'), readFileSync(file('mine.tcb')).subarray(0, -50))
    const to = await backend.database()
    const onProgress = ({ step }) => {
      if (step === 'reading' && existsSync(file('edited.tcb'))) renameSync(file('edited.tcb'), file('cut.tcb'))
    }
    const { access } = await restore([file('cut.tcb')], to, { partial: true, onProgress })
    assert.equal(access, 'closed')
    await isClosed(to)
  })

  it('stops asking when its signal aborts', async () => {
    const stdin = Object.assign(new PassThrough(), { isTTY: true })
    const stop = new AbortController()
    const stderr = Object.assign(memory(), { isTTY: true })
    const asked = confirmPrompt({ stdin, stderr, signal: stop.signal })('Is that right? ')
    stop.abort()
    await assert.rejects(asked, { code: 'ABORTED' })
  })

  it('does not ask when nobody gains a right, or restore the mark of an unfinished restore', async () => {
    const [to, like] = [await backend.database(), await backend.database()]
    const { access } = await restore([await edited(PRIVATE_SECURITY)], to)
    assert.equal(access, 'restored')
    await request(like, { method: 'PUT' })
    await request(`${like}/_security`,
      { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(MINE) })
    await restore([file('mine.tcb')], like)
    assert.deepEqual(await json(`${like}/_security`), MINE)
    const marked = await backend.database()
    await restore([await edited({ ...EDITED, tilecouch: { ...EDITED.tilecouch, restoring: ['x'] } })],
      marked, { rights: 'give' })
    assert.equal((await json(`${marked}/_security`)).tilecouch?.restoring, undefined)
  })
}, { timeout: 30000 })
