// Tests Scene with images that arrive when a test calls come(), and with a mocked time.
import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { Scene } from '../../client/engine/scene.js'

const TOGETHER = 400 // milliseconds that tiles of a step wait for others

const settle = async () => { for (let turn = 0; turn < 20; turn++) await Promise.resolve() }

/** Creates a scene of two tiles. Images arrive when a test calls come(). */
function createScene () {
  let now = 0
  const waiting = new Map() // `x time` -> resolve functions of its loads
  const shown = /** @type {string[]} */ ([])
  const harness = {
    decoded: /** @type {string[]} */ ([]),
    open: new Set(), // images that were decoded and not closed
    frames: /** @type {string[]} */ ([]),
    complete: /** @type {string[]} */ ([]),
    unknown: new Set(), // `x time` of tiles that the index does not know yet
    beside: new Set(), // x of tiles out of view
    isLoaded: (/** @type {any} */ tile) => tile, // called when a tile has loaded
    picture: () => shown.filter(Boolean).join(', '),
    /** Sets the clock to a time. */
    async step (time) {
      now = time
      harness.scene.beginStep()
      await harness.look()
    },
    async look () {
      harness.scene.update()
      await settle()
    },
    /** Delivers images of tiles: `0 2` is the image of the first tile at time 2. */
    async come (...names) {
      for (const name of names) for (const resolve of waiting.get(name) ?? []) resolve({ name })
      for (const name of names) waiting.delete(name)
      await settle()
    },
    wait: async milliseconds => {
      mock.timers.tick(milliseconds)
      await settle()
    },
    leave (x, tile) {
      harness.scene.remove(tile)
      harness.open.delete(shown[x])
      delete shown[x]
    },
    add (x) {
      const show = image => {
        harness.open.delete(shown[x])
        shown[x] = image.name
      }
      const tile = { z: 1, x, y: 0, ready () {}, view: { show, mark () {}, note () {} } }
      shown[x] = '-'
      harness.scene.add(tile)
      return tile
    },
    scene: new Scene(/** @type {any} */ ({
      load: ({ x, time }) => new Promise(resolve => {
        const name = `${x} ${time}`
        waiting.set(name, [...waiting.get(name) ?? [], resolve])
      }),
      release () {},
      forget () {},
      isFromDevice: () => false
    }), {
      resolve: ({ z, x, y }) => harness.unknown.has(`${x} ${now}`)
        ? undefined : { version: /** @type {any} */ ({ z, x, y, time: now }), up: 0, dx: 0, dy: 0 },
      isCurrent: ({ x }) => harness.scene.isStepping || !harness.beside.has(x),
      decode: async ({ name }) => {
        harness.decoded.push(name)
        harness.open.add(name)
        return { name, close: () => harness.open.delete(name) }
      }
    }, { together: TOGETHER, fade: 0 }, /** @type {any} */ ({
      onShown: () => harness.complete.push(harness.picture()), onPaint: () => harness.frames.push(harness.picture()),
      onMissing () {}, onOutdated () {}, onError () {}, onLoad: tile => harness.isLoaded(tile)
    }))
  }
  for (const x of [0, 1]) harness.add(x)
  return harness
}

/** Creates the same scene, which shows time 1. */
async function createShownScene () {
  const scene = createScene()
  await scene.step(1)
  await scene.come('0 1', '1 1')
  assert.deepEqual(scene.complete, ['0 1, 1 1'])
  scene.decoded.length = scene.frames.length = scene.complete.length = 0
  return scene
}

