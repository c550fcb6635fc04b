// A scene whose images come, and are decoded, when a test says so; its time is mocked.
import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { Scene } from '../../../client/engine/scene.js'

export const TOGETHER = 400 // milliseconds that tiles of a step wait for others

const settled = async () => { for (let at = 0; at < 20; at++) await Promise.resolve() }

/** Tiles whose images come, and are decoded, when a test says so; two to begin with. */
export function stand () {
  let now = 0
  const waiting = new Map() // `x time` -> [what it resolves]
  const shown = /** @type {string[]} */ ([])
  const own = {
    decoded: /** @type {string[]} */ ([]),
    open: new Set(), // images that were decoded and not closed
    frames: /** @type {string[]} */ ([]),
    complete: /** @type {string[]} */ ([]),
    unknown: new Set(), // `x time` of which the index knows nothing yet
    beside: new Set(), // x of tiles out of view
    isLoaded: (/** @type {any} */ tile) => tile, // is called when one has loaded
    picture: () => shown.filter(Boolean).join(', '),
    /** The clock goes to a time. */
    async step (time) {
      now = time
      own.scene.beginStep()
      await own.look()
    },
    async look () {
      own.scene.update()
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
    },
    leave (x, tile) {
      own.scene.remove(tile)
      own.open.delete(shown[x])
      delete shown[x]
    },
    add (x) {
      const show = image => {
        own.open.delete(shown[x])
        shown[x] = image.name
      }
      const tile = { z: 1, x, y: 0, ready () {}, view: { show, mark () {}, note () {} } }
      shown[x] = '-'
      own.scene.add(tile)
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
      resolve: ({ z, x, y }) => own.unknown.has(`${x} ${now}`)
        ? undefined : { version: /** @type {any} */ ({ z, x, y, time: now }), up: 0, dx: 0, dy: 0 },
      isCurrent: ({ x }) => own.scene.isStepping || !own.beside.has(x),
      decode: async ({ name }) => {
        own.decoded.push(name)
        own.open.add(name)
        return { name, close: () => own.open.delete(name) }
      }
    }, { together: TOGETHER, fade: 0 }, /** @type {any} */ ({
      onShown: () => own.complete.push(own.picture()), onPaint: () => own.frames.push(own.picture()),
      onMissing () {}, onOutdated () {}, onError () {}, onLoad: tile => own.isLoaded(tile)
    }))
  }
  for (const x of [0, 1]) own.add(x)
  return own
}

/** The same, showing time 1. */
export async function shownStand () {
  const scene = stand()
  await scene.step(1)
  await scene.come('0 1', '1 1')
  assert.deepEqual(scene.complete, ['0 1, 1 1'])
  scene.decoded.length = scene.frames.length = scene.complete.length = 0
  return scene
}
