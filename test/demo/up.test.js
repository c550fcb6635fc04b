// tilecouch up and its demo: starting a store, ports, stops, and loading the demo.
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { Writable } from 'node:stream'
import { createProgram } from '../../loader/cli/program.js'
import { Store } from '../../loader/index.js'
import { demoEditions, isDemoWanted, loadDemo } from '../../server/demo/index.js'
import { findEmbedded, up } from '../../server/index.js'
import { serverCommands } from '../../server/commands.js'
import { startThrowAwayEmbedded } from '../support/backends.js'
import { useFolder } from '../support/folder.js'

const demoSize = { zooms: { min: 0, max: 1 }, hours: 2, surveys: 0 }

describe('tilecouch up', () => {
  const servers = []
  afterEach(async () => { for (const { close } of servers.splice(0)) await close() }) // before the folder is removed
  const folder = useFolder()

  const start = async options => {
    const server = await up({ data: folder.dir, env: {}, demoSize, ...options })
    servers.push(server)
    return server
  }

  it('starts a store with the demo, its viewer, tiles and tiles as of a time, and loads the demo once', async () => {
    const steps = []
    const { viewer, tiles, asOf, url, demo, blocked, close } =
      await start({ port: 0, onProgress: ({ step }) => steps.push(step) })
    assert.deepEqual([...new Set(steps)], ['server', 'demo', 'push', 'index', 'ready'])
    assert.equal(blocked, false)
    assert.equal(demo?.editions, 3)
    assert.match(await (await fetch(viewer)).text(), /<title>tilecouch/)
    assert.match(asOf, /daylight@2024-06-20T01:00:00Z\/\{z\}\/\{x\}\/\{y\}\.png$/)
    for (const template of [tiles, asOf]) {
      const answer = await fetch(template.replace('{z}/{x}/{y}', '1/0/1'))
      assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'image/png'])
    }
    const info = /** @type {any} */ (await (await fetch(url)).json())
    assert.equal(info.db_name, 'tiles')
    await close()
    const second = await start({ port: 0 })
    assert.equal(second.demo, null)
    assert.match(second.tiles, /daylight/)
  })

  it('shows the first layer of the demo before it loads the others', async () => {
    const events = []
    let pendingAnswer
    const onProgress = event => {
      events.push(event)
      if (event.step === 'viewable') pendingAnswer = fetch(`${event.viewer}tilby-map.json`)
    }
    await start({ port: 0, demoSize: { zooms: { min: 0, max: 0 }, hours: 1, surveys: 2 }, onProgress })
    const answer = await /** @type {any} */ (pendingAnswer)
    assert.deepEqual([answer.status, (await answer.json()).name], [200, 'Tilby, a growing town'])
    const steps = events.map(({ step, layer }) => layer ?? step)
    assert.deepEqual(steps.filter((step, index) => step !== steps[index - 1] && step !== 'index'),
      ['server', 'tilby-map', 'push', 'viewable', 'land', 'daylight', 'tilby', 'ready'])
  })

  it('leaves a store empty without the demo, and uses the server that already runs on the folder', async () => {
    const first = await start({ port: 0, demo: false })
    assert.equal(first.demo, null)
    assert.match(first.tiles, /LAYER/)
    const second = await start({ port: 0, demo: false })
    assert.deepEqual([second.started, second.url], [false, first.url])
    await second.close()
    assert.ok(await findEmbedded(folder.dir), 'whoever found it does not stop it')
  })

  it('takes the next port when the usual one is taken, and fails when a given port is taken', async () => {
    const otherServer = createServer()
    const port = await new Promise(resolve => {
      otherServer.listen(0, '127.0.0.1', () => resolve(/** @type {any} */ (otherServer.address()).port))
    })
    try {
      await assert.rejects(start({ port, demo: false }), { code: 'PORT_IN_USE' })
    } finally {
      otherServer.close()
    }
    const ports = []
    for (const name of ['a', 'b']) {
      const { url, taken } = await start({ data: folder.path(name), demo: false })
      const ownPort = +new URL(url).port
      ports.push(ownPort)
      assert.deepEqual([taken?.port, Boolean(taken?.by)], ownPort === 5984 ? [undefined, false] : [5984, true],
        'it says why')
    }
    // another program may take or free one of these ports meanwhile
    assert.ok(ports[0] !== ports[1] && ports.every(number => number >= 5984 && number <= 6004), ports.join(' '))
  })

  it('closes the server when it is stopped, and loads the rest of the demo the next time', async () => {
    const controller = new AbortController()
    const onProgress = ({ title }) => { if (title === '00:00 UTC') controller.abort() }
    await assert.rejects(start({ port: 0, signal: controller.signal, onProgress }), { code: 'ABORTED' })
    assert.equal(await findEmbedded(folder.dir), null)
    const { demo } = await start({ port: 0 })
    assert.equal(demo?.editions, 2)
  })

  it('prints addresses on standard output, and exits with 0 when it is interrupted', async () => {
    let text = ''
    const stdout = new Writable({
      write (chunk, encoding, done) {
        text += chunk
        if (/Ctrl-C stops/.test(text)) process.emit('SIGINT')
        done()
      }
    })
    const stderr = new Writable({ write (chunk, encoding, done) { done() } })
    const couch = process.env.COUCHDB_URL
    delete process.env.COUCHDB_URL
    try {
      const openEmbedded = () => Promise.reject(new Error('not asked for'))
      const { run } = createProgram({ openEmbedded, more: serverCommands, streams: { stdout, stderr } })
      assert.equal(await run(['up', '--data', folder.dir, '--port', '0', '--no-demo']), 0)
      assert.equal(await run(['up', '--data', folder.dir, '--port', 'x']), 1)
    } finally {
      if (couch) process.env.COUCHDB_URL = couch
    }
    assert.match(text, /Viewer {4}http:\/\/127\.0\.0\.1:\d+\/tiles\/_design\/tiles\/_rewrite\/\n/)
    assert.match(text, /tilecouch load FOLDER --layer NAME/)
    assert.equal(await findEmbedded(folder.dir), null)
  })
})