describe('a scene', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'] }))
  afterEach(() => mock.timers.reset())

  it('decodes a version once after many steps, and no version that is not needed any more', async () => {
    const scene = await createShownScene()
    for (const time of [2, 3, 2, 3, 2, 3, 2]) await scene.step(time)
    await scene.come('0 3', '1 3', '0 2', '1 2')
    assert.deepEqual(scene.decoded, ['0 2', '1 2'])
    assert.deepEqual(scene.frames, ['0 2, 1 2'])
    assert.deepEqual(scene.complete, ['0 2, 1 2'])
  })

  it('shows a first picture tile by tile', async () => {
    const scene = createScene()
    await scene.step(1)
    await scene.come('0 1')
    assert.equal(scene.picture(), '0 1, -')
  })

  it('shows a tile that enters the view during a step with the others, otherwise at once', async () => {
    const scene = await createShownScene()
    await scene.step(2)
    scene.add(2)
    await scene.look()
    await scene.come('0 2', '2 2')
    assert.equal(scene.picture(), '0 1, 1 1, -')
    await scene.come('1 2')
    assert.deepEqual(scene.frames, ['0 2, 1 2, 2 2'])
    scene.add(3)
    await scene.look()
    await scene.come('3 2')
    assert.equal(scene.picture(), '0 2, 1 2, 2 2, 3 2')
    assert.deepEqual(scene.complete, ['0 2, 1 2, 2 2', '0 2, 1 2, 2 2, 3 2'])
  })

  it('waits no longer for a tile that enters the view during a step than for others', async () => {
    const scene = await createShownScene()
    await scene.step(2)
    scene.add(2)
    await scene.look()
    await scene.come('0 2', '1 2')
    await scene.wait(TOGETHER)
    assert.deepEqual(scene.frames, ['0 2, 1 2, -'])
  })

  it('waits for a tile that the index does not know yet, but no longer than for others', async () => {
    const scene = await createShownScene()
    scene.unknown.add('1 2')
    await scene.step(2)
    await scene.come('0 2')
    assert.deepEqual(scene.frames, [])
    scene.unknown.clear()
    await scene.look()
    await scene.come('1 2')
    assert.deepEqual(scene.frames, ['0 2, 1 2'])
    scene.unknown.add('1 3')
    await scene.step(3)
    await scene.come('0 3')
    await scene.wait(TOGETHER)
    assert.deepEqual(scene.frames.slice(1), ['0 3, 1 2'])
    assert.deepEqual(scene.complete, ['0 2, 1 2'])
  })

  it('does not show the version of an earlier step for a tile that the index does not know yet', async () => {
    const scene = await createShownScene()
    scene.unknown.add('1 3')
    await scene.step(2)
    await scene.step(3)
    await scene.come('0 3', '1 2')
    assert.equal(scene.picture(), '0 1, 1 1')
    await scene.step(2)
    await scene.come('0 2')
    await scene.come('1 2')
    assert.deepEqual(scene.frames, ['0 2, 1 2'])
  })

  it('shows the known tiles during many fast steps when the index lacks a tile', async () => {
    const scene = await createShownScene()
    for (const time of [2, 3, 4, 5, 6, 7]) {
      scene.unknown.add(`1 ${time}`)
      await scene.step(time)
      await scene.come(`0 ${time}`)
      await scene.wait(TOGETHER / 4)
    }
    assert.deepEqual(scene.frames, ['0 6, 1 1', '0 7, 1 1'])
  })

  it('is complete after the wait when the only late tile has left the view', async () => {
    const scene = await createShownScene()
    scene.add(2)
    await scene.look()
    await scene.come('2 1')
    scene.complete.length = 0
    await scene.step(2)
    await scene.come('0 2', '1 2')
    scene.beside.add(2)
    await scene.look()
    assert.deepEqual(scene.complete, [])
    await scene.wait(TOGETHER)
    assert.deepEqual(scene.complete, ['0 2, 1 2, 2 1'])
    assert.equal(scene.scene.isStepping, false)
  })

  it('accepts a step that is made while the step before is being shown', async () => {
    const scene = await createShownScene()
    await scene.step(2)
    scene.isLoaded = () => {
      scene.isLoaded = tile => tile
      scene.step(3)
    }
    await scene.come('0 2', '1 2')
    assert.equal(scene.scene.isStepping, true)
    await scene.come('0 3', '1 3')
    assert.equal(scene.frames.at(-1), '0 3, 1 3')
    assert.deepEqual(scene.complete, ['0 3, 1 3'])
    assert.equal(scene.scene.isStepping, false)
  })

  it('is not shown before every tile knows its version', async () => {
    const scene = await createShownScene()
    assert.equal(scene.scene.isShown, true)
    scene.scene.beginStep()
    assert.equal(scene.scene.isShown, false)
  })

  it('stays incomplete when a tile leaves before the others know their versions', async () => {
    const scene = await createShownScene()
    const leavingTile = scene.add(2)
    await scene.look()
    await scene.come('2 1')
    scene.complete.length = 0
    scene.scene.beginStep()
    scene.scene.remove(leavingTile)
    assert.deepEqual(scene.complete, [])
    assert.equal(scene.scene.isStepping, true)
  })

  it('keeps only the images that are shown or wait to be shown', async () => {
    const scene = await createShownScene()
    for (const time of [2, 3, 4]) {
      await scene.step(time)
      await scene.come(`0 ${time}`)
    }
    assert.equal(scene.picture(), '0 1, 1 1')
    assert.deepEqual([...scene.open], ['0 1', '1 1', '0 4'])
  })

  it('shows the loaded tiles after the wait, and a late tile when it arrives', async () => {
    const scene = await createShownScene()
    await scene.step(2)
    await scene.come('0 2')
    await scene.wait(TOGETHER - 1)
    assert.deepEqual(scene.frames, [])
    await scene.wait(1)
    assert.deepEqual(scene.frames, ['0 2, 1 1'])
    await scene.come('1 2')
    assert.deepEqual(scene.frames, ['0 2, 1 1', '0 2, 1 2'])
  })

  it('mixes no times in random sequences of events in which no tile is late', async () => {
    let seed = 7
    const random = count => (seed = seed * 16807 % 2147483647) % count
    for (let life = 0; life < 60; life++) {
      const scene = await createShownScene()
      const tiles = new Map()
      let [time, next, passed] = [1, 2, 0]
      for (let event = 0; event < 40; event++) {
        const kind = random(10)
        if (kind < 3) {
          time = random(4) + 1
          passed = 0
          await scene.step(time)
        } else if (kind === 3) {
          tiles.set(next, scene.add(next))
          next++
          await scene.look()
        } else if (kind === 4 && tiles.size) {
          const x = [...tiles.keys()][random(tiles.size)]
          scene.leave(x, tiles.get(x))
          tiles.delete(x)
        } else if (kind === 5 && passed + 100 < TOGETHER) {
          passed += 100
          await scene.wait(100)
        } else {
          const columns = [0, 1, ...tiles.keys()]
          const name = `${columns[random(columns.length)]} ${random(4) + 1}`
          await scene.come(name)
        }
        const times = new Set(scene.picture().split(', ').filter(text => text !== '-').map(text => text.split(' ')[1]))
        assert.ok(times.size <= 1, `life ${life}: ${scene.picture()}`)
        const isRight = scene.picture().split(', ').every(text => text.endsWith(` ${time}`))
        assert.equal(scene.scene.isShown, isRight, `life ${life}: ${scene.picture()} at ${time}`)
      }
      const names = [0, 1, ...tiles.keys()].map(x => `${x} ${time}`)
      await scene.come(...names)
      assert.equal(scene.picture(), names.join(', '))
      assert.deepEqual(new Set(scene.open), new Set(names))
    }
  })

  for (const [when, before] of [['has not shown yet', TOGETHER - 1], ['has shown in part', TOGETHER]]) {
    it(`gives a step its full waiting time after a step that it ${when}`, async () => {
      const scene = await createShownScene()
      await scene.step(2)
      await scene.come('0 2')
      await scene.wait(before)
      scene.frames.length = 0
      await scene.step(3)
      await scene.come('0 3')
      await scene.wait(TOGETHER - 1)
      assert.deepEqual(scene.frames, [])
      await scene.come('1 3')
      assert.deepEqual(scene.frames, ['0 3, 1 3'])
    })
  }
})
