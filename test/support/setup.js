// Settings of every process of tests: the seed of random tests, a fetch that reads files, and a failure for each
// rejection that nothing handles.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'

// random tests are the same in each run; TILECOUCH_SEED chooses another seed
fc.configureGlobal({ seed: +(process.env.TILECOUCH_SEED ?? 2026) })

// Node's fetch reads no files. Pages fetch their texts from beside their scripts, which are files in tests.
const { fetch: nodeFetch } = globalThis

globalThis.fetch = async (address, options) => String(address).startsWith('file:')
  ? new Response(await readFile(fileURLToPath(String(address))))
  : nodeFetch(address, options)

// Mocha ignores rejections that nothing handles. In the product each of them would end the process.
const unhandledRejections = []
process.on('unhandledRejection', error => unhandledRejections.push(error))

export const mochaHooks = {
  afterEach () {
    const rejections = unhandledRejections.splice(0)
    if (rejections.length) throw rejections[0]
  }
}
