// A mirror does not weaken security: who may read, who may write, and where names and passwords are sent.
import assert from 'node:assert/strict'
import { PRIVATE_SECURITY, PUBLIC_SECURITY, Store, WRITER_ROLE } from '../../loader/index.js'
import { mirror } from '../../loader/maintain/mirror/index.js'
import { useServer } from '../support/server.js'
import { as, json, onEachStore } from '../support/backends.js'
import { runCommand } from '../support/cli.js'
import { withUsers } from '../support/people.js'
import { anonymously, designsOf, isThere, notesOf, origin, securityOf } from './pairs.js'

const MEMBERS = { admins: { names: [], roles: ['_admin'] }, members: { names: [], roles: ['staff'] } }

onEachStore('a store that is not public', backend => {
  let url, store, target
  beforeEach(async () => {
    url = await backend.database()
    target = await backend.database()
    store = await origin(url, { side: 2 })
    await store.secure(MEMBERS)
  })

  it('has a mirror for admins only, also in later runs', async () => {
    const { ready } = await mirror(url, target)
    assert.deepEqual([ready.access, await securityOf(target)], ['closed', PRIVATE_SECURITY])
    assert.equal((await mirror(url, target)).ready.access, 'kept')
    assert.deepEqual(await securityOf(target), PRIVATE_SECURITY)
    if (backend.supports.users) assert.equal(await anonymously(target), 401)
  })

  it('is not copied into a public store, unless --public is given', async () => {
    await Store.create(target)
    for (const options of [{}, { dryRun: true }, { live: true }]) {
      await assert.rejects(mirror(url, target, options), { code: 'WOULD_BE_PUBLIC' })
    }
    assert.equal((await json(target)).doc_count, 1, 'nothing was written')
    assert.ok((await mirror(url, target, { public: true })).docs > 0)
  })

  it('has a public mirror when --public is given', async () => {
    assert.equal((await mirror(url, target, { public: true })).ready.access, 'opened')
    assert.deepEqual(await securityOf(target), PUBLIC_SECURITY)
    await assert.rejects(mirror(url, target), { code: 'WOULD_BE_PUBLIC' })
  })

  it('has a closed mirror even if it was closed during the fill', async () => {
    await store.secure(PUBLIC_SECURITY)
    let closing
    const onProgress = () => { closing ??= store.secure(MEMBERS) }
    const stop = new AbortController()
    await assert.rejects(mirror(url, target, { signal: stop.signal, onProgress, onCopied: () => stop.abort() }),
      { code: 'ABORTED' })
    await closing
    assert.equal((await mirror(url, target)).ready.access, 'closed')
  })
})

