// Tests the check of a store against the statements of its editions: it finds each kind of damage, and repairs damage
// with only one possible fix.
import assert from 'node:assert/strict'
import { Store, check, load, mirror, parseArea, removeEdition } from '../../loader/index.js'
import { manifestDefaults } from '../../loader/load/manifest.js'
import { onEachStore } from '../support/backends.js'
import { memorySource } from '../support/memory-source.js'
import { publishFunctions } from '../support/published.js'
import { useStore } from '../support/store.js'

const [T1, T2, T3] = ['2021-01-01T00:00:00Z', '2022-01-01T00:00:00Z', '2023-01-01T00:00:00Z']
const WRITTEN = ['not-in-index', 'index-too-long', 'wrong-sums', 'short-edition']

onEachStore('the check of a store against its editions', backend => {
  const { part } = manifestDefaults
  let store, url
  useStore(backend, { async fill (...values) {
    [store, url] = values
    manifestDefaults.part = 2 // blocks of the first edition lie in two parts
    await load(store, memorySource({ '3/1/1': 1, '3/2/2': 2, '7/1/1': 1, '7/100/1': 3 }), { layer: 'osm', time: T1 })
    await load(store, memorySource({ '3/1/1': 2, '3/2/2': 2 }), { layer: 'osm', time: T3 })
  } })
  afterEach(() => { manifestDefaults.part = part })

  const look = async () => {
    const results = []
    await check({ store, layer: 'osm' }, { decode: false, onFinding: finding => { results.push(finding) } })
    return results.filter(({ code }) => !WRITTEN.includes(code)).map(({ code, where }) => `${code} ${where}`)
  }
  const idsOf = async (prefix, from = store) => (
    await from.couch.request({ path: '_all_docs', qs: { startkey: prefix, endkey: `${prefix}~` } })
  ).rows.map(({ id }) => id)
  const change = (id, changes) => store.couch.update(id, doc => ({ ...doc, ...changes(doc) }))
  const remove = id => store.couch.update(id, doc => ({ _id: id, _rev: doc._rev, _deleted: true }))

  it('finds nothing in a sound store, then a missing block, part or manifest', async () => {
    const { checked, faults, kinds } = await check({ store, layer: 'osm' }, { decode: false })
    assert.equal(faults, 0, JSON.stringify(kinds))
    assert.deepEqual([checked.manifests, checked.blocks], [2, 4])
    const [block] = await idsOf('block:osm:7:')
    const [first, ...parts] = await idsOf(`manifest:osm@${T1}`)
    const [last] = await idsOf(`manifest:osm@${T3}`)
    await remove(block)
    assert.deepEqual(await look(), [`manifest-incomplete ${first}`])
    assert.equal(parts.length, 2)
    await remove(parts[1])
    assert.deepEqual(await look(), [`manifest-incomplete ${first}`])
    await remove(last)
    assert.deepEqual(await look(), [`manifest-incomplete ${first}`, `manifest-incomplete edition:osm@${T3}`])
  })

  it('finds manifests, parts and removals that are not valid', async () => {
    const [id] = await idsOf(`manifest:osm@${T3}`)
    const { _rev, ...manifest } = await store.couch.get(id)
    const run = '20240301T101500123-4f9k'
    await store.couch.put({ ...manifest, _id: `manifest:osm@${T3}:${run}`, run, zooms: { min: 0, max: 4e9 } })
    await store.couch.put({ _id: `removed:osm:${run}`, type: 'removed', layer: 'osm', run, tiles: 'osm:3:1:1' })
    assert.deepEqual((await look()).sort(),
      [`bad-manifest manifest:osm@${T3}:${run}`, `bad-removal removed:osm:${run}`])
    const [first, ...parts] = await idsOf(`manifest:osm@${T1}`)
    await change(parts[1], ({ blocks }) => ({ blocks: { ...blocks, '31:0:0': ['aaaaaaaaaaaa'] } }))
    assert.ok((await look()).includes(`manifest-incomplete ${first}`))
  })

  it('finds a block whose bytes do not match its id', async () => {
    const [block, other] = await idsOf('block:osm:7:')
    const [{ doc }] = await store.couch.docs([other], { attachments: true })
    const { content_type: type, data } = doc._attachments.digests
    await change(block, () =>
      ({ _attachments: { digests: { content_type: type, data: Buffer.from(data).fill(7, 6).toString('base64') } } }))
    assert.deepEqual(await look(), [`block-damaged ${block}`])
    await change(block, () => ({ _attachments: {} }))
    assert.deepEqual(await look(), [`block-damaged ${block}`])
  })

  it('finds a manifest or an edition with a wrong root', async () => {
    const [id] = await idsOf(`manifest:osm@${T3}`)
    await change(`edition:osm@${T3}`, () => ({ root: '0'.repeat(32) }))
    assert.deepEqual(await look(), [`wrong-root edition:osm@${T3}`])
    await change(id, ({ blocks }) => ({ blocks: {}, old: blocks }))
    assert.deepEqual(await look(), [`wrong-root ${id}`, `wrong-root edition:osm@${T3}`])
  })

  it('finds tiles that do not agree with the statements, and settles them with fix', async () => {
    // the records of another store arrive, and no command has settled both
    const other = await Store.create(await backend.database())
    await load(other, memorySource({ '3/1/1': 2 }), { layer: 'osm', time: T2 })
    for (const prefix of [`edition:osm@${T2}`, 'block:osm:', `manifest:osm@${T2}`]) {
      for (const id of await idsOf(prefix, other)) {
        const [{ doc: { _rev, ...doc } }] = await other.couch.docs([id], { attachments: true })
        const { digests } = doc._attachments ?? {}
        if (digests) {
          doc._attachments =
            { digests: { content_type: digests.content_type, data: Buffer.from(digests.data).toString('base64') } }
        }
        await store.couch.update(id, stored => stored ?? doc)
      }
    }
    await other.destroy()
    assert.deepEqual(await look(), ['not-settled osm:3:1:1'])
    await publishFunctions(store)
    const { repair } = await check(store, { layers: ['osm'], fix: true, decode: false })
    assert.equal(repair?.repaired['not-settled'], 1)
    assert.deepEqual(await look(), [])
    assert.equal((await store.at('osm', 3, 1, 1, T2)).time, T2)
    assert.deepEqual((await store.versions('osm', 3, 1, 1)).map(({ time }) => time), [T1, T2, T3])
  })

  it('finds a missing image, and names the edition that has it', async () => {
    await remove('osm:7:100:1')
    const [finding] = (await check({ store, layer: 'osm' }, { decode: false }))
      .first.filter(({ code }) => code === 'image-missing')
    assert.deepEqual([finding.where, /osm@2021-01-01T00:00:00Z/.test(finding.why ?? '')], ['osm:7:100:1', true])
    await load(store, memorySource({ '3/1/1': 1, '3/2/2': 2, '7/1/1': 1, '7/100/1': 3 }), { layer: 'osm', time: T1 })
    assert.deepEqual(await look(), [])
  })

  it('finds nothing after a removal, but finds a missing head even after a prune', async () => {
    await publishFunctions(store)
    await load(store, memorySource({ '3/1/1': 3 }), { layer: 'osm', time: T2 })
    await removeEdition(store, 'osm', T2)
    assert.deepEqual(await look(), [])
    await store.defineLayer('osm', { pruned: '2999-01-01T00:00:00Z' })
    await remove('osm:7:100:1')
    assert.deepEqual(await look(), ['image-missing osm:7:100:1'])
  })

  it('finds a missing block in a whole mirror, and nothing in a mirror of a part', async () => {
    await publishFunctions(store)
    const whole = await backend.database()
    await mirror(url, whole)
    const lookAt = async target => check({ store: await Store.open(target), layer: 'osm' }, { decode: false })
    const { kinds, checked } = await lookAt(whole)
    assert.deepEqual([kinds, checked.manifests, checked.blocks], [{}, 2, 4])
    const copy = await Store.open(whole)
    await copy.couch.update((await idsOf('block:osm:7:'))[0], doc => ({ _id: doc._id, _rev: doc._rev, _deleted: true }))
    assert.deepEqual((await lookAt(whole)).kinds, { 'manifest-incomplete': 1 })
    const piece = await backend.database()
    await mirror(url, piece, { area: parseArea({ bbox: [-180, 0, -100, 80] }) })
    assert.deepEqual(Object.keys((await lookAt(piece)).kinds).filter(code => !WRITTEN.includes(code)), [])
  }).timeout(60000)
})
