import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import path from 'node:path'
import { Writable } from 'node:stream'
import { createProgram } from '../../loader/cli/program.js'
import { findEmbedded, up } from '../../server/index.js'
import { serverCommands } from '../../server/commands.js'
import { useFolder } from '../support/folder.js'

const demoSize = { zooms: { min: 0, max: 1 }, hours: 2, surveys: 0 }

describe('tilecouch up', () => {
  const running = []
  afterEach(async () => { for (const { close } of running.splice(0)) await close() }) // before the folder is removed
  const folder = useFolder()

  const start = async options => {
    const started = await up({ data: folder.dir, env: {}, demoSize, ...options })
    running.push(started)
    return started
  }

  it('starts a store with the demo, its viewer, tiles and tiles as of a time', async () => {
    const steps = []
    const { viewer, tiles, asOf, url, demo, blocked } =
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
  })

  it('shows the first layer of the demo before it loads the others', async () => {
    const events = []
    let seen
    const onProgress = event => {
      events.push(event)
      if (event.step === 'viewable') seen = fetch(`${event.viewer}tilby-map.json`)
    }
    await start({ port: 0, demoSize: { zooms: { min: 0, max: 0 }, hours: 1, surveys: 2 }, onProgress })
    const answer = await /** @type {any} */ (seen)
    assert.deepEqual([answer.status, (await answer.json()).name], [200, 'Tilby, a growing town'])
    const steps = events.map(({ step, layer }) => layer ?? step)
    assert.deepEqual(steps.filter((step, at) => step !== steps[at - 1] && step !== 'index'),
      ['server', 'tilby-map', 'push', 'viewable', 'land', 'daylight', 'tilby', 'ready'])
  })

  it('loads the demo once', async () => {
    const { close } = await start({ port: 0 })
    await close()
    const { demo, tiles } = await start({ port: 0 })
    assert.equal(demo, null)
    assert.match(tiles, /daylight/)
  })

  it('leaves a store empty without the demo', async () => {
    const { demo, tiles } = await start({ port: 0, demo: false })
    assert.equal(demo, null)
    assert.match(tiles, /LAYER/)
  })

  it('uses the server that already runs on the folder, and does not stop it', async () => {
    const first = await start({ port: 0, demo: false })
    const second = await start({ port: 0, demo: false })
    assert.deepEqual([second.started, second.url], [false, first.url])
    await second.close()
    assert.ok(await findEmbedded(folder.dir), 'whoever found it does not stop it')
  })

  it('takes the next port when the usual one is taken, and fails when a given port is taken', async () => {
    const other = createServer()
    const port = await new Promise(resolve => {
      other.listen(0, '127.0.0.1', () => resolve(/** @type {any} */ (other.address()).port))
    })
    try {
      await assert.rejects(start({ port, demo: false }), { code: 'PORT_IN_USE' })
    } finally {
      other.close()
    }
    const ports = []
    for (const name of ['a', 'b']) {
      const { url, taken } = await start({ data: path.join(folder.dir, name), demo: false })
      const own = +new URL(url).port
      ports.push(own)
      assert.deepEqual([taken?.port, Boolean(taken?.by)], own === 5984 ? [undefined, false] : [5984, true],
        'it says why')
    }
    // another program may take or give back one of these ports meanwhile
    assert.ok(ports[0] !== ports[1] && ports.every(each => each >= 5984 && each <= 6004), ports.join(' '))
  })

  it('closes the server when it is stopped, and loads the rest of the demo the next time', async () => {
    const stop = new AbortController()
    const stopped =
      start({ port: 0, signal: stop.signal, onProgress: ({ title }) => { if (title === '00:00 UTC') stop.abort() } })
    await assert.rejects(stopped, { code: 'ABORTED' })
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
      const { run } = createProgram(
        { openEmbedded: () => Promise.reject(new Error('not asked for')), more: serverCommands, streams: {
          stdout, stderr
        } }
      )
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
