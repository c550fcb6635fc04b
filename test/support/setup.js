// What every process of tests begins with.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'

// random tests are the same each time; TILECOUCH_SEED makes others of them
fc.configureGlobal({ seed: +(process.env.TILECOUCH_SEED ?? 2026) })

// Node's fetch reads no files. The words of the pages are fetched from beside their scripts, which in tests are files.
const { fetch: ofNode } = globalThis

globalThis.fetch = async (address, options) => String(address).startsWith('file:')
  ? new Response(await readFile(fileURLToPath(String(address))))
  : ofNode(address, options)
