// Tests the access to a store: `tilecouch access` sets and prints it, and mirrors and publishing keep it.
import assert from 'node:assert/strict'
import { Store, accessOf, doctor, mirror, setAccess } from '../../loader/index.js'
import { ownDesigns } from '../../loader/couchapp/compose.js'
import { makePublic, publish } from '../../loader/couchapp/publish.js'
import { as, request } from '../support/backends.js'
import { runCommand } from '../support/cli.js'
import { withPeople } from '../support/people.js'
import { png } from '../support/tiles.js'
import { pattern } from '../support/pattern.js'

const tile = (x, time = '2021-01-01T00:00:00Z') => ({ layer: 'osm', z: 5, x, y: 0, time, bytes: png(1) })

withPeople('access to a store', start => {
  let server, url, store, docs
  before(async function () {
    this.timeout(60000)
    server = await start()
    // the validation function alone, without viewer and indexes
    const { _id, language, validate_doc_update } = (await ownDesigns()).find(design => design._id === '_design/tiles')
    docs = [{ _id, language, validate_doc_update }]
  })
  after(() => server?.close())
  beforeEach(async () => {
    url = server.database
    store = await Store.create(url, { public: false })
    await store.write([tile(0)])
  })
  afterEach(() => store.destroy())

  const name = who => server[who][0]
  const reads = async who => (await request(`${who ? as(url, ...server[who]) : as(url)}/osm:5:0:0`)).ok
  let x = 1
  const writes = async who => {
    const writerStore = await Store.open(as(url, ...server[who]), { retries: 0 }).catch(() => null)
    return Boolean(writerStore) && (await writerStore.write([tile(x++)])).failed === 0
  }

  const command = (...args) => runCommand(['access', '--db', url, ...args])

  it('lets the writer role write until the store names its own writers', async () => {
    await publish(store, { docs })
    assert.deepEqual([await writes('writer'), await writes('other'), await writes('reader')], [true, true, false])
    const { changed, after: access } = await setAccess(store, { writers: { names: [name('writer')] } })
    assert.deepEqual([changed, access.ownWriters, access.public, access.warnings], [true, true, true, []])
    assert.deepEqual([await writes('writer'), await writes('other'), await reads()], [true, false, true])
    assert.equal((await setAccess(store, { writers: { names: [name('writer')] } })).changed, false, 'twice is once')
    await setAccess(store, { writers: {} })
    assert.deepEqual([await writes('writer'), await writes('other')], [false, false])
    await setAccess(store, { writers: null })
    assert.deepEqual([await writes('writer'), await writes('other')], [true, true])
  })

  it('is limited to the named readers and writers when the store is closed', async () => {
    await publish(store, { docs })
    await setAccess(store, { readers: { names: [name('reader')] }, writers: { names: [name('writer')] } })
    assert.deepEqual([await reads(), await reads('reader'), await reads('writer'), await reads('other')],
      [false, true, true, false])
    assert.deepEqual([await writes('writer'), await writes('reader'), await writes('other')], [true, false, false])
    const { warnings } = (await setAccess(store, { readers: {} })).after
    assert.deepEqual([await reads('reader'), await reads('writer'), warnings], [false, true, []])
    await setAccess(store, { public: true })
    assert.deepEqual([await reads(), await writes('writer'), await writes('other')], [true, true, false])
  })

  it('keeps other fields of the security object, and warns of writers whom CouchDB shuts out', async () => {
    await publish(store, { docs })
    await store.secure({ ...await store.security(), admins: { names: [name('boss')], roles: ['_admin'] }, members: {
      names: [name('reader')], roles: []
    }, other: { a: 1 }, tilecouch: { mine: 1, writers: { names: ['gone'], roles: [] } } })
    assert.deepEqual((await accessOf(store)).warnings.map(({ code }) => code), ['WRITER_SHUT_OUT'])
    const boss = await Store.open(as(url, ...server.boss))
    await setAccess(boss, { writers: { roles: ['survey'] } })
    const { other, tilecouch, members, admins } = await store.security()
    assert.deepEqual([other, tilecouch, members, admins.names],
      [{ a: 1 }, { mine: 1, writers: { names: [], roles: ['survey'] } },
        { names: [name('reader')], roles: ['survey'] }, [name('boss')]])
  })

  it('is not opened without a validation function, and such a store is reported', async () => {
    await assert.rejects(setAccess(store, { public: true }), { code: 'NO_VALIDATION' })
    assert.deepEqual((await accessOf(store)).warnings, [], 'only admins get in')
    await store.secure({ members: { names: [], roles: [] } })
    const { code, out } = await command()
    assert.equal(code, 1)
    assert.match(out, /writes: {3}everybody who may read\n[\s\S]*WARNING {3}EVERYBODY MAY WRITE/)
    const { findings } = await doctor(url)
    assert.match(findings.find(({ check }) => check === 'access').found, /^EVERYBODY MAY WRITE/)
    await store.secure({ members: { names: [name('reader')], roles: [] } })
    assert.deepEqual((await accessOf(store)).warnings.map(({ code: found }) => found), ['READERS_WRITE'])
    await publish(store, { docs })
    assert.equal((await command()).code, 0)
    const ours = await store.couch.get('_design/tiles')
    await store.couch.put({ ...ours, validate_doc_update: '(function () {})' })
    assert.deepEqual((await accessOf(store)).warnings.map(({ code: found }) => found), ['OTHER_VALIDATION'])
  })

  it('stays closed when it was closed before the store was published', async () => {
    await setAccess(store, { public: false })
    await publish(store, { docs })
    assert.equal(await makePublic(store), false)
    assert.equal(await reads(), false)
    const target = `${url}_mirror`
    try {
      assert.equal((await mirror(url, target)).ready.access, 'closed')
      await setAccess(new Store((await Store.open(target)).couch), { public: false })
      await mirror(url, target, { public: true })
      assert.equal((await accessOf(await Store.open(target))).public, false)
    } finally {
      await request(target, { method: 'DELETE' })
    }
  })

  it('is opened at publishing to all readers and the writers named before, and changed only by admins', async () => {
    await setAccess(store, { writers: { names: [name('writer')] } })
    assert.equal((await publish(store, { docs })).opened, true)
    assert.deepEqual([await reads(), await writes('writer'), await writes('other')], [true, true, false])
    const before = await store.security()
    for (const who of [as(url), as(url, ...server.reader), as(url, ...server.writer)]) {
      await assert.rejects(setAccess(await Store.open(who), { public: false }),
        { code: 'FORBIDDEN', message: /is not an admin of it/ })
    }
    assert.equal((await setAccess(store, { public: false, dryRun: true })).changed, true)
    assert.deepEqual(await store.security(), before)
  })

  it('is printed as text and as JSON, and invalid options are refused', async () => {
    await publish(store, { docs })
    assert.match((await command()).out,
      /reads: {4}everybody, without a name\nwrites: {3}the role tilecouch-writer, as in every store/)
    assert.match((await command('--private', '--readers', 'staff', '--dry-run')).out, pattern(
      /Before:[\s\S]*It would be:[\s\S]*reads: {4}the role staff\n/,
      / {2}writes: {3}those readers who have the role tilecouch-writer[\s\S]*Nothing was changed/
    ))
    assert.match((await command('--readers', 'staff,guests', '--reader', 'ann', '--writers', 'survey')).out, pattern(
      /Now:[\s\S]*reads: {4}the role staff, the role guests, the role survey, the user ann\n/,
      / {2}writes: {3}the role survey\n/
    ))
    assert.equal(JSON.parse((await command('--json')).out).public, false)
    assert.match((await command('--readers', 'staff,guests', '--reader', 'ann', '--writers', 'survey')).out,
      /Nothing to change/)
    assert.equal((await command('--public', '--readers', 'x')).code, 2)
    for (const options of [['--readers', ''], ['--readers', 'a,,b'], ['--writers', ''], ['--writers', '_admin'],
      ['--no-writers', '--writer', 'x']]) assert.equal((await command(...options)).code, 1, options.join(' '))
    assert.match((await command('--no-writers')).out, /writes: {3}only admins/)
  })
})
