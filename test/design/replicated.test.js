// Documents that a writer brings as a replicator does: the function that validates does not see what they replace.
import assert from 'node:assert/strict'
import { Store } from '../../loader/store/index.js'
import { mirror } from '../../loader/maintain/mirror/index.js'
import { publish } from '../../loader/couchapp/publish.js'
import { as, post, put, request } from '../support/backends.js'
import { withPeople } from '../support/people.js'

const T = '2024-03-01T00:00:00Z'

withPeople('documents that a writer replicates', start => {
  let people, store, url
  before(async function () {
    this.timeout(60000)
    people = await start()
    url = people.database
    store = await Store.create(url)
    await publish(store)
  })
  after(async () => {
    await store?.destroy()
    await people?.close()
  })

  const replicate = (person, doc) =>
    post(`${as(url, ...people[person])}/_bulk_docs`, { docs: [doc], new_edits: false })
  const read = async id => (await request(`${url}/${encodeURIComponent(id)}`)).json()

  it('never replace the document of the store by that of another store, nor an activity', async () => {
    const { _rev, ...marker } = await read('tilecouch')
    const other = { ...marker, uuid: 'other', _rev: `100-${'f'.repeat(32)}` }
    assert.match(JSON.stringify(await replicate('writer', other)), /only an admin replicates/)
    assert.equal((await read('tilecouch'))._rev, _rev)
    const [user] = people.writer
    const activity = {
      _id: 'activity:20240301T000000000-abcd', type: 'activity', user,
      at: '2024-03-01T00:00:00Z', what: 'layer', done: 'removed'
    }
    await put(`${as(url, ...people.writer)}/${encodeURIComponent(activity._id)}`, activity)
    const [mine] = people.other
    const forged = { ...activity, user: mine, _rev: `2-${'f'.repeat(32)}` }
    assert.match(JSON.stringify(await replicate('other', forged)), /an activity never changes/)
    assert.equal((await read(activity._id)).user, user)
  })

  it('replace the document of the same store when they keep its uuid, created and published', async () => {
    const { _rev, ...marker } = await read('tilecouch')
    const [number, digest] = _rev.split('-')
    const place = Number(number) + 2
    const later = fill => {
      const ids = [fill.repeat(32), 'a'.repeat(32), digest]
      return { ...marker, title: 'Later', _rev: `${place}-${ids[0]}`, _revisions: { start: place, ids } }
    }
    for (const change of [{ uuid: 'other' }, { published: T }, { created: undefined }]) {
      assert.match(JSON.stringify(await replicate('writer', { ...later('f'), ...change })), /only an admin changes/)
    }
    assert.equal((await read('tilecouch'))._rev, _rev)
    assert.deepEqual(await replicate('writer', later('e')), [])
    assert.equal((await read('tilecouch')).title, 'Later')
  })

  it('are all copied by a mirror, but the target keeps its own store document', async function () {
    this.timeout(60000)
    const source = await Store.create(`${url}_from`)
    await source.defineLayer('osm')
    for (const title of ['One', 'Two', 'Three']) await source.couch.update('tilecouch', doc => ({ ...doc, title }))
    const before = await read('tilecouch')
    const { lacking, refusals } = await mirror(`${url}_from`, as(url, ...people.writer))
    assert.deepEqual([lacking, refusals], [0, []])
    assert.ok(await read('layer:osm'))
    assert.deepEqual(await read('tilecouch'), before)
    await source.destroy()
  })
})
