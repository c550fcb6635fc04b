// `tilecouch mirror --print-replicator`: its selectors are held against the selections themselves, id by id, and CouchDB runs it.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { parseArea } from '../../core/index.js'
import { Selection } from '../../core/mirror/index.js'
import { Store, mirror } from '../../loader/index.js'
import { digitsBetween, replicatorDocument, selectorOf } from '../../loader/mirror/replicator-document.js'
import { Couch } from '../../loader/store/couch.js'
import { startGateway } from '../../server/gateway/index.js'
import { compileSelector } from '../../server/embedded/selector.js'
import { seeded } from '../loader/helpers.js'
import { json, onEachStore, put, request } from '../support/backends.js'
import { runCommand } from '../support/cli.js'
import { origin } from './pairs.js'

const PAST = '@2023-06-01T00:00:00Z'
const OTHERS = [
  'tilecouch', 'tilecouch2', 'layer:osm', 'layer:osm2', 'layer:sat', 'edition:osm@2023-06-01T00:00:00Z', 'edition:sat@2023-06-01T00:00:00Z', 'edition:osm2@2023-06-01T00:00:00Z', 'style:osm@2023-06-01T00:00:00Z', 'style:sat@2023-06-01T00:00:00Z', 'style:osm', 'style:osm@2023',
  'limits:osm', 'limits:osm2', 'limits:1:0:0', 'work:20240301T000000000-abcd', 'token:abcdefghijkl', 'xlimits:osm',
  '_design/tiles', '_design/osm:1:0:0', 'foreign', 'osm', 'osm:', 'osm:1', 'osm:1:0', 'osm:1:0:0:0', 'osm:1:0:0@', 'osm:1:0:0@2023', 'osm:01:0:0', 'osm:1:00:0', 'Osm:1:0:0', 'layer:1:0:0', 'edition:1:0:0', 'osm2:1:0:0', 'xosm:1:0:0', 'osm:1:0:0 ', 'osm:31:0:0'
]

/** Ids of tiles around everything a selection could have an edge at. */
function tiles (random) {
  const ids = []
  for (const layer of ['osm', 'sat', 'osm2']) {
    for (let count = 0; count < 100; count++) {
      const z = Math.floor(random() * 14)
      const id = `${layer}:${z}:${Math.floor(random() * 2 ** z)}:${Math.floor(random() * 2 ** z)}`
      ids.push(id, `${id}${PAST}`)
    }
  }
  return ids
}

describe('digits of a range', () => {
  it('match the numbers of the range and no others', () => {
    const ends = [0, 1, 2, 8, 9, 10, 11, 19, 20, 55, 98, 99, 100, 101, 109, 110, 199, 200, 555, 999, 1000, 1001]
    for (const low of ends) {
      for (const high of ends.filter(end => end >= low)) {
        const whole = new RegExp(`^${digitsBetween(low, high)}$`)
        for (let number = 0; number <= 1100; number++) assert.equal(whole.test(`${number}`), number >= low && number <= high, `${number} in ${low} to ${high}: ${whole}`)
      }
    }
  })

  it('stay short where numbers are long', () => {
    const text = digitsBetween(123456789, 987654321)
    assert.ok(text.length < 300, `${text.length}`)
    const whole = new RegExp(`^${text}$`)
    for (const [number, inside] of [[123456788, false], [123456789, true], [500000000, true], [987654321, true], [987654322, false], [12345678, false], [1234567890, false]]) assert.equal(whole.test(`${number}`), inside, `${number}`)
  })
})

describe('a selection as a selector', () => {
  const choices = {
    layers: [undefined, ['osm'], ['osm', 'sat'], ['osm2']],
    bbox: [undefined, '5.9,45.8,10.5,47.8', '-180,-90,180,90', '170,-20,-170,20', '-0.1,-0.1,0.1,0.1'],
    zooms: [undefined, { min: 0, max: 0 }, { min: 3, max: 11 }, { min: 12, max: 30 }],
    current: [undefined, true]
  }

  it('takes what the selection takes', () => {
    const random = seeded(7)
    const ids = [...OTHERS, ...tiles(random)]
    for (const layers of choices.layers) {
      for (const bbox of choices.bbox) {
        for (const zooms of choices.zooms) {
          for (const current of choices.current) {
            const selection = new Selection({ layers, area: bbox ? parseArea({ bbox }) : undefined, zooms, current })
            const takes = compileSelector(selectorOf(selection))
            const wrong = ids.filter(_id => takes({ _id }) !== selection.has(_id))
            assert.deepEqual(wrong, [], selection.key)
          }
        }
      }
    }
  })

  it('refuses what a selector cannot express, with advice', () => {
    const polygon = { type: 'Polygon', coordinates: [[[6, 46], [10, 46], [8, 47], [6, 46]]] }
    const refuses = (wanted, why) => assert.throws(() => selectorOf(new Selection(wanted)), error => {
      assert.equal(error.code, 'REPLICATOR_CANNOT')
      assert.match(error.message, why)
      assert.match(error.advice, /Leave out --print-replicator/)
      return true
    })
    refuses({ area: parseArea({ polygon }) }, /cannot take a polygon/)
    refuses({ since: '2023' }, /cannot leave out the past before a time/)
    refuses({ layers: Array.from({ length: 1000 }, (_, index) => `layer-number-${index}`) }, /cannot select so much/)
  })
})

