// Styles: how they are read from files, checked and stored, and where they go with the documents of a layer.
import assert from 'node:assert/strict'
import path from 'node:path'
import { validateStyleMin } from '@maplibre/maplibre-gl-style-spec'
import { until } from '../../bench/wait.js'
import { backup } from '../../loader/backup/index.js'
import { restore } from '../../loader/backup/restore.js'
import { copyLayer } from '../../loader/maintain/copy/index.js'
import { moveLayer } from '../../loader/maintain/copy/move.js'
import { mirror } from '../../loader/maintain/mirror/index.js'
import { removeLayer, removeStyle } from '../../loader/maintain/remove/index.js'
import { peerOf } from '../../loader/store/peer.js'
import { written } from '../../loader/store/revisions.js'
import { Store } from '../../loader/store/index.js'
import { readStyle, storeStyle, whyNotStyle } from '../../loader/store/style.js'
import { openGateway } from '../support/gateway/stand.js'
import { differences } from '../mirror/compare.js'
import { as, json, onEachStore, request } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { loadFrom } from '../support/memory-source.js'
import { useStore } from '../support/store.js'
import { png, square } from '../support/tiles.js'
import { packTile } from '../support/vector-tile.js'
import { T1, T2, T3, folderOf, styleOf } from './files.js'

