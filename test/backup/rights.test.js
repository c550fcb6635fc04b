// Who has which rights by a backup: a file that somebody else had in his hands makes nobody an admin unasked.
import assert from 'node:assert/strict'
import { createReadStream, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { PassThrough } from 'node:stream'
import { confirmPrompt } from '../../loader/cli/passwords.js'
import { Store } from '../../loader/index.js'
import { backup } from '../../loader/backup/index.js'
import { inWords, plainSecurity, rightsBetween } from '../../loader/backup/rights.js'
import { restore } from '../../loader/backup/restore.js'
import { PRIVATE_SECURITY, PUBLIC_SECURITY } from '../../loader/store/index.js'
import { json, onEachStore, request } from '../support/backends.js'
import { memory, runAtTerminal, runCommand } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { rewrite } from './forge.js'

const MINE = { admins: { names: [], roles: ['_admin'] }, members: {
  names: ['anna'], roles: ['_admin']
}, tilecouch: { writers: { names: ['anna'], roles: [] } } }
const EDITED = { admins: { names: ['mallory'], roles: ['_admin'] }, members: {
  names: ['anna', 'mallory'], roles: []
}, tilecouch: { writers: { names: ['mallory'], roles: ['staff'] } } }

describe('the rights of a backup', function () {
  this.timeout(30000)
  const words = (before, after) => rightsBetween(before, plainSecurity(after)).map(inWords)

  it('are described by the users and roles that gain or lose them', () => {
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
  })

  it('are reduced to the names and roles that CouchDB uses', () => {
    assert.deepEqual(plainSecurity({ readers: { names: ['mallory'] } }).members,
      { names: ['mallory'], roles: [] }, 'CouchDB takes readers for members')
    assert.deepEqual(plainSecurity({ readers: { names: ['mallory'] }, members: { names: ['anna'] } }),
      { admins: { names: [], roles: [] }, members: { names: ['anna'], roles: [] } })
    assert.deepEqual(plainSecurity({ members: { names: 'mallory', roles: [1] }, tilecouch: { writers: 'x' } }),
      { admins: { names: [], roles: [] }, members: { names: [], roles: [] }, tilecouch: {
        writers: { names: [], roles: [] }
      } })
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
    const { withheld, access, differences, rights, upstreams } = await restore([await edited(EDITED)], to)
    assert.deepEqual([withheld, access, differences], [true, 'closed', 0])
    await isClosed(to)
    assert.ok(rights.some(change => inWords(change) === 'the user mallory becomes an admin'))
    assert.deepEqual(upstreams, [{ layer: 'osm', hosts: ['tiles.example.org'] }])
    assert.equal((await restore(createReadStream(file('edited.tcb')), streamed)).withheld, true)
    await isClosed(streamed)
    const again = await runCommand(['restore', file('edited.tcb'), '--db', to])
    assert.equal(again.code, 1)
    assert.match(again.out, /run it again with --yes[^]*the user mallory becomes an admin\n[^]*Only admins may use/)
    const confirmed = await runCommand(['restore', file('edited.tcb'), '--yes', '--db', to])
    assert.equal(confirmed.code, 0, confirmed.err)
    assert.deepEqual(await json(`${to}/_security`), EDITED)
  })

  it('does not restore the mark of an unfinished restore', async () => {
    const to = await backend.database()
    await restore([await edited({ ...EDITED, tilecouch: { ...EDITED.tilecouch, restoring: ['x'] } })],
      to, { rights: 'give' })
    assert.equal((await json(`${to}/_security`)).tilecouch?.restoring, undefined)
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
    const asked = confirmPrompt(
      { stdin, stderr: Object.assign(memory(), { isTTY: true }), signal: stop.signal }
    )?.('Is that right? ')
    stop.abort()
    await assert.rejects(asked ?? Promise.resolve(), { code: 'ABORTED' })
  })

  it('does not ask when nobody gains a right', async () => {
    const [to, like] = [await backend.database(), await backend.database()]
    const { access } = await restore([await edited(PRIVATE_SECURITY)], to)
    assert.equal(access, 'restored')
    await request(like, { method: 'PUT' })
    await request(`${like}/_security`,
      { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(MINE) })
    await restore([file('mine.tcb')], like)
    assert.deepEqual(await json(`${like}/_security`), MINE)
  })
}, { timeout: 30000 })
