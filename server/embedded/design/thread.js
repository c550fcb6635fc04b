// A thread that runs design functions. Each design document has a QuickJS engine of its own. QuickJS is compiled to
// WebAssembly: a function can reach the memory of that engine and the language itself, but no file, no network, no
// module of Node and no other design document. It can run out of time or memory; threads.js ends the thread then.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'
import packaged from '@jitl/quickjs-wasmfile-release-sync'
import { LRUCache } from 'lru-cache'
import { newQuickJSWASMModuleFromVariant, newVariant } from 'quickjs-emscripten-core'

const PAGE = 65536 // bytes of a page of WebAssembly memory
const MEMORY = 256 * 2 ** 20 // bytes an engine may take: CouchDB gives 64 MB, and sends lists their rows one by one
const WORN = 64 * 2 ** 20 // bytes after a call from which the engine is replaced: its memory never shrinks
const STACK = 256 * 1024 // bytes of an engine's own stack: some 16,000 nested arrays in JSON
const ENGINES = 16 // kept at once, one for each design document; the least recently used is dropped first
const RESULT = 2 ** 26 // characters a call may answer

const variant = /** @type {import('quickjs-emscripten-core').QuickJSSyncVariant} */ (/** @type {unknown} */ (packaged))
const port = /** @type {import('node:worker_threads').MessagePort} */ (parentPort)
const { timeout } = workerData // milliseconds a call may take
const prelude = readFileSync(new URL('prelude.js', import.meta.url), 'utf8')
const wasmFile = fileURLToPath(import.meta.resolve('@jitl/quickjs-wasmfile-release-sync/wasm'))
const wasmModule = new WebAssembly.Module(readFileSync(wasmFile))

/** @type {LRUCache<number, Awaited<ReturnType<typeof startEngine>>>} by the id of the design document */
const engines = new LRUCache({ max: ENGINES })
let deadline = 0

/** @param {string} ddoc the design document as JSON */
async function startEngine (ddoc) {
  // the engine's own memory limit counts hardly anything in WebAssembly, but its memory cannot grow past this
  const wasmMemory = new WebAssembly.Memory({ initial: 256, maximum: MEMORY / PAGE })
  const engineVariant = /** @type {any} */ (newVariant(variant, { wasmModule, wasmMemory }))
  const module = await newQuickJSWASMModuleFromVariant(engineVariant)
  const runtime = module.newRuntime({ maxStackSizeBytes: STACK, interruptHandler: () => performance.now() > deadline })
  const context = runtime.newContext()
  const call = (task, text) => context.newString(text).consume(argument =>
    context.unwrapResult(context.callFunction(task, context.undefined, argument)))
  const initialize = context.unwrapResult(context.evalCode(prelude, 'prelude.js'))
  const dispatch = call(initialize, ddoc)

  /** @param {string} input JSON @returns {string} JSON */
  function run (input) {
    const text = call(dispatch, input).consume(result => context.getString(result))
    runtime.executePendingJobs().dispose() // promises end within the call that made them
    if (performance.now() > deadline || text.length > RESULT) throw new Error('too long')
    return text
  }

  return { run, wasmMemory }
}

port.on('message', async ({ id, ddoc, input }) => {
  deadline = Infinity // the start of an engine does not count: it runs nothing of the design document
  try {
    const engine = engines.get(id) ?? await startEngine(ddoc)
    engines.set(id, engine)
    deadline = performance.now() + timeout
    const text = engine.run(input)
    if (engine.wasmMemory.buffer.byteLength > WORN) engines.delete(id)
    port.postMessage({ text })
  } catch {
    port.postMessage({}) // an engine that stopped halfway is unusable: this thread ends
  }
})
port.postMessage({}) // ready
