// Tests the plan of a time-lapse, and the other parts of "Save or share the map" that need no browser.
import assert from 'node:assert/strict'
import { MAX_FRAMES, bitrateOf, estimate, even, fileName, planFrames,
  spread, timesOf } from '../../attachments/take/plan.js'
import { embedders as allowed } from '../../attachments/take/sharing.js'
import { qgisLayers } from '../../core/qgis.js'
import { VIEWER_CSP, couchPolicy, differsInLists, embedders,
  isOrigin, letsRun, originsIn, originsOf, storesIn, viewerPolicy } from '../../loader/couchapp/policy.js'

const days = count => Array.from({ length: count },
  (_, day) => new Date(Date.UTC(2020, 0, 1 + day)).toISOString().slice(0, 19) + 'Z')
const changesAt = times => times.map(time => ({ time, tiles: 1 }))

describe('the plan of a time-lapse', () => {
  it('has a frame for each change, and holds the last one', () => {
    const { frames, seconds, times, all } = planFrames(days(3), 4)
    assert.deepEqual(frames.map(({ time }) => time), days(3))
    assert.deepEqual(frames.map(frame => frame.seconds), [0.25, 0.25, 2.25])
    assert.deepEqual([seconds, times.length, all], [2.75, 3, 3])
    assert.deepEqual(planFrames([], 4), { times: [], all: 0, frames: [], seconds: 0 })
  })

  it('limits its frames by leaving out changes evenly, but not the first or the last', () => {
    const { frames, times, all } = planFrames(days(5000), 24)
    assert.equal(frames.length, MAX_FRAMES)
    assert.deepEqual([times[0], times.at(-1), all], [days(5000)[0], days(5000)[4999], 5000])
    const gaps = times.slice(1).map((time, index) => Date.parse(time) - Date.parse(times[index]))
    assert.ok(Math.max(...gaps) - Math.min(...gaps) <= 86400000)
    assert.deepEqual(spread([1, 2, 3], 3), [1, 2, 3])
    assert.deepEqual(spread([1, 2, 3, 4, 5], 3), [1, 3, 5])
  })

  it('begins with the state at the start of its range', () => {
    const changes = changesAt(days(5))
    const [first, second, third, fourth] = days(5)
    assert.deepEqual(timesOf(changes, null), days(5))
    assert.deepEqual(timesOf(changes, { from: second, to: fourth }), [second, third, fourth])
    assert.deepEqual(timesOf(changes, { from: '2020-01-02T12:00:00Z', to: fourth }),
      ['2020-01-02T12:00:00Z', third, fourth])
    assert.deepEqual(timesOf(changes, { from: '2019-01-01T00:00:00Z', to: second }),
      [first, second], 'before the first one there is nothing')
    assert.deepEqual(timesOf(changes, { from: '2021-01-01T00:00:00Z', to: '2022-01-01T00:00:00Z' }),
      ['2021-01-01T00:00:00Z'])
  })

  it('estimates the size of a GIF from its changes, and of a video from its length', () => {
    const size = { width: 100, height: 100 }
    const measures = { fps: 4, perPixel: 0.5, tiles: 10, changes: changesAt(days(5)) }
    const plan = planFrames(days(5), measures.fps)
    assert.equal(estimate('gif', plan, size, measures), 5000 + 4 * 500)
    assert.equal(estimate('webm', plan, size, measures), Math.round(bitrateOf(size, 4) / 8 * 3.25))
    assert.ok(bitrateOf({ width: 1920, height: 1080 }, 24) <= 12e6)
    assert.deepEqual(even({ width: 641, height: 400, scale: 2 }), { width: 640, height: 400, scale: 2 })
  })
})