describe('the document', () => {
  const [from, to] = ['http://ann:s3cret@origin.example/tiles', 'http://admin:hidden@edge.example/tiles']

  it('is printed without passwords, the same each time, another one for another selection', async () => {
    const print = (...argv) => runCommand(['mirror', ...argv, '--print-replicator'])
    const { code, out, err } = await print(from, to, '--layer', 'osm', '--live')
    const doc = JSON.parse(out)
    assert.deepEqual([code, doc.source, doc.target, doc.continuous], [0, { url: 'http://origin.example/tiles' }, { url: 'http://edge.example/tiles' }, true])
    assert.match(doc._id, /^tilecouch-[0-9a-f]{16}-live$/)
    assert.match(err, /"auth": \{"basic"/)
    assert.doesNotMatch(out + err, /s3cret|hidden|ann|admin:/)
    assert.equal((await print(from, to, '--layer', 'osm', '--live')).out, out)
    assert.notEqual(JSON.parse((await print(from, to)).out)._id, doc._id)
    assert.match((await print('embedded', to)).err, /\[REPLICATOR_CANNOT\]/)
  })
})

onEachStore('the selector', backend => {
  it('includes deletions, which a selector on fields would leave out', async () => {
    const url = await backend.database()
    await request(url, { method: 'PUT' })
    const couch = new Couch(url)
    const docs = ['osm:5:1:1', 'osm:5:30:1', 'sat:5:1:1'].map(_id => ({ _id, layer: _id.slice(0, 3), z: 5 }))
    for (const doc of docs) await couch.put(doc)
    const selector = selectorOf(new Selection({ layers: ['osm'], area: parseArea({ bbox: '-180,-85,-100,85' }), zooms: { min: 5, max: 5 } }))
    const idsWith = async wanted => (await couch.request({ method: 'POST', path: '_changes', qs: { filter: '_selector', style: 'all_docs' }, body: { selector: wanted } })).results.map(({ id }) => id)
    assert.deepEqual(await idsWith(selector), ['osm:5:1:1'])
    for (const { _id } of docs) {
      const { _rev } = await couch.get(_id)
      await couch.request({ method: 'DELETE', path: _id, qs: { rev: _rev } })
    }
    assert.deepEqual(await idsWith(selector), ['osm:5:1:1'])
    assert.deepEqual(await idsWith({ layer: 'osm', z: 5 }), [], 'of a deleted document there is nothing but its id')
  })

  it('copies from a gateway without checkpoints there', async () => {
    const url = await backend.database()
    await origin(url)
    const gateway = await startGateway({ db: url, port: 0, logLevel: 'silent' })
    try {
      const target = 'http://edge.example/tiles'
      assert.equal((await replicatorDocument(`${gateway.url}/db`, target, {})).use_checkpoints, false)
      assert.equal('use_checkpoints' in await replicatorDocument(url, target, {}), false)
    } finally {
      await gateway.close()
    }
  })

  if (!backend.supports.users) return

  it('makes CouchDB copy a part with its deletions and no others, and leaves nothing to do for tilecouch', async () => {
    const [from, to] = [await backend.database(), await backend.database()]
    const server = await backend.url()
    await origin(from)
    await put(`${from}/_design/foreign`, { language: 'javascript', views: {} })
    await Store.create(to, { public: false })
    const wanted = { area: parseArea({ bbox: '-180,66.51,-146.25,85.06' }), current: true, layers: ['osm'] } // columns 0 to 2
    await put(`${server}/_node/_local/_config/replicator/startup_jitter`, '1')
    const withAuth = url => {
      const { origin: host, pathname, username, password } = new URL(url)
      return { url: `${host}${pathname}`, auth: { basic: { username: decodeURIComponent(username), password: decodeURIComponent(password) } } }
    }
    const { _id: id, ...doc } = await replicatorDocument(from, to, wanted)
    const replicate = async () => {
      await put(`${server}/_replicator/${id}`, { ...doc, source: withAuth(from), target: withAuth(to) })
      const state = async () => (await json(`${server}/_scheduler/docs/_replicator/${id}`).catch(() => ({}))).state
      await until(async () => await state() === 'completed', { timeout: 40000, what: 'the replication' })
      await request(`${server}/_replicator/${id}?rev=${(await json(`${server}/_replicator/${id}`))._rev}`, { method: 'DELETE' })
      await until(async () => !await state(), { timeout: 20000, what: 'the server to let go of it' })
    }
    const heads = async () => (await json(`${to}/_all_docs`)).rows.map(row => row.id).filter(head => head.startsWith('osm:'))
    try {
      await replicate()
      const all = Array.from({ length: 18 }, (_, at) => `osm:5:${Math.floor(at / 6)}:${at % 6}`)
      assert.deepEqual(await heads(), all)
      assert.equal((await mirror(from, to, wanted)).missing, 0)
      for (const gone of ['osm:5:1:1', 'osm:5:4:4']) {
        await request(`${from}/${gone}?rev=${(await json(`${from}/${gone}`))._rev}`, { method: 'DELETE' })
      }
      await replicate()
      assert.deepEqual(await heads(), all.filter(head => head !== 'osm:5:1:1'))
      const { results } = await json(`${to}/_changes`)
      assert.deepEqual(results.filter(({ deleted }) => deleted).map(row => row.id), ['osm:5:1:1'])
      assert.equal((await request(`${to}/_design/foreign`)).status, 404)
    } finally {
      await request(`${server}/_node/_local/_config/replicator/startup_jitter`, { method: 'DELETE' })
    }
  })
})
