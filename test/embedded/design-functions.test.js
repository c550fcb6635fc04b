// Every user who may write design documents can supply design functions. They reach neither the machine nor each
// other. A function that takes too much time or memory ends only its own call.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { answered, startInTmp, useEmbedded } from './harness.js'

const SECRET = 'a-secret-of-the-environment'

// Each passes the values that it reaches to `take`, which tries to leave the sandbox with them. They include known
// escapes from node:vm.
const escapes = {
  'the constructor of this': 'take(this.constructor && this.constructor.constructor)',
  'the constructor of an argument': `
    take(arguments[0] && arguments[0].constructor.constructor)
    take(arguments[1] && arguments[1].constructor.constructor)`,
  'the constructor of a helper': `
    take(send.constructor); take(emit.constructor); take(getRow.constructor); take(JSON.parse.constructor)`,
  'the constructor of a literal': `
    take([].constructor.constructor); take("".constructor.constructor); take((function () {}).constructor)`,
  'an import that fails': 'import("x").catch(function (e) { take(e.constructor.constructor) })',
  'an import that succeeds': `
    import("node:fs").then(function (fs) { fs.writeFileSync(FILE, "x") })
    import("node:process").then(function (p) { take(p.default.constructor.constructor) })`,
  'an import of a data URL': `
    import("data:text/javascript,export default Function").then(function (m) { take(m.default) })`,
  'the error of a promise': 'Promise.reject(new Error("x")).catch(function (e) { take(e.constructor.constructor) })',
  'the species of a promise': `
    var p = Promise.resolve(); p.constructor = {}
    p.constructor[Symbol.species] = function (run) { take(run.constructor); run(function () {}, function () {}) }
    p.then(function () {})`,
  'a thenable': '({ then: null }); Promise.resolve({ then: function (a) { take(a.constructor) } })',
  'Error.prepareStackTrace': `
    Error.prepareStackTrace = function (e, frames) {
      frames.forEach(function (f) {
        take(f.constructor.constructor); take(f.getThis && f.getThis()); take(f.getFunction && f.getFunction())
      })
      return ""
    }
    try { null.x } catch (e) { e.stack }
    try { (function f () { f() })() } catch (e) { take(e.constructor.constructor); e.stack }
    new Error().stack`,
  'Error.stackTraceLimit': `
    var limit = { get: function () { take(arguments.callee.caller); return 9 } }
    Object.defineProperty(Error, "stackTraceLimit", limit); new Error().stack`,
  'the error of too deep a recursion': `
    function deep () { try { deep() } catch (e) { take(e.constructor.constructor) } }
    deep()`,
  'the error of too long a string': `
    try { "x".repeat(Math.pow(2, 29) + 1) } catch (e) { take(e.constructor.constructor) }
    try { new Array(-1) } catch (e) { take(e.constructor.constructor) }`,
  'a proxy that is thrown': `
    throw new Proxy({}, {
      get: function (t, name, r) { take(r && r.constructor); take(arguments.callee.caller); return undefined },
      getPrototypeOf: function () { take(arguments.callee.caller); return null }
    })`,
  'a proxy that is returned': `
    return new Proxy({}, {
      get: function (t, name) { take(arguments.callee.caller); return undefined },
      ownKeys: function () { take(arguments.callee.caller); return [] }
    })`,
  'toJSON': `
    return { toJSON: function () { take(this.constructor.constructor); take(arguments.callee.caller); return "x" } }`,
  'toString of a thrown object': 'throw { toString: function () { take(arguments.callee.caller); return "x" } }',
  'Symbol.toPrimitive and hasInstance': `
    var o = {}; o[Symbol.toPrimitive] = function () { take(arguments.callee.caller); return "x" }
    var instance = { value: function () { take(arguments.callee.caller); return true } }
    Object.defineProperty(Array, Symbol.hasInstance, instance); throw o`,
  'Symbol.for of Node': `
    var inspect = Symbol.for("nodejs.util.inspect.custom"), o = {}
    take(this[inspect]); o[inspect] = function (d, options, inspect) { take(inspect.constructor) }; throw o`,
  'an async function': `
    (async function () { try { await import("x") } catch (e) { take(e.constructor.constructor) } })()
    take((async function () {}).constructor)`,
  'a generator': 'take((function * () {}).constructor); var g = (function * () {})(); take(g.constructor.constructor)',
  'an async generator': `
    take((async function * () {}).constructor);
    (async function () { for await (var x of (async function * () { yield import("x") })()) take(x) })()
      .catch(function (e) { take(e.constructor.constructor) })`,
  'the caller': 'take((function f () { return f.caller })()); take(arguments.callee && arguments.callee.caller)',
  'changed prototypes and JSON.stringify': `
    Object.prototype.then = function (a) { take(a) }
    Array.prototype.map = function () { take(arguments[0].constructor) }
    JSON.stringify = function () {
      return "{\\"ok\\":{\\"code\\":200,\\"body\\":\\"x\\",\\"__proto__\\":{\\"code\\":500}}}"
    }
    Function.prototype.call = function () { take(this); take(arguments[0]) }`,
  'WebAssembly': 'take(WebAssembly.constructor.constructor); new WebAssembly.Memory({ initial: 1 })',
  'shared memory': `
    var s = new SharedArrayBuffer(64); take(s.constructor.constructor); Atomics.wait(new Int32Array(s), 0, 0)`,
  'weak references': `
    new FinalizationRegistry(function (x) { take(x) }).register({}, 1)
    take(new WeakRef({}).constructor.constructor)`,
  'globals of Node and of QuickJS': `
    ["process", "require", "module", "std", "os", "scriptArgs", "Worker", "fetch", "Deno", "bjson"]
      .forEach(function (name) { take(globalThis[name]) })`,
  'direct and indirect eval': `
    take(eval("Function")); take((0, eval)("Function")); take(new Function("return Function")())`,
  'require of CommonJS': `
    ["fs", "node:fs", "net", "child_process", "process", "../../../../etc/passwd", "/etc/passwd",
      "__proto__/constructor", "constructor/constructor"].forEach(function (name) {
      try {
        var m = require(name); take(m); if (m && m.writeFileSync) m.writeFileSync(FILE, "x")
      } catch (e) { take(e.constructor.constructor) }
    })`
}