describe('saving and sharing', () => {
  it('names a file after its layer and its times', () => {
    assert.equal(fileName('osm', ['2024-03-01T00:00:00Z'], 'png'), 'osm-2024-03-01.png')
    assert.equal(fileName('osm', ['2024-03-01T14:30:00Z', '2024-03-02T14:30:05Z'], 'gif'),
      'osm-2024-03-01T1430-2024-03-02T143005.gif')
    assert.equal(fileName('osm', [null], 'png'), 'osm.png')
  })

  it('escapes the name and the address of a layer in a file for QGIS', () => {
    const text = qgisLayers({ layer: 'osm', name: '<A & "B">', minzoom: 2, maxzoom: 14, tileSize: 512 },
      { base: 'https://maps.example.org/', time: '2024' })
    for (const part of [
      '<layername>&#60;A &#38; &#34;B&#34;&#62;, 2024</layername>',
      '<datasource>type=xyz&#38;url=https://maps.example.org/osm@2024/%7Bz%7D/%7Bx%7D/%7By%7D.png&#38;' +
        'zmax=14&#38;zmin=2&#38;tilePixelRatio=2</datasource>'
    ]) assert.ok(text?.includes(part), text)
  })

  it('reads the same embedding origins from a policy in the page and on the server', async () => {
    const stores = ['/tiles', '/a%2Fb']
    for (const origins of [[], ['*'], ['https://a.example', 'http://localhost:8080']]) {
      for (const policy of [viewerPolicy(origins), await couchPolicy({ embed: origins, stores })]) {
        assert.deepEqual([embedders(policy), allowed(policy)], [origins, origins])
      }
    }
    assert.deepEqual(storesIn(await couchPolicy({ stores })), stores)
    assert.deepEqual([storesIn(''), storesIn(viewerPolicy()), storesIn(await couchPolicy())], [[], [], []])
    assert.deepEqual([allowed(null), allowed("default-src 'self'"), allowed("frame-ancestors 'none'")],
      [['*'], ['*'], []])
    assert.deepEqual(allowed('frame-ancestors https://a.example https://b.example, frame-ancestors https://b.example'),
      ['https://b.example'], 'of two policies both count')
    assert.deepEqual(embedders("frame-ancestors 'self' https://*.example maps.example javascript:"), [])
    for (const bad of ['https://a;b', 'https://a b', "https://a'",
      'https://a/', 'https://A.example', 'ftp://a', 'data:x', '']) assert.equal(isOrigin(bad), false, bad)
  })
})

describe('the origins that an operator names', () => {
  const TILES = 'https://{s}.tiles.example.org/{z}/{x}/{y}.png'

  it('are those of the base map and the gazetteer, without invalid addresses', () => {
    const originLists = settings => Object.values(originsOf(settings))
    assert.deepEqual(originLists({}), [[], []])
    assert.deepEqual(originLists({ base: 'land', gazetteer: '/search' }), [[], []], 'of the same origin')
    assert.deepEqual(originLists({ base: { url: '{z}/{x}/{y}.png' } }), [[], []])
    assert.deepEqual(originLists({
      base: { url: 'https://Tiles.example.org:443/{z}/{x}/{y}.png?key=a;b' },
      gazetteer: 'http://places.example.org:8080/search?a=1'
    }), [['https://tiles.example.org'], ['http://places.example.org:8080']])
    assert.deepEqual(originLists({ base: { url: TILES } })[0],
      ['a', 'b', 'c'].map(letter => `https://${letter}.tiles.example.org`), 'as Leaflet writes {s}')
    for (const url of ["https://a';script-src *;/{z}", 'https://a b/{z}', 'https://*/{z}',
      'https://{z}.example.org/{x}/{y}', 'data:image/png,{z}{x}{y}', 'https://a;b/{z}', 'https://a,b/{z}']) {
      assert.deepEqual(originLists({ base: { url }, gazetteer: url }), [[], []], url)
    }
  })

  it('are written into the policies of a gateway and of CouchDB, and read from them', async () => {
    const origins = originsOf({ base: { url: TILES }, gazetteer: 'https://places.example.org/search' })
    const gateway = viewerPolicy(['https://a.example'], origins)
    const couch = await couchPolicy({ embed: ['https://a.example'], stores: ['/tiles'], origins })
    for (const policy of [gateway, couch]) {
      assert.deepEqual(originsIn(policy), origins)
      assert.deepEqual(embedders(policy), ['https://a.example'])
      assert.match(policy, /; connect-src 'self' https:\/\/places\.example\.org; /)
      assert.ok(policy.includes("img-src 'self' data: blob: https://a.tiles.example.org https://b.tiles.example.org " +
        'https://c.tiles.example.org; '), policy)
    }
    assert.equal(viewerPolicy([], originsOf({})), VIEWER_CSP)
    assert.deepEqual([storesIn(couch), letsRun(couch)], [['/tiles'], 'digests'])
    const plain = await couchPolicy({ embed: ['https://a.example'], stores: ['/other'] })
    assert.deepEqual([differsInLists(couch, plain), differsInLists(couch, couch),
      differsInLists(couch, await couchPolicy()), differsInLists(couch, gateway)], [true, false, false, false])
  })
})