onEachStore('a style', backend => {
  const folder = useFolder()
  const stage = useStore(backend, { published: true, once: true, fill: async store => {
    await store.defineLayer('relief', { minzoom: 3, maxzoom: 3 })
    await store.write(square({ layer: 'relief', time: T1, z: 3, side: 2, seed: () => 1 }))
  } })
  beforeEach(async () => {
    await stage.store.defineLayer('osm',
      { format: 'pbf', minzoom: 0, maxzoom: 3, vector_layers: [{ id: 'place', fields: { name: 'String' } }] })
    await removeStyles()
  })
  let number = 0
  /** Stores a style folder. */
  function put (time, more, files = folderOf(more)) {
    const name = `style${number++}`
    folder.write(Object.fromEntries(Object.entries(files).map(([file, bytes]) => [`${name}/${file}`, bytes])))
    return storeStyle(stage.store, 'osm', folder.path(name), { time })
  }
  const timesOf = async (layer, store = stage.store) => (await store.styles(layer)).map(({ time }) => time)
  const removeStyles = async () => {
    for (const time of await timesOf('osm')) await removeStyle(stage.store, 'osm', time)
  }
  /** Requests an address of CouchDB itself, without a user. */
  const couch = (address, url = stage.url) => request(`${as(url)}/_design/tiles/_rewrite${address}`)

  it('is shown from its time on, and a style of an older time only before it', async () => {
    assert.deepEqual(await put('2023', { name: 'B' }),
      { layer: 'osm', time: T2, isNew: true, files: 6, bytes: 868, ignored: [] })
    await put(T3, { name: 'C' })
    await put('2022', { name: 'A' })
    assert.deepEqual(await timesOf('osm'), [T1, T2, T3])
    for (const [time, name] of [['2021', undefined], ['2022', 'A'],
      [T2, 'B'], ['2023-06', 'B'], ['2024', 'C'], [undefined, 'C']]) {
      assert.equal((await stage.store.style('osm', time))?.style.name, name, time)
    }
  })

  it('is shown from each of its times on, in whatever order styles are stored', async () => {
    const names = { 2022: 'S', 2024: 'S', 2023: 'T' }
    const orders = [[2022, 2024, 2023], [2022, 2023, 2024], [2024, 2023, 2022], [2023, 2022, 2024]]
    for (const order of orders) {
      await removeStyles()
      for (const year of order) await put(`${year}`, { name: names[year] })
      const shownNames =
        await Promise.all(Object.keys(names).map(async year => (await stage.store.style('osm', year)).style.name))
      assert.deepEqual(shownNames, ['S', 'T', 'S'], String(order))
    }
  })

  it('is not stored twice for one time, and another one for the same time is refused', async () => {
    await put(T1, { name: 'A' })
    const { update_seq: before } = await stage.store.info()
    assert.equal((await put(T1, { name: 'A' })).isNew, false)
    await assert.rejects(put(T1, { name: 'B' }), { code: 'STYLE_TAKEN' })
    await assert.rejects(put(T1, { name: 'A' }, { ...folderOf({ name: 'A' }), 'sprite.png': png(9) }),
      { code: 'STYLE_TAKEN' }, 'a sprite belongs to it')
    assert.equal(parseInt((await stage.store.info()).update_seq), parseInt(before), 'nothing was written')
    await put(T2, { name: 'B' })
    assert.equal((await put(T3, { name: 'A' })).isNew, true, 'back to how it was')
  })

  it('is stored without a time only if it differs from the present style', async () => {
    await put(T1, { name: 'A' })
    const future = `${new Date().getFullYear() + 2}-01-01T00:00:00Z`
    await put(future, { name: 'B' })
    const { update_seq: before } = await stage.store.info()
    const { time, isNew } = await put(undefined, { name: 'A' })
    assert.deepEqual([time, isNew], [T1, false])
    assert.equal(parseInt((await stage.store.info()).update_seq), parseInt(before), 'nothing was written')
    assert.equal((await put(undefined, { name: 'B' })).isNew, true, 'the same one counts only later')
    assert.equal((await put(T2, { name: 'A' })).isNew, true, 'a time that is given is stated')
    assert.deepEqual((await timesOf('osm')).map(date => [T1, T2, future].includes(date)), [true, true, false, true])
  })

  it('is stored by one of several writers for the same time, and by all for different times', async () => {
    const names = ['A', 'B', 'C', 'D']
    const results = await Promise.allSettled(names.map(name => put(T1, { name })))
    assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected', 'rejected', 'rejected'])
    for (const result of results) if (result.status === 'rejected') assert.equal(result.reason.code, 'STYLE_TAKEN')
    await Promise.all(names.map((name, index) => put(`202${index + 3}-01-01`, { name: `${name}${index}` })))
    assert.equal((await timesOf('osm')).length, 5)
  })

  it('is refused before anything is written if it names a missing layer', async () => {
    const { update_seq: before } = await stage.store.info()
    await assert.rejects(put(T1, { sources: { roads: { type: 'vector', url: 'couch://roads' } }, layers: [] }),
      { code: 'BAD_STYLE' })
    await assert.rejects(put('soon'), { code: 'BAD_TIME' })
    await assert.rejects(storeStyle(stage.store, 'roads', folder.dir),
      error => ['LAYER_NOT_FOUND', 'BAD_STYLE'].includes(error.code))
    assert.equal(parseInt((await stage.store.info()).update_seq), parseInt(before))
  })

  it('is served with sprite and glyphs, now and as of a time, by CouchDB and a gateway', async () => {
    await put(T1, { name: 'A' })
    await put(T3, { name: 'C' })
    const gateway = await openGateway(stage.url)
    try {
      const bases = { couch: `${as(stage.url)}/_design/tiles/_rewrite/`, gateway: `${gateway.url}/` }
      for (const [server, base] of Object.entries(bases)) {
        for (const [reference, name, time] of [['osm', 'C', T3], ['osm@2022', 'A', T1],
          [`osm@${T2}`, 'A', T1], ['osm@2024-01', 'C', T3]]) {
          const answer = await fetch(`${base}${reference}/style.json`)
          const style = await answer.json()
          assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'application/json'], server)
          const styleUrl = `${base}styles/osm@${time}/`
          assert.deepEqual(validateStyleMin(style).map(({ message }) => message), [])
          assert.deepEqual(style, styleOf({
            name,
            sprite: `${styleUrl}sprite`,
            glyphs: `${styleUrl}glyphs/{fontstack}/{range}.pbf`,
            sources: {
              osm: { type: 'vector', url: `${base}${reference}.json` },
              relief: {
                type: 'raster', tiles: [`${base}${reference.replace('osm', 'relief')}/{z}/{x}/{y}.png`], tileSize: 256
              }
            }
          }), server)
          const tileJson = await (await fetch(style.sources.osm.url)).json()
          assert.deepEqual(tileJson.tiles, [`${base}${reference}/{z}/{x}/{y}.pbf`])
          for (const [file, type] of [['.json', 'application/json'], ['.png', 'image/png'],
            ['@2x.json', 'application/json'], ['@2x.png', 'image/png']]) {
            const sprite = await fetch(style.sprite + file)
            assert.deepEqual([sprite.status, sprite.headers.get('content-type')], [200, type], `${server} ${file}`)
            assert.deepEqual(Buffer.from(await sprite.arrayBuffer()), Buffer.from(folderOf()[`sprite${file}`]))
          }
          const glyphs = style.glyphs.replace('{fontstack}', 'Noto Sans Regular,Arial').replace('{range}', '256-511')
          const range = await fetch(glyphs)
          assert.deepEqual([range.status, range.headers.get('content-type')], [200, 'application/x-protobuf'])
          assert.deepEqual(Buffer.from(await range.arrayBuffer()), Buffer.from([10, 0, 2]))
          assert.equal((await fetch(glyphs.replace('256-511', '512-767'))).status, 404)
        }
        const tag = (await fetch(`${base}styles/osm@${T1}/sprite.png`)).headers.get('etag')
        assert.equal((await fetch(`${base}styles/osm@${T1}/sprite.png`, { headers: { 'if-none-match': tag } })).status,
          304)
        assert.equal((await fetch(`${base}styles/osm@${T2}/sprite.png`)).status, 404)
      }
      const answer = await fetch(`${gateway.url}/styles/osm@${T1}/sprite.png`)
      assert.deepEqual([answer.headers.get('access-control-allow-origin'),
        /^public, max-age=300/.test(answer.headers.get('cache-control') ?? '')], ['*', true])
    } finally {
      await gateway.close()
    }
  })

  it('is the same default style from CouchDB and a gateway when none is stored', async () => {
    await stage.store.defineLayer('waters', { format: 'pbf' })
    await put(T2)
    const gateway = await openGateway(stage.url)
    try {
      const bases = [`${as(stage.url)}/_design/tiles/_rewrite/`, `${gateway.url}/`]
      for (const address of ['osm@2021/style.json', 'osm@2021/style.json?theme=dark',
        'relief/style.json', 'relief@2022/style.json']) {
        const [fromCouchDb, fromGateway] = await Promise.all(
          bases.map(async base => JSON.parse((await (await fetch(base + address)).text()).replaceAll(base, '/')))
        )
        assert.deepEqual(fromGateway, fromCouchDb, address)
        assert.deepEqual(validateStyleMin(fromGateway).map(({ message }) => message), [])
      }
      for (const [address, status, code] of [['waters/style.json', 404, 'STYLE_UNKNOWN'], [
        'nope/style.json', 404, 'LAYER_NOT_FOUND'
      ], ['osm@24/style.json', 400, 'BAD_TIME'], ['Osm/style.json', 400, 'BAD_LAYER']]) {
        for (const base of bases) {
          const answer = await fetch(base + address)
          assert.deepEqual([answer.status, (await answer.json()).error], [status, code], base + address)
        }
      }
      // A load lists the source layers of the tiles, as STYLE_UNKNOWN advises.
      const files = folder.write(
        { 'tiles/1/0/0.pbf': packTile({ lakes: [{ type: 'Point', lines: [[[1, 1]]], properties: { name: 'Como' } }] }) }
      )
      await loadFrom(stage.store, path.join(files, 'tiles'), { layer: 'waters' })
      for (const base of bases) {
        const find = async () => {
          const answer = await fetch(base + 'waters/style.json')
          return answer.status === 200 && answer.json()
        }
        const style = await until(find)
        assert.deepEqual(validateStyleMin(style).map(({ message }) => message), [])
        assert.ok(style.layers.some(layer => layer['source-layer'] === 'lakes'), base)
      }
    } finally {
      await gateway.close()
    }
  })

  it('goes with its layer into mirrors, copies, moves and backups', async () => {
    await put(T1)
    await put(T3, { name: 'C' })
    for (const selection of [{}, { layers: ['osm'] }, { current: true }]) {
      const target = await backend.database()
      await mirror(stage.url, target, selection)
      assert.deepEqual(await timesOf('osm', await Store.open(target)), [T1, T3], JSON.stringify(selection))
      assert.equal((await couch(`/styles/osm@${T1}/glyphs/Noto%20Sans%20Regular/0-255.pbf`, target)).status, 200)
    }
    const otherTarget = await backend.database()
    await mirror(stage.url, otherTarget, { layers: ['relief'] })
    assert.deepEqual(await timesOf('osm', await Store.open(otherTarget)), [])

    const { styles } = await copyLayer(stage.store, 'osm', 'town')
    assert.equal(styles, 2)
    const copied = await (await couch('/town@2022/style.json')).json()
    assert.ok(copied.sources.osm.url.endsWith('/town@2022.json') && copied.sprite.endsWith(`/styles/town@${T1}/sprite`))
    assert.equal((await copyLayer(stage.store, 'osm', 'town')).styles, 0)
    await moveLayer(stage.store, 'town', 'city')
    assert.deepEqual([await timesOf('town'), await timesOf('city')], [[], [T1, T3]])
    assert.deepEqual(Buffer.from(await (await couch(`/styles/city@${T3}/sprite.png`)).arrayBuffer()), png(1))

    const file = folder.path('a.tcb')
    await backup(stage.store, file)
    const restored = await backend.database()
    await restore([file], restored, { rights: 'give' })
    assert.deepEqual(await differences(stage.url, restored, { revpos: backend.name === 'CouchDB' }), [])
  }).timeout(60000)

  it('with several leaves moves as readers see it, and the move is done', async () => {
    const docOf = name =>
      ({ _id: `style:relief@${T1}`, type: 'style', layer: 'relief', time: T1, style: styleOf({ name }) })
    assert.deepEqual(await peerOf(stage.store.couch).write(['A', 'B'].map(name => written(docOf(name)))), [])
    const { name } = (await stage.store.style('relief')).style
    const { done, left } = await moveLayer(stage.store, 'relief', 'hills')
    assert.deepEqual([done, left, (await stage.store.style('hills')).style.name], [true, 0, name])
    await moveLayer(stage.store, 'hills', 'relief')
    await removeStyle(stage.store, 'relief', T1)
  })

  it('can be removed alone and stored again, and is removed with its layer', async () => {
    await put(T1)
    await put(T3, { name: 'C' })
    assert.deepEqual([(await removeStyle(stage.store, 'osm', T3, { dryRun: true })).styles, await timesOf('osm')],
      [1, [T1, T3]])
    assert.equal((await removeStyle(stage.store, 'osm', T3)).styles, 1)
    assert.deepEqual(await timesOf('osm'), [T1])
    assert.equal((await put(T3, { name: 'D' })).isNew, true)
    assert.equal((await stage.store.style('osm')).style.name, 'D')
    await removeLayer(stage.store, 'osm')
    assert.deepEqual(await timesOf('osm'), [])
    assert.equal((await couch('/osm/style.json')).status, 404)
  })

  it('cannot be changed, and is refused with invalid fields or files', async () => {
    await put(T1)
    const doc = await stage.store.couch.get(`style:osm@${T1}`)
    const send = body => json(`${stage.url}/${encodeURIComponent(body._id)}`,
      { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    assert.match((await send({ ...doc, style: { ...doc.style, name: 'X' } })).reason, /a style never changes/)
    const docOf = more => ({ _id: `style:osm@${T2}`, type: 'style', layer: 'osm', time: T2, style: styleOf(), ...more })
    const file = (name, type, data = 'AAAA') => docOf({ _attachments: { [name]: { content_type: type, data } } })
    for (const [body, pattern] of /** @type {[any, RegExp][]} */ ([
      [docOf({ style: undefined }), /has the field style/],
      [docOf({ style: { version: 7 } }), /style of this style must be/],
      [docOf({ time: '2023' }), /time of this style must be/],
      [docOf({ layer: 'relief' }), /the id must be style:relief@/],
      [file('a.html', 'text/html'), /the files of a style are/],
      [file('sprite.png', 'text/html'), /the files of a style are/],
      [file('glyphs/../0-255.pbf', 'text/html'), /the files of a style are/],
      [file('sprite.png', 'image/png', Buffer.alloc(4194305).toString('base64')), /at most 4194304 bytes/]
    ])) assert.match((await send(body)).reason, pattern)
    assert.equal((await send(file('sprite.png', 'image/png'))).ok, true)
  })
})