const take = port => `
  var FILE = ${JSON.stringify('%FILE%')}, loot = []
  function take (found) {
    try {
      var isFunction = typeof found === 'function' && found.constructor
      var F = isFunction ? found.constructor : found && found.constructor && found.constructor.constructor
      ;[F, found].forEach(function (make) {
        if (typeof make !== 'function') return
        var text = 'var p = typeof process !== "undefined" ? process : null;' +
          'if (!p) return typeof fetch + typeof WebSocket + typeof setTimeout;' +
          'try { (p.getBuiltinModule || p.mainModule.require)("fs")' +
          '.writeFileSync(' + JSON.stringify(FILE) + ', "x") } catch (e) {}' +
          'try { (p.getBuiltinModule || p.mainModule.require)("net").connect(${port}, "127.0.0.1") } catch (e) {}' +
          'try { p.binding("fs") } catch (e) {}; return JSON.stringify(p.env)'
        try { loot.push(make(text)()) } catch (e) {}
        try { loot.push(make('if (typeof fetch === "function") fetch("http://127.0.0.1:${port}/")')()) } catch (e) {}
        var write = 'fs.writeFileSync(' + JSON.stringify(FILE) + ', "x")'
        try {
          loot.push(make('return import("node:fs").then(function (fs) { ' + write + ' })')())
        } catch (e) {}
      })
    } catch (e) {}
  }`

