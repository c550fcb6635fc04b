// Keeps the bundles of a clone in node_modules/.cache, so that a deployment builds only bundles whose sources changed.
// An entry is valid while each of its input files has the same content. Without node_modules nothing is kept.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const CODE = fileURLToPath(new URL('bundle.js', import.meta.url)) // another version of it may build other bundles
const { version: ESBUILD } = createRequire(import.meta.url)('esbuild/package.json')

/** @typedef {{bytes: Buffer, inputs: string[], imports: string[]}} Built */

export class BundleCache {
  /** Digest of each input file. @type {Map<string, Promise<string>>} */
  #digests = new Map()

  /** @param {string} folder absolute; of the sources */
  constructor (folder) {
    const modules = path.join(folder, 'node_modules')
    this.folder = folder
    this.files = existsSync(modules) ? path.join(modules, '.cache', 'tilecouch') : undefined
  }

  /** @param {string} name @param {object} options @returns {Promise<Built | undefined>} */
  async read (name, options) {
    if (!this.files) return undefined
    const file = await this.#fileOf(name, options)
    try {
      const { inputs, digest, imports } = JSON.parse(await readFile(`${file}.json`, 'utf8'))
      const bytes = await readFile(`${file}.bundle`)
      if (await this.#digestOfAll(inputs) + digestOf(bytes) !== digest) return undefined
      return { bytes, inputs, imports }
    } catch {
      return undefined // there is none yet, or another process is writing it
    }
  }

  /** @param {string} name @param {object} options @param {Built} built */
  async write (name, options, { bytes, inputs, imports }) {
    if (!this.files) return
    const file = await this.#fileOf(name, options)
    const digest = await this.#digestOfAll(inputs) + digestOf(bytes)
    try {
      await mkdir(this.files, { recursive: true })
      await replace(`${file}.bundle`, bytes)
      await replace(`${file}.json`, JSON.stringify({ inputs, digest, imports }))
    } catch {
      // the folder may be read-only: the next deployment builds the bundle again
    }
  }

  async #fileOf (name, options) {
    const key = digestOf(JSON.stringify([name, options, ESBUILD, await this.#digest(CODE)]))
    return path.join(/** @type {string} */ (this.files), key.slice(0, 32))
  }

  async #digestOfAll (inputs) {
    const digests = await Promise.all(inputs.map(input => this.#digest(path.resolve(this.folder, input))))
    return digestOf(digests.join(' '))
  }

  /** Modules that a plugin makes are no files: they change with the code that makes them. */
  #digest (file) {
    let digest = this.#digests.get(file)
    if (!digest) this.#digests.set(file, digest = readFile(file).then(digestOf, () => ''))
    return digest
  }
}

const digestOf = content => createHash('sha256').update(content).digest('hex')

/** Two processes may write it at once. */
async function replace (file, content) {
  const temporary = `${file}.${process.pid}`
  await writeFile(temporary, content)
  await rename(temporary, file)
}