describe('reading a style', () => {
  const folder = useFolder()

  it('reads a file, or a folder with sprite and glyphs, and lists the ignored files', async () => {
    folder.write({ 'plain.json': `\ufeff${JSON.stringify(styleOf())}` })
    assert.deepEqual(await readStyle(folder.path('plain.json')), { style: styleOf(), files: {}, ignored: [] })
    const dir = path.join(
      folder.write(Object.fromEntries(Object.entries({ ...folderOf(), 'README.md': 'x', 'glyphs/LICENSE': 'y' })
        .map(([name, bytes]) => [`full/${name}`, bytes]))), 'full'
    )
    const { style, files, ignored } = await readStyle(dir)
    assert.deepEqual(style, styleOf())
    assert.deepEqual(Object.entries(files).map(([name, { type }]) => `${name} ${type}`), [
      'glyphs/Noto Sans Regular/0-255.pbf application/x-protobuf',
      'glyphs/Noto Sans Regular/256-511.pbf application/x-protobuf',
      'sprite.json application/json', 'sprite.png image/png', 'sprite@2x.json application/json',
      'sprite@2x.png image/png'
    ])
    assert.deepEqual(ignored, ['README.md', 'glyphs/LICENSE'])
  })

  const badStyles = {
    'is not JSON': [{ 'style.json': '{' }, /is not JSON/],
    'is missing': [{ 'sprite.json': '{}' }, /there is no such file/],
    'has a sprite image that is not PNG': [{ ...folderOf(), 'sprite.png': 'GIF89a' }, /sprite\.png is no PNG/],
    'has a sprite that is not JSON': [{ ...folderOf(), 'sprite@2x.json': '<html>' }, /sprite@2x\.json is not JSON/],
    'has an empty range of glyphs': [{ ...folderOf(), 'glyphs/Noto Sans Regular/0-255.pbf': '' }, /0-255\.pbf is empty/]
  }
  for (const [fault, [files, pattern]] of Object.entries(badStyles)) {
    it(`refuses a style that ${fault}`, () => assert.rejects(readStyle(folder.write(files)),
      error => error.code === 'BAD_STYLE' && pattern.test(error.message)))
  }

  it('reports a missing file',
    () => assert.rejects(readStyle('/nowhere/style.json'), { code: 'SOURCE_NOT_FOUND' }))
})