const smallDemo = { zooms: { min: 0, max: 2 }, hours: 4, surveys: 0 }

describe('loading the demo', () => {
  let server, store
  let databases = 0

  before(async () => { server = await startThrowAwayEmbedded() })
  after(() => server?.close())
  beforeEach(async () => { store = await Store.create(`${server.url}/demo_${++databases}`) })

  it('fills an empty store once, with an edition for each hour, which holds only changed tiles', async () => {
    assert.equal(await isDemoWanted(store), true)
    const { editions, tiles } = await loadDemo(store, smallDemo)
    assert.equal(editions, 5)
    assert.equal(await isDemoWanted(store), false)
    const daylight = await store.editions('daylight')
    assert.deepEqual(daylight.map(({ title }) => title), ['00:00 UTC', '01:00 UTC', '02:00 UTC', '03:00 UTC'])
    assert.ok(daylight.every(({ finished, failed }) => finished && !failed))
    assert.equal(daylight[0].created, 21)
    assert.ok(daylight.slice(1).every(({ advanced }) => advanced > 3 && advanced < 21))
    assert.equal(tiles, 42 + daylight.slice(1).reduce((sum, { advanced }) => sum + advanced, 0))
    const layers = await store.layers()
    for (const { attribution } of layers) assert.match(attribution, /Natural Earth/)
    assert.deepEqual(layers.map(({ layer, minzoom, bounds }) => [layer, minzoom, bounds.map(Math.round)]),
      [['daylight', 0, [-180, -85, 180, 85]], ['land', 0, [-180, -85, 180, 85]]])
  })

  it('makes the town the first layer, with surveys every ten years as images and vector tiles', async () => {
    await loadDemo(store, { zooms: { min: 0, max: 0 }, hours: 1, surveys: 2 })
    const { opens } = await store.couch.get('tilecouch')
    assert.equal(opens, 'tilby-map')
    for (const [layer, format] of [['tilby-map', 'png'], ['tilby', 'pbf']]) {
      const editions = await store.editions(layer)
      assert.deepEqual(editions.map(({ title }) => title), ['Survey of 1930', 'Survey of 1940'])
      assert.ok(editions[1].advanced > 5, `${layer}: the town has grown`)
      assert.equal((await store.layer(layer)).format, format)
    }
  })

  it('continues after a stop, without loading finished editions again', async () => {
    const controller = new AbortController()
    const loadedTitles = []
    const onProgress = ({ layer, title }) => {
      loadedTitles.push(`${layer} ${title}`)
      if (title === '01:00 UTC') controller.abort()
    }
    await assert.rejects(loadDemo(store, { ...smallDemo, signal: controller.signal, onProgress }), { code: 'ABORTED' })
    assert.ok(!loadedTitles.includes('daylight 02:00 UTC'))
    assert.equal(await isDemoWanted(store), true)

    const loadedAgain = []
    await loadDemo(store, { ...smallDemo, onProgress: ({ title }) => loadedAgain.push(title) })
    assert.deepEqual([...new Set(loadedAgain)], ['01:00 UTC', '02:00 UTC', '03:00 UTC'],
      'finished editions are not loaded again')
    assert.equal(await isDemoWanted(store), false)

    const wholeStore = await Store.create(`${server.url}/demo_${++databases}`)
    await loadDemo(wholeStore, smallDemo)
    const range = { startkey: 'daylight:', endkey: 'land;' }
    const idsOf = async ({ couch }) => (await couch.page(range)).map(({ id }) => id)
    assert.deepEqual(await idsOf(store), await idsOf(wholeStore))
  })

  for (const [layer, fields] of /** @type {const} */ ([['osm', { name: 'mine' }], ['land', { description: 'mine' }]])) {
    it(`is not wanted for a store with an own layer "${layer}"`, async () => {
      await store.defineLayer(layer, fields)
      assert.equal(await isDemoWanted(store), false)
    })
  }

  it('lists its editions of each layer in the order of time', () => {
    const editions = demoEditions()
    assert.equal(editions.length, 45)
    const times = editions.filter(({ layer }) => layer === 'daylight').map(({ time }) => time)
    assert.deepEqual(times, [...times].sort())
    assert.equal(times.at(-1), '2024-06-20T23:00:00Z')
  })
})
