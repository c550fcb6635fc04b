// Node's fetch reads no files. The words of the pages are fetched from beside their scripts, which in tests are files.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const { fetch: ofNode } = globalThis

globalThis.fetch = async (address, options) => String(address).startsWith('file:')
  ? new Response(await readFile(fileURLToPath(String(address))))
  : ofNode(address, options)
