// Selectors of anybody who may read: none takes the server's one thread for long, wherever a selector is taken.
import assert from 'node:assert/strict'
import { TIME_FACTOR } from '../../bench/wait.js'
import { compileSelector, pickFitting } from '../../server/embedded/selector.js'
import { useServer } from './harness.js'

const LONG = 'a'.repeat(500)

/** Each took seconds to years before. */
const SLOW = [
  { text: { $regex: '^(a+)+$' } }, { text: { $regex: '^(a+)+(b|c)' } },
  { text: { $regex: '^(a|aa)+(b|c)' } }, { text: { $regex: '^.*.*.*.*.*(b|c)' } }, { text: { $regex: '(.*)*x' } },
  { $or: [{ _id: 'no' }, { $not: { text: { $not: { $regex: '^(a+)+(b|c)' } } } }] },
  // joined, 20 to the power of 12
  { $and: Array.from({ length: 12 }, () => ({ $or: Array.from({ length: 20 }, (_, at) => ({ n: at + 100 })) })) },
  Object.fromEntries(Array.from({ length: 20000 }, (_, at) => [`f${at}`, at]))
]

describe('a selector', () => {
  it('matches a hostile document quickly, or fails with 400', async () => {
    const doc = { _id: 'd', text: LONG, n: 1, list: [LONG, LONG], numbers: Array.from({ length: 1000 }, (_, at) => at) }
    for (const selector of SLOW) {
      const began = performance.now()
      compileSelector(selector)(doc)
      assert.ok(performance.now() - began < 1000 * TIME_FACTOR, JSON.stringify(selector).slice(0, 100))
    }
    const costly = compileSelector({ text: { $regex: '(a|b)*a(a|b){900}$' } })
    assert.throws(() => costly({ text: 'ab'.repeat(50000) }), { status: 400 })
  })

  it('is refused with 400 quickly when it is too large to compile', () => {
    const [long, many] =
      [Array(500000).fill('a').join('.'), Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`x${at}`, 1]))]
    for (const selector of [{ [long]: many }, { $and: Array(900000).fill({}) },
      { $or: Array(2000).fill({ [long.slice(0, 1999)]: 1 }) }]) {
      const began = performance.now()
      assert.throws(() => compileSelector(selector), { status: 400 })
      assert.ok(performance.now() - began < 1000 * TIME_FACTOR)
    }
  })

  it('is refused when it is malformed or has an unsupported operator or pattern', () => {
    for (const selector of [null, [], 5, { a: { $regex: '(' } }, { a: { $regex: '(?!x)' } }, {
      a: { $regex: '(a)\\1' }
    }, { a: { $regex: 5 } }, { a: { $regex: `${'((a{100}){100}){100}'}` } }, { a: { $regex: 'x'.repeat(100001) } },
      { a: { $mod: [2, 1] } }, { a: { $in: [5] } }, { a: { $exists: true } },
      { a: { $constructor: 1 } }, { $or: [5] }, { $or: {} }, { $not: [] }]) {
      assert.throws(() => compileSelector(selector), { status: 400 }, JSON.stringify(selector)?.slice(0, 100))
    }
  })

  it('reads only own fields of a document, never inherited ones', () => {
    const has = (text, doc) => compileSelector(JSON.parse(text))(doc)
    for (const name of ['__proto__', 'constructor', 'toString', 'constructor.name', 'list.length', 'text.length']) {
      assert.equal(has(`{"${name}": {"$gte": null}}`, { list: [1], text: 'x' }), false, name)
    }
    assert.equal(has('{"__proto__": 1}', JSON.parse('{"__proto__": 1}')), true)
    assert.equal(has('{"a\\\\.b": 1}', { 'a.b': 1 }), true)
  })

  it('lets other tasks run while it filters many documents', async () => {
    let turns = 0
    const timer = setInterval(() => { turns++ }, 1)
    const slow = () => { for (const until = performance.now() + 15; performance.now() < until;); return true }
    assert.equal((await pickFitting(Array.from({ length: 10 }, (_, at) => at), slow)).length, 10)
    clearInterval(timer)
    assert.ok(turns >= 3, `${turns}`)
  })
})

describe('the embedded store, asked with hostile selectors', function () {
  this.timeout(20000)
  const { client } = useServer({
    async fill (ask) {
      await ask('PUT', '/db')
      await ask('POST', '/db/_bulk_docs',
        { docs: Array.from({ length: 20 },
          (_, at) => ({ _id: `d${at}`, text: LONG, n: at, list: [LONG], numbers: [1, 2] })) })
    }
  })

  it('answers each hostile selector quickly in the change feed', async () => {
    for (const selector of SLOW) {
      for (const path of ['_changes?filter=_selector']) {
        const began = performance.now()
        const { status, text } = await client('POST', `/db/${path}`, { selector })
        const said = `${path} ${JSON.stringify(selector).slice(0, 100)}`
        assert.equal(status, 200, `${said}: ${text}`)
        assert.ok(performance.now() - began < 3000 * TIME_FACTOR, said)
      }
    }
  })
})