onEachStore('names and passwords of a mirror', backend => {
  let url, store, target, users
  before(async () => {
    users = await withUsers(backend, { reader: ['staff'], writer: ['staff', WRITER_ROLE], nobody: [] })
  })
  beforeEach(async () => {
    url = await users.database()
    target = await users.database()
    store = await origin(url, { side: 2 })
  })
  afterEach(forgetPasswords)
  after(() => users?.close())

  it('are not needed to mirror what everybody may read', async () => {
    assert.equal((await mirror(as(url), target)).ready.access, 'opened')
    assert.equal(await anonymously(target), 200)
    assert.equal((await mirror(as(url), target)).changes, 0)
  })

  it('of a member open a closed source; those of the target are not used for it', async () => {
    await store.secure(MEMBERS)
    await assert.rejects(mirror(as(url), target), { code: 'FORBIDDEN' })
    const { username, password } = new URL(target)
    Object.assign(process.env, { COUCHDB_USER: username, COUCHDB_PASSWORD: password })
    await assert.rejects(mirror(as(url), as(target)), { code: 'FORBIDDEN' })
    await assert.rejects(mirror(users.as(url, 'nobody'), as(target)), { code: 'FORBIDDEN' })
    assert.ok(!await isThere(target))
    const reader = new URL(users.as(url, 'reader'))
    Object.assign(process.env, { TILECOUCH_FROM_USER: reader.username, TILECOUCH_FROM_PASSWORD: reader.password })
    assert.equal((await mirror(as(url), as(target))).ready.access, 'closed')
    forgetPasswords()
    Object.assign(process.env, { COUCHDB_USER: username, COUCHDB_PASSWORD: password })
    assert.equal((await mirror(reader.href, as(target))).changes, 0)
    assert.equal(await anonymously(target), 401)
  })

  it('of a writer without admin rights are enough for an existing target', async () => {
    const targetStore = await Store.create(target, { public: true })
    const { skipped, access } = (await mirror(url, users.as(target, 'writer'))).ready
    assert.match(skipped, /not a db or server admin/)
    assert.deepEqual([access, await designsOf(target)], ['kept', {}])
    await mirror(url, target)
    await targetStore.write([{ layer: 'osm', z: 0, x: 0, y: 0, time: '2020-01-01T00:00:00Z', gone: true }])
    const { ready } = await mirror(url, users.as(target, 'writer'), { layers: ['osm'] })
    assert.deepEqual([ready.skipped, ready.designs.length], [undefined, 2])
    await assert.rejects(mirror(url, users.as(`${target}_new`, 'writer')), { code: 'FORBIDDEN' })
  })

  it('of a reader are refused at the target before anything is copied', async () => {
    await mirror(url, target)
    await store.write([{ layer: 'osm', z: 0, x: 0, y: 0, time: '2020-01-01T00:00:00Z', gone: true }])
    const notesBefore = await notesOf(url)
    for (const targetUrl of [users.as(target, 'reader'), as(target)]) {
      for (const options of [{}, { live: true }, { dryRun: true }]) {
        await assert.rejects(mirror(url, targetUrl, options),
          ({ code, message }) => code === 'FORBIDDEN' && /may read there, but not write/.test(message))
      }
    }
    assert.equal(await notesOf(url), notesBefore, 'the source was not even asked')
  })

  it('that are wrong are reported with the database they are for, and never printed', async () => {
    await mirror(users.as(url, 'writer'), target)
    for (
      const [from, to, wrong] of [[as(url, 'admin', 'wr0ng'), target, url], [url, as(target, 'admin', 'wr0ng'), target]]
    ) {
      const error = await mirror(from, to).catch(reason => reason)
      assert.equal(error.code, 'UNAUTHORIZED')
      assert.ok(error.message.includes(new URL(wrong).pathname))
      assert.doesNotMatch(JSON.stringify([error, error.message, error.details, error.stack]), /wr0ng/)
      const failed = await runCommand(['mirror', from, to, '--json'])
      assert.equal(failed.code, 1)
      assert.doesNotMatch(failed.out + failed.err, /wr0ng/)
    }
    const { code, out, err } = await runCommand(['mirror', users.as(url, 'writer'), target, '--json', '--current'])
    assert.equal(code, 0)
    for (const text of [out, err, await notesOf(url), await notesOf(target),
      JSON.stringify(await json(`${target}/_all_docs?include_docs=true`))]) {
      assert.doesNotMatch(text, /s3cret|:test@|admin:/)
    }
  })
})

describe('the password of a mirror', () => {
  const fake = useServer()
  afterEach(forgetPasswords)

  it('is sent to its own side only', async () => {
    Object.assign(process.env,
      { COUCHDB_USER: 'home', COUCHDB_PASSWORD: 'h0me', TILECOUCH_FROM_USER: 'a%b', TILECOUCH_FROM_PASSWORD: 'p:@/%' })
    fake.answers = [[404, { error: 'not_found', reason: 'Database does not exist.' }]]
    const serverUrl = fake.url.replace('admin:s3cret@', '')
    await assert.rejects(mirror(`${serverUrl}_from`, `${serverUrl}_to`), { code: 'SOURCE_NOT_FOUND' })
    const credentialsSentTo = path => new Set(fake.requests.filter(({ url }) => url.startsWith(path))
      .map(({ authorization = '' }) => atob(authorization.replace('Basic ', ''))))
    assert.deepEqual([...credentialsSentTo('/tiles_from')], ['a%b:p:@/%'])
    assert.deepEqual([...credentialsSentTo('/tiles_to')], ['home:h0me'])
  })

  it('is sent to no address with a name that cannot be decoded', async () => {
    for (const user of ['a%b', 'a%b:pass']) {
      await assert.rejects(async () => mirror(`http://${user}@127.0.0.1:9/tiles`, `${fake.url}_to`),
        { code: 'BAD_DATABASE' })
    }
  })
})

function forgetPasswords () {
  for (const name of ['TILECOUCH_FROM_USER', 'TILECOUCH_FROM_PASSWORD', 'COUCHDB_USER', 'COUCHDB_PASSWORD']) {
    delete process.env[name]
  }
}