describe('the check of a style', () => {
  const layers = new Set(['osm', 'relief'])
  const files = Object.keys(folderOf()).filter(name => name !== 'style.json')
  const reasonFor = (more, fileNames = []) => whyNotStyle(styleOf(more), fileNames, layers)

  it('accepts layers of the store, with or without a time, and URLs of other servers', () => {
    for (const source of [
      { type: 'vector', url: 'couch://osm' }, { type: 'vector', url: 'couch://osm@2020' },
      { type: 'raster-dem', tiles: ['couch://relief/{z}/{x}/{y}.png'] },
      { type: 'vector', url: 'https://tiles.example.org/x.json' },
      { type: 'geojson', data: { type: 'FeatureCollection', features: [] } }
    ]) assert.equal(reasonFor({ sources: { osm: source } }), undefined, JSON.stringify(source))
    assert.equal(reasonFor({}, files), undefined)
  })

  it('refuses what is malformed or names missing layers, files or fonts', () => {
    const source = value => ({ sources: { osm: value } })
    for (const [more, fileNames, words] of /** @type {[any, string[], RegExp][]} */ ([
      [{ version: 7 }, [], /no style of version 8/],
      [{ sources: [] }, [], /no style of version 8/],
      [{ layers: undefined }, [], /no style of version 8/],
      [source({ url: 'couch://osm' }), [], /source "osm" has no type/],
      [source(null), [], /source "osm" has no type/],
      [source({ type: 'vector' }), [], /has no url and no tiles/],
      [source({ type: 'vector', url: 'mbtiles://osm' }), [], /is at "mbtiles:\/\/osm": write couch:\/\/LAYER/],
      [source({ type: 'vector', url: 'osm.json' }), [], /is at "osm\.json"/],
      [source({ type: 'vector', url: 'couch://roads' }), [], /of the layer "roads", which the store does not have/],
      [source({ type: 'raster', tiles: ['https://x/{z}/{x}/{y}', 'couch://roads/{z}/{x}/{y}.png'] }),
        [], /of the layer "roads"/],
      [{ layers: [{ type: 'line' }] }, [], /no id or no type/],
      [{ layers: [{ id: 'a', type: 'line', source: 'toString' }] }, [], /layer "a" is of the source "toString"/],
      [{ sprite: 'sprites/sprite' }, [], /its sprite is at "sprites\/sprite"/],
      [{ sprite: [{ id: 'a', url: 'a' }] }, [], /sprites are not at whole addresses/],
      [{ sprite: [{ id: 'a', url: 'https://x/a' }] }, files, /several sprites/],
      [{}, ['sprite.json'], /sprite\.json has no sprite\.png/],
      [{}, ['sprite.json', 'sprite.png', 'sprite@2x.png'], /sprite@2x\.png has no sprite@2x\.json/],
      [{}, ['sprite@2x.json', 'sprite@2x.png'], /sprite@2x\.json has no sprite\.json/],
      [{ glyphs: 'fonts/{fontstack}/{range}.pbf' }, [], /its glyphs are at/],
      [{}, ['glyphs/Other/0-255.pbf'], /layer "names" needs the font "Noto Sans Regular"/],
      [
        {
          layers: [
            { id: 'a', type: 'symbol', layout: {
              'text-font': ['step', ['zoom'], ['literal', ['Noto Sans Regular']], 10, ['literal', ['Bold']]]
            } }
          ]
        }, files, /needs the font "Bold"/
      ]
    ])) assert.match(reasonFor(more, fileNames) ?? '', words, JSON.stringify(more))
    for (const invalid of [null, 5, 'x', [], { version: 8 }]) {
      assert.match(whyNotStyle(invalid, [], layers) ?? '', /no style of version 8/)
    }
  })
})
