import assert from 'node:assert/strict'
import { Emitter } from '../../client/engine/emitter.js'

describe('events without Leaflet', () => {
  const log = () => {
    const list = []
    return { list, add: event => list.push(event.type) }
  }

  it('reach the listeners of their type with fields, type and target, until the listeners are removed', () => {
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

  it('reach a listener that was added by once only once for each type', () => {
    const { list, add } = log()
    new Emitter().once('a b', add).fire('a').fire('a').fire('b').fire('b')
    assert.deepEqual(list, ['a', 'b'])
  })

  it('call a listener once for each context, with the context as `this`', () => {
    const emitter = new Emitter()
    const seen = []
    function listener () { seen.push(this.name ?? 'emitter') }
    const [one, two] = [{ name: 'one' }, { name: 'two' }]
    emitter.on('a', listener).on('a', listener, one).on('a', listener, two).on('a', listener, one).fire('a')
    assert.deepEqual(seen, ['emitter', 'one', 'two'])
    emitter.off('a', listener).off('a', listener, one).fire('a')
    assert.deepEqual(seen.slice(3), ['two'])
  })

  it('do not reach a listener that another listener removed or added during the event', () => {
    const { list, add } = log()
    const emitter = new Emitter()
    const late = () => list.push('late')
    emitter.once('a', () => emitter.off('a', add).on('a', late)).on('a', add).fire('a')
    assert.deepEqual(list, [])
    emitter.fire('a')
    assert.deepEqual(list, ['late'])
  })

  it('reach the other listeners when one throws, and its error is reported', () => {
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
