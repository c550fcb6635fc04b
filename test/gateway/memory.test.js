import assert from 'node:assert/strict'
import fc from 'fast-check'
import { Memory } from '../../server/gateway/memory.js'

const plain = { overhead: 0, largestPart: 1 }

/** What a memory does, said without any cleverness: a list with the oldest use first. */
class Model {
  constructor (maxBytes, overhead, largestPart) {
    Object.assign(this, { maxBytes, overhead, largest: maxBytes * largestPart, list: [] })
  }

  get bytes () { return this.list.reduce((sum, { cost }) => sum + cost, 0) }

  get (key) {
    const found = this.list.find(entry => entry.key === key)
    if (found) this.list = [...this.list.filter(entry => entry !== found), found]
    return found?.value
  }

  set (key, value, bytes) {
    this.delete(key)
    const cost = bytes + key.length + this.overhead
    if (cost > this.largest) return
    while (this.bytes + cost > this.maxBytes) this.list.shift()
    this.list.push({ key, value, cost })
  }

  delete (key) { this.list = this.list.filter(entry => entry.key !== key) }
  clear () { this.list = [] }
}

describe('the memory of a gateway', () => {
  it('holds what was used last, within its bytes', () => {
    const memory = new Memory(30, plain)
    for (const key of ['a', 'b', 'c']) memory.set(key, key.toUpperCase(), 9)
    assert.equal(memory.get('a'), 'A')
    memory.set('d', 'D', 9)
    assert.deepEqual(['a', 'b', 'c', 'd'].map(key => memory.get(key)), ['A', undefined, 'C', 'D'])
    assert.deepEqual([memory.bytes, memory.size, memory.evicted], [30, 3, 1])
  })

  it('looks at an entry without using it', () => {
    const memory = new Memory(20, plain)
    memory.set('a', 1, 9)
    memory.set('b', 2, 9)
    assert.equal(memory.look('a'), 1)
    memory.set('c', 3, 9)
    assert.equal(memory.look('a'), undefined, 'it was the oldest still')
    assert.equal(memory.look('b'), 2)
  })

  it('does not keep what would push out too much, nor what it had of it before', () => {
    const memory = new Memory(1000, { overhead: 100, largestPart: 1 / 4 })
    assert.equal(memory.set('a', 'small', 149), true)
    assert.equal(memory.set('a', 'large', 150), false)
    assert.equal(memory.get('a'), undefined)
    assert.deepEqual([memory.bytes, memory.size], [0, 0])
  })

  it('counts names and what an entry costs besides its bytes, so that many small ones are bounded, too', () => {
    const memory = new Memory(1e6)
    for (let i = 0; i < 10000; i++) memory.set(`osm:14:${i}:${i}`, i, 0)
    assert.ok(memory.size < 1000, `${memory.size} entries`)
    assert.ok(memory.bytes <= 1e6)
  })

  it('of no bytes keeps nothing', () => {
    const memory = new Memory(0)
    assert.equal(memory.set('a', 1, 0), false)
    assert.equal(memory.get('a'), undefined)
  })

  it('does what a plain list would do, whatever is put in, taken out and looked for', () => {
    const key = fc.constantFrom('a', 'bb', 'c', 'd', 'e', 'f')
    const step = fc.oneof(
      fc.tuple(fc.constant('set'), key, fc.nat(60)),
      fc.tuple(fc.constant('get'), key),
      fc.tuple(fc.constant('delete'), key),
      fc.tuple(fc.constant('clear'), key)
    )
    fc.assert(fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 0, max: 150 }), (steps, limit) => {
      const memory = new Memory(limit, { overhead: 5, largestPart: 0.5 })
      const model = new Model(limit, 5, 0.5)
      steps.forEach(([what, name, bytes], index) => {
        if (what === 'set') {
          memory.set(name, index, bytes)
          model.set(name, index, bytes)
        } else if (what === 'get') assert.equal(memory.get(name), model.get(name))
        else {
          memory[what](name)
          model[what](name)
        }
        assert.deepEqual([memory.bytes, memory.size], [model.bytes, model.list.length])
        assert.ok(memory.bytes <= limit)
        assert.deepEqual([...memory.values()].sort(), model.list.map(({ value }) => value).sort())
      })
    }), { numRuns: 500 })
  })
})
