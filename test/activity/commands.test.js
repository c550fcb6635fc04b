// The activity documents that commands write about their changes.
import assert from 'node:assert/strict'
import path from 'node:path'
import { faultIn } from '../../core/index.js'
import { recordActivity } from '../../loader/store/activity.js'
import { Couch } from '../../loader/store/couch.js'
import { json, post, put } from '../support/backends.js'
import { runCommand } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { withPeople } from '../support/people.js'
import { square, tileFiles } from '../support/tiles.js'
import { Store, publish } from '../../loader/index.js'
import { writtenKinds } from '../support/record-kinds.js'

const T1 = '2021-01-01T00:00:00Z'
const T2 = '2022-01-01T00:00:00Z'

/** The activity documents of a store, oldest first. */
const activityOf = async url => (
  await json(`${url}/_all_docs?include_docs=true&startkey="activity:2"&endkey="activity:3"`)
).rows.map(({ doc }) => doc)

withPeople('the activity of commands', start => {
  const folder = useFolder()
  let server, store
  const stage = { url: '' }
  before(async () => {
    server = await start()
    stage.url = server.database
    store = await Store.create(stage.url, { public: false })
    await store.defineLayer('osm', { name: 'Streets', ttl: 60 })
    await store.write(square({ layer: 'osm', time: T1, side: 4, seed: (x, y) => x * 4 + y }))
    await store.write(square({ layer: 'osm', time: T2, side: 4, seed: (x, y) => 100 + x * 4 + y }))
    await publish(store)
  })
  after(async () => {
    await store?.destroy()
    await server?.close()
  })

  const tilesIn = (name, seed) => path.join(folder.write(tileFiles(name, seed)), name)

  /** Runs a command, and returns the activity documents that it writes. */
  async function activityBy (...argv) {
    const before = new Set((await activityOf(stage.url)).map(({ _id }) => _id))
    const { code, err } = await runCommand([...argv, '--db', stage.url])
    assert.equal(code, 0, err)
    const docs = (await activityOf(stage.url)).filter(({ _id }) => !before.has(_id))
    for (const doc of docs) {
      assert.equal(faultIn(doc, writtenKinds), undefined, JSON.stringify(doc))
      assert.equal(doc.user, decodeURIComponent(new URL(stage.url).username))
      assert.ok(Math.abs(Date.parse(doc.at) - Date.now()) < 60_000, doc.at)
    }
    return docs.map(({ _id, _rev, type, user, at, ...doc }) => doc)
  }

  it('names the fields of a layer before and after, and a new layer', async () => {
    assert.deepEqual(await activityBy('layer', 'osm', '--title', 'Roads', '--no-ttl'), [{
      via: 'tilecouch layer', what: 'layer', done: 'changed', layer: 'osm',
      fields: { name: { before: 'Streets', after: 'Roads' }, ttl: { before: 60 } }
    }])
    assert.deepEqual(await activityBy('layer', 'osm', '--title', 'Roads'), [], 'nothing has changed')
    assert.deepEqual(await activityBy('layer', 'osm'), [], 'it was shown')
    const [doc] =
      await activityBy('layer', 'town', '--title', 'Town', '--upstream', 'https://tiles.example.org/{z}/{x}/{y}.png')
    assert.deepEqual([doc.what, doc.done, doc.layer, doc.fields.name, doc.fields.upstream.after.url],
      ['layer', 'created', 'town', { after: 'Town' }, 'https://tiles.example.org/{z}/{x}/{y}.png'])
  })

  it('names retention as a whole, and a style by its time', async () => {
    const [change] = await activityBy('layer', 'osm', '--keep-daily', '30')
    assert.deepEqual(change.fields, { retention: { after: { daily: 30 } } })
    const style = { version: 8, sources: { a: { type: 'raster', url: 'couch://osm' } }, layers: [] }
    const dir = folder.write({ 'style.json': JSON.stringify(style) })
    const argv = ['layer', 'osm', '--style', path.join(dir, 'style.json'), '--time', '2021']
    assert.deepEqual(await activityBy(...argv),
      [{ via: 'tilecouch layer', what: 'style', done: 'created', layer: 'osm', edition: T1 }])
    assert.deepEqual(await activityBy(...argv), [])
    assert.deepEqual(await activityBy('remove', 'osm', '--style', '2021', '--yes'),
      [{ via: 'tilecouch remove', what: 'style', done: 'removed', layer: 'osm', edition: T1 }])
  })

  it('is one document for each new, moved or removed layer or edition, none without changes', async () => {
    const files = tilesIn('tiles')
    const load = ['load', files, '--layer', 'survey']
    assert.deepEqual(await activityBy(...load, '--time', T1), [{
      via: 'tilecouch load', what: 'layer', done: 'created', layer: 'survey',
      edition: T1, fields: { tiles: { after: 9 }, created: { after: 9 } }
    }])
    assert.deepEqual(await activityBy(...load, '--time', T1), [])
    const otherFiles = tilesIn('others', 50)
    assert.deepEqual(await activityBy('load', otherFiles, '--layer', 'survey', '--time', T2), [{
      via: 'tilecouch load', what: 'edition', done: 'created', layer: 'survey',
      edition: T2, fields: { tiles: { after: 9 }, advanced: { after: 9 } }
    }])
    assert.deepEqual(await activityBy('remove', 'survey', '--edition', '2022', '--dry-run'), [])
    const [gone] = await activityBy('remove', 'survey', '--edition', '2022', '--yes')
    assert.deepEqual([gone.what, gone.done, gone.edition, gone.fields.removedVersions],
      ['edition', 'removed', T2, { after: 9 }])
    const [copied] = await activityBy('copy', 'survey', 'twin')
    assert.deepEqual([copied.what, copied.done, copied.layer, copied.fields.copiedFrom],
      ['layer', 'created', 'twin', { after: 'survey' }])
    const move = ['copy', 'twin', 'brother', '--move']
    const moved = {
      via: 'tilecouch copy --move', what: 'layer', done: 'changed',
      layer: 'brother', fields: { layer: { before: 'twin', after: 'brother' } }
    }
    assert.deepEqual(await activityBy(...move), [moved])
    assert.deepEqual(await activityBy(...move), [], 'it was moved before')
    // as if the move had been killed just before its end
    await store.couch.update('layer:brother', stored => ({ ...stored, renaming: 'twin' }))
    assert.deepEqual(await activityBy(...move, '--dry-run'), [])
    assert.deepEqual(await activityBy(...move), [moved])
    const [removed] = await activityBy('remove', 'brother', '--all', '--yes')
    assert.deepEqual([removed.what, removed.done, removed.layer], ['layer', 'removed', 'brother'])
  }).timeout(60000)

  it('counts pruned tiles and versions', async () => {
    assert.deepEqual(await activityBy('prune', 'osm', '--keep-last', '1', '--dry-run'), [])
    assert.deepEqual(await activityBy('prune', 'osm', '--keep-last', '1', '--yes'), [{
      via: 'tilecouch prune', what: 'layer', done: 'changed', layer: 'osm',
      fields: { removedTiles: { after: 16 }, removedVersions: { after: 16 } }
    }])
    assert.deepEqual(await activityBy('prune', 'osm', '--keep-last', '1', '--yes'), [])
  })

  it('names the settings and the access before and after', async () => {
    assert.deepEqual(await activityBy('settings', '--title', 'Maps', '--activity-days', '90'), [{
      via: 'tilecouch settings', what: 'store', done: 'changed',
      fields: { title: { after: 'Maps' }, activityDays: { after: 90 } }
    }])
    assert.deepEqual(await activityBy('settings', '--title', ''),
      [{ via: 'tilecouch settings', what: 'store', done: 'changed', fields: { title: { before: 'Maps' } } }])
    assert.deepEqual(await activityBy('settings', '--title', 'Plans', '--dry-run'), [])
    const { code, err } = await runCommand(['settings', '--activity-days', '29', '--db', stage.url])
    assert.match(`${code} ${err}`, /^1 .*30 to 36500 days/s)
    const [change] = await activityBy('access', '--writer', 'anna')
    assert.deepEqual([change.what, change.done, change.fields.writers.after],
      ['access', 'changed', { names: ['anna'], roles: [] }])
    assert.deepEqual(await activityBy('access', '--writer', 'anna'), [])
    await activityBy('access', '--any-writer')
  })

  it('contains no passwords of URLs', async () => {
    const couch = new Couch(stage.url)
    const change = /** @type {const} */ (
      {
        what: 'layer', done: 'changed', layer: 'osm', name: 'http://u:pw-1@h/',
        fields: { upstream: {
          before: { url: 'http://u:pw-2@h/{z}?key=pw-3&a=1', headers: { 'X-Api-Key': 'pw-4' } }, after: 'x'.repeat(9999)
        } }
      }
    )
    await recordActivity(couch, 'layer', change)
    const doc = (await activityOf(stage.url)).at(-1)
    assert.doesNotMatch(JSON.stringify(doc), /pw-/)
    assert.equal(doc.fields.upstream.after.length, 600)
    assert.match(doc.fields.upstream.before.url, /a=1$/)
  })

  it('is removed when it is older than the days that the store keeps, and newer activity stays', async () => {
    const user = decodeURIComponent(new URL(stage.url).username)
    const day = days => new Date(Date.now() - days * 86_400_000).toISOString()
    const docs = [10, 80, 100, 400].map((days, index) => ({
      _id: `activity:${day(days).replace(/[-:.Z]/g, '')}-000${index}`,
      type: 'activity', user, at: `${day(days).slice(0, 19)}Z`, what: 'layer', done: 'changed', layer: `old${days}`
    }))
    const answers = await post(`${stage.url}/_bulk_docs`, { docs })
    assert.deepEqual(answers.filter(({ error }) => error), [])
    const left = async () => (await activityOf(stage.url)).map(({ layer }) => layer).filter(layer => /^old/.test(layer))
    await activityBy('settings', '--activity-days', '')
    assert.deepEqual(await left(), ['old100', 'old80', 'old10'])
    await activityBy('settings', '--activity-days', '90')
    assert.deepEqual(await left(), ['old80', 'old10'])
  })

  it('is not written into a new store before its first load', async () => {
    const newStore = await Store.create(`${stage.url}_new`, { public: false })
    await recordActivity(newStore.couch, 'load', { what: 'layer', done: 'created', layer: 'osm' })
    assert.deepEqual(await activityOf(`${stage.url}_new`), [])
    await newStore.destroy()
  })

  it('names its user, is not written for readers, and is removed only by admins when it is old', async () => {
    const [user, password] = server.writer
    const root = decodeURIComponent(new URL(stage.url).username)
    const urlOf = ([username, secret]) => Object.assign(new URL(stage.url), { username, password: secret }).href
    await put(`${stage.url}/activity:20010101T000000000-aaaa`,
      { type: 'activity', user: root, at: '2001-01-01T00:00:00Z', what: 'layer', done: 'created' })
    const before = (await activityOf(stage.url)).length
    const { code, err } = await runCommand(['layer', 'osm', '--title', 'x', '--db', urlOf([user, password])])
    assert.equal(code, 0, err)
    const docs = await activityOf(stage.url)
    assert.deepEqual([docs.length, docs[0]._id, docs.at(-1).user],
      [before + 1, 'activity:20010101T000000000-aaaa', user])
    await recordActivity(new Couch(urlOf(server.reader)), 'layer', { what: 'layer', done: 'changed', layer: 'osm' })
    assert.equal((await activityOf(stage.url)).length, before + 1)
    await activityBy('layer', 'osm', '--title', 'y')
    assert.deepEqual((await activityOf(stage.url)).slice(-2).map(doc => doc.user), [user, root])
    assert.notEqual((await activityOf(stage.url))[0]._id, 'activity:20010101T000000000-aaaa')
  })
})
