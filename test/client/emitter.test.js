import assert from 'node:assert/strict'
import { Emitter } from '../../client/engine/emitter.js'

describe('events without Leaflet', () => {
  const log = () => {
    const list = []
    return { list, add: event => list.push(event.type) }
  }

  it('come to the listeners of their type, with their fields, type and target, until those are taken off', () => {
    const emitter = new Emitter()
    const seen = []
    const listener = event => seen.push(event)
    assert.equal(emitter.on('a b', listener).fire('a', { time: 1, type: 'z' }).fire('b').fire('c'), emitter)
    assert.deepEqual(seen.map(event => ({ ...event })), [{ time: 1, type: 'a' }, { type: 'b' }],
      'the target is no field')
    assert.ok(seen.every(({ target }) => target === emitter))
    emitter.off('a', listener).fire('a').fire('b')
    assert.deepEqual(seen.map(({ type }) => type), ['a', 'b', 'b'])
    emitter.off('b').fire('b')
    assert.equal(seen.length, 3)
    assert.equal(emitter.listens('b'), false)
  })

  it('come once to who listens once', () => {
    const { list, add } = log()
    new Emitter().once('a b', add).fire('a').fire('a').fire('b').fire('b')
    assert.deepEqual(list, ['a', 'b'])
  })

  it('have the context as `this`; a listener is there once for each', () => {
    const emitter = new Emitter()
    const seen = []
    function listener () { seen.push(this.name ?? 'emitter') }
    const [one, two] = [{ name: 'one' }, { name: 'two' }]
    emitter.on('a', listener).on('a', listener, one).on('a', listener, two).on('a', listener, one).fire('a')
    assert.deepEqual(seen, ['emitter', 'one', 'two'])
    emitter.off('a', listener).off('a', listener, one).fire('a')
    assert.deepEqual(seen.slice(3), ['two'])
  })

  it('come to no listener that another one took off, and not yet to one that it added', () => {
    const { list, add } = log()
    const emitter = new Emitter()
    const late = () => list.push('late')
    emitter.once('a', () => emitter.off('a', add).on('a', late)).on('a', add).fire('a')
    assert.deepEqual(list, [])
    emitter.fire('a')
    assert.deepEqual(list, ['late'])
  })

  it('reach every listener, whatever one throws', () => {
    const reported = []
    const before = globalThis.reportError
    globalThis.reportError = error => reported.push(error.message)
    try {
      const { list, add } = log()
      new Emitter().on('a', () => { throw new Error('mine') }).on('a', add).fire('a')
      assert.deepEqual([list, reported], [['a'], ['mine']])
    } finally {
      globalThis.reportError = before
    }
    assert.throws(() => new Emitter().on('a', /** @type {any} */ (undefined)), /no function listens to a/)
  })
})