describe('design functions of the embedded store', function () {
  this.timeout(30000)
  let dir, listener, connections
  const { client } = useEmbedded({
    options: { designTimeout: 500 },
    async fill (ask) {
      await ask('PUT', '/db')
      await ask('PUT', '/db/doc', { n: 1 })
    }
  })

  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'emb-escape-'))
    process.env.TILECOUCH_TEST_SECRET = SECRET
    connections = 0
    listener = net.createServer(socket => { connections++; socket.destroy() }).listen(0, '127.0.0.1')
    await new Promise(resolve => listener.once('listening', resolve))
  })

  after(async () => {
    delete process.env.TILECOUCH_TEST_SECRET
    await new Promise(resolve => listener.close(resolve))
    rmSync(dir, { recursive: true })
  })

  beforeEach(() => { connections = 0 })

  let count = 0

  /** Writes a design document and returns its path. */
  async function design (fields) {
    const path = `/db/_design/d${count++}`
    await answered(201, client('PUT', path, { shows: { ok: '(function () { return "ok" })' }, ...fields }))
    return path
  }

  for (const [name, code] of Object.entries(escapes)) it(`do not escape the sandbox through ${name}`, async () => {
    const file = join(dir, `out${count}`)
    const body =
      `${take(listener.address().port).replace('%FILE%', file)}\n;(function () { ${code} }).apply(this, arguments)`
    const show = `(function (doc, req) { ${body}; return JSON.stringify(loot) })`
    const returned =
      `(function (doc, req) { ${body.replace(/\(function \(\) \{ (?=[^]*apply)/, 'return (function () { ')} })`
    const map = `(function (doc) { ${body}; emit(null, loot) })`
    const path = await design({ shows: { s: show, returned }, rewrites: show, views: { v: { map } } })
    for (const part of ['_show/s/doc', '_show/returned/doc', '_view/v', '_rewrite/x']) {
      const { text } = await client('GET', `${path}/${part}`)
      assert.ok(!text.includes(SECRET), part)
    }
    await client('GET', `/db/_changes?filter=${path.slice(12)}/f`)
    await new Promise(resolve => setImmediate(resolve))
    assert.equal(existsSync(file), false)
    assert.equal(connections, 0)
    assert.equal((await client('GET', '/db/doc')).json.n, 1)
  })

  const excesses = {
    'an endless loop': 'for (;;) {}',
    'an endless loop that catches': 'for (;;) try { for (;;) {} } catch (e) {} finally { for (;;) {} }',
    'endless microtasks': '(function again () { Promise.resolve().then(again) })(); return "x"',
    'an endless promise': 'Promise.resolve().then(function () { for (;;) {} }); return "x"',
    'an endless async generator': `
      (async function () { for await (var x of (async function * () { for (;;) yield 1 })()); })()
      return "x"`,
    'a catastrophic regular expression': 'return String(/^(a+)+$/.test(new Array(60).join("a") + "!"))',
    'a search through a huge empty array': 'var a = []; a.length = 4294967295; return String(a.indexOf(1))',
    'joining an empty array of a billion elements': 'return String(new Array(1e9) + "").length',
    'an array that grows': 'var all = []; for (;;) all.push(new Array(1000).fill("x" + all.length))',
    'buffers that grow': 'var all = []; for (;;) all.push(new ArrayBuffer(1e6))',
    'a huge result': `
      var text = new Array(1 << 20).join("xxxxxxxxxxxxxxxx"), all = []
      for (var i = 0; i < 12; i++) all.push(text + i)
      return all.join("")`,
    'a long string': 'return "x".repeat(Math.pow(2, 29))',
    'a string that doubles without end': 'var text = "x"; for (;;) text += text',
    'deep recursion': 'return (function f (n) { return f(n + 1) + 1 })(0)',
    'deep recursion in source': 'return String(eval(new Array(100001).join("[")))',
    'a deep result': 'var deep = []; for (var i = 0; i < 1e5; i++) deep = [deep]; return JSON.stringify(deep)',
    'a deep regular expression':
      'return String(new RegExp(new Array(1e5).join("(?:a|") + new Array(1e5).join(")")).test("a"))'
  }

  for (const [name, code] of Object.entries(excesses)) it(`answer 500 after ${name}; the next call works`, async () => {
    const path = await design({ shows: { s: `(function () { ${code} })`, ok: '(function () { return "ok" })' } })
    const { json } = await answered(500, client('GET', `${path}/_show/s`))
    assert.match(json.error, /^(os_process_error|render_error|compilation_error)$/)
    assert.equal((await client('GET', `${path}/_show/ok`)).text, 'ok')
    assert.ok(process.memoryUsage().rss < 2e9)
  })

  it('answer 500 when a map, rewrite or validation function never ends', async () => {
    const endless = '(function () { for (;;) {} })'
    const path = await design({ views: { v: { map: endless } }, rewrites: endless })
    for (const part of ['_view/v', '_rewrite/x']) {
      const { json } = await answered(500, client('GET', `${path}/${part}`))
      assert.equal(json.error, 'os_process_error', part)
    }
    await client('PUT', '/validated')
    await client('PUT', '/validated/_design/d', { validate_doc_update: endless })
    await answered(500, client('PUT', '/validated/doc', {}))
  })

  it('block no other requests while they run, not even calls of functions of another database', async () => {
    // five seconds suffice for the other requests, also on a busy machine
    const { client: ask, stop } = await startInTmp()
    const designs = {
      one: { shows: { endless: '(function () { for (;;) {} })' } },
      other: { validate_doc_update: '(function (doc) { if (doc.bad) throw { forbidden: "bad" } })' }
    }
    for (const [db, ddoc] of Object.entries(designs)) {
      await ask('PUT', `/${db}`)
      await ask('PUT', `/${db}/_design/d`, ddoc)
    }
    let ended = 0
    const endless = Array.from({ length: 2 },
      () => ask('GET', '/one/_design/d/_show/endless').then(({ status }) => { ended++; return status }))
    assert.equal((await ask('GET', '/one')).status, 200)
    assert.equal((await ask('PUT', '/other/good', {})).status, 201)
    assert.equal((await ask('PUT', '/other/bad', { bad: true })).status, 403)
    assert.equal(ended, 0)
    assert.deepEqual(await Promise.all(endless), [500, 500])
    await stop()
  })

  it('see neither the process nor the timers of Node', async () => {
    const path = await design({ shows: { s: '(function () { return [typeof process, typeof setTimeout].join() })' } })
    assert.equal((await client('GET', `${path}/_show/s`)).text, 'undefined,undefined')
  })

  it('of two design documents share no globals', async () => {
    const keep = '(function (doc) { globalThis.kept = JSON.stringify(doc); Object.prototype.kept = kept; return "ok" })'
    const show = '(function () { return String(globalThis.kept) + String({}.kept) })'
    const [one, two] = [await design({ shows: { keep } }), await design({ shows: { show } })]
    assert.equal((await client('GET', `${one}/_show/keep/doc`)).text, 'ok')
    assert.equal((await client('GET', `${two}/_show/show`)).text, 'undefinedundefined')
  })

  it('validate and index a batch of documents of two megabytes each', async () => {
    const { client: ask, stop } = await startInTmp() // two megabytes take longer than 500 ms on a busy machine
    await ask('PUT', '/large')
    await ask('PUT', '/large/_design/d', {
      validate_doc_update: '(function (doc) { if (doc.bad) throw { forbidden: doc._id } })',
      views: { v: { map: '(function (doc) { emit(doc._id, doc.text.length) })' } }
    })
    const docs =
      Array.from({ length: 30 }, (_, i) => ({ _id: `d${i}`, text: 'é'.repeat(1e6), ...(i === 20 && { bad: true }) }))
    const { json: answers } = await ask('POST', '/large/_bulk_docs', { docs })
    assert.ok(Array.isArray(answers), JSON.stringify(answers))
    assert.deepEqual(answers.filter(({ error }) => error).map(({ id, reason }) => [id, reason]), [['d20', 'd20']])
    assert.equal((await ask('GET', '/large/_design/d/_view/v')).json.total_rows, 29)
    await stop()
  })
})
