import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { Scene } from '../../client/engine/scene.js'

const TOGETHER = 400
const settled = async () => { for (let at = 0; at < 20; at++) await Promise.resolve() }

/** Two tiles whose images come, and are decoded, when a test says so. */
function stand () {
  let now = 0
  const waiting = new Map() // `tile time` -> [what it resolves]
  const shown = ['', '']
  const own = {
    decoded: /** @type {string[]} */ ([]),
    frames: /** @type {string[]} */ ([]),
    complete: 0,
    /** The clock goes to a time. */
    async step (time) {
      now = time
      scene.update({ announce: true })
      await settled()
    },
    /** The images of tiles come: `0 2` is that of the first tile at time 2. */
    async come (...names) {
      for (const name of names) for (const give of waiting.get(name) ?? []) give({ name })
      for (const name of names) waiting.delete(name)
      await settled()
    },
    wait: async milliseconds => {
      mock.timers.tick(milliseconds)
      await settled()
    }
  }
  const scene = new Scene(/** @type {any} */ ({
    load: ({ x, time }) => new Promise(resolve => {
      const name = `${x} ${time}`
      waiting.set(name, [...waiting.get(name) ?? [], resolve])
    }),
    release () {},
    forget () {},
    isFromDevice: () => false
  }), {
    resolve: ({ z, x, y }) => ({ version: /** @type {any} */ ({ z, x, y, time: now }), up: 0, dx: 0, dy: 0 }),
    isCurrent: () => true,
    decode: async ({ name }) => {
      own.decoded.push(name)
      return name
    }
  }, { together: TOGETHER, fade: 0 }, /** @type {any} */ ({
    onShown: () => own.complete++, onPaint: () => own.frames.push(shown.join(', ')), onMissing () {}, onOutdated () {}, onError () {}, onLoad () {}
  }))
  for (const x of [0, 1]) scene.add({ z: 1, x, y: 0, ready () {}, view: { show: image => { shown[x] = image }, mark () {}, note () {} } })
  return own
}

/** The same, showing time 1. */
async function shownStand () {
  const scene = stand()
  await scene.step(1)
  await scene.come('0 1', '1 1')
  assert.equal(scene.complete, 1)
  scene.decoded.length = scene.frames.length = 0
  return scene
}

describe('a scene', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
  afterEach(() => mock.timers.reset())

  it('decodes once a version that many steps wanted, and none that is not wanted any more', async () => {
    const scene = await shownStand()
    for (const time of [2, 3, 2, 3, 2, 3, 2]) await scene.step(time)
    await scene.come('0 3', '1 3', '0 2', '1 2')
    assert.deepEqual(scene.decoded, ['0 2', '1 2'])
    assert.deepEqual(scene.frames, ['0 2, 1 2'])
    assert.equal(scene.complete, 2)
  })

  it('shows what has come without a tile that is late, and that one when it comes', async () => {
    const scene = await shownStand()
    await scene.step(2)
    await scene.come('0 2')
    await scene.wait(TOGETHER - 1)
    assert.deepEqual(scene.frames, [])
    await scene.wait(1)
    assert.deepEqual(scene.frames, ['0 2, 1 1'])
    await scene.come('1 2')
    assert.deepEqual(scene.frames, ['0 2, 1 1', '0 2, 1 2'])
  })

  for (const [when, before] of /** @type {const} */ ([['has not shown in full', TOGETHER - 1], ['has shown in part', TOGETHER]])) {
    it(`gives a step all of its time, though it comes after one that it ${when}`, async () => {
      const scene = await shownStand()
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
