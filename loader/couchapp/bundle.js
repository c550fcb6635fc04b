// The files that browsers load: the viewer, and the client library for other people's pages, each as one bundle.
// The map library is never inside: the viewer and script tags use the global L or ol, ES modules import theirs. PouchDB
// is a separate file.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { cached } from '../../core/cache.js'
import { TilecouchError } from '../errors.js'
import { replaceFile } from '../formats/atomic-file.js'

const GRIDS = 'tilecouch-grids.esm.js'
const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * @typedef {{
 *   entry: string, format?: import('esbuild').Format, leaflet?: 'global' | 'external', grids?: 'apart'
 * }} Bundle
 *   grids: 'apart': loads GRIDS from beside it, once a layer is in another grid than Web Mercator
 */

/** Bundles of the viewer, by the name they are attached as. @type {Record<string, Bundle>} */
export const viewerBundles = {
  'viewer.js': { entry: 'attachments/viewer.js', format: 'esm', leaflet: 'global', grids: 'apart' },
  'viewer.css': { entry: 'attachments/viewer.css' },
  // loaded for offline areas only
  'offline.js': { entry: 'attachments/offline/index.js', format: 'esm', leaflet: 'global' },
  'take.js': { entry: 'attachments/take/index.js', format: 'esm', leaflet: 'global' }, // to take something away
  // loaded for vector layers only
  'vector.js': { entry: 'attachments/vector/index.js', format: 'esm', leaflet: 'global', grids: 'apart' },
  'sw.js': { entry: 'attachments/sw.js', format: 'iife' }
}

/** Bundles of the page of the layers, which only the gateway serves. @type {Record<string, Bundle>} */
export const layersBundles = {
  'layers.js': { entry: 'attachments/layers/index.js', format: 'esm', leaflet: 'global' },
  'layers.css': { entry: 'attachments/layers/layers.css' }
}

/** Bundles of the control room. @type {Record<string, Bundle>} */
export const adminBundles = {
  'admin.js': { entry: 'attachments/admin/index.js', format: 'esm' },
  'admin.css': { entry: 'attachments/admin/admin.css' }
}

/** Packages that modules of the client library leave to the page. */
export const mapLibraries = ['leaflet', 'maplibre-gl', 'ol/*']

/** Bundles of the client library. The store serves them as well. @type {Record<string, Bundle>} */
export const clientBundles = {
  'tilecouch.js': { entry: 'client/global.js', format: 'iife', leaflet: 'global' },
  'tilecouch.esm.js': { entry: 'client/index.js', format: 'esm', leaflet: 'external' },
  'tilecouch-history.esm.js': {
    entry: 'client/leaflet/history.js', format: 'esm', leaflet: 'external', grids: 'apart'
  },
  'tilecouch-maplibre.esm.js': {
    entry: 'client/maplibre/index.js', format: 'esm', leaflet: 'external', grids: 'apart'
  },
  'tilecouch-maplibre-history.esm.js': {
    entry: 'client/maplibre/history.js', format: 'esm', leaflet: 'external', grids: 'apart'
  },
  'tilecouch-openlayers.js': { entry: 'client/openlayers/global.js', format: 'iife', leaflet: 'global' },
  'tilecouch-openlayers.esm.js': { entry: 'client/openlayers/index.js', format: 'esm', leaflet: 'external' },
  'tilecouch-openlayers-history.esm.js': {
    entry: 'client/openlayers/history.js', format: 'esm', leaflet: 'external', grids: 'apart'
  },
  [GRIDS]: { entry: 'core/grids/index.js', format: 'esm' },
  'tilecouch.css': { entry: 'client/tilecouch.css' }
}

/** Further files that other people's pages may need, from npm or from the store. @type {Record<string, Bundle>} */
export const besides = {
  'pouchdb.js': { entry: 'attachments/pouchdb.js', format: 'iife' } // for offline areas
}

/** The oldest browsers that bundles support: those of 2023. */
export const TARGETS = ['chrome111', 'firefox114', 'safari16.4']

// a clear error when Leaflet is missing
const LEAFLET = 'if (!globalThis.L) throw new Error("tilecouch needs Leaflet: load leaflet.js first")\n' +
  'export default globalThis.L'

const OPENLAYERS = 'if (!globalThis.ol) throw new Error("tilecouch needs OpenLayers: load ol.js first")\n'

/** @type {import('esbuild').Plugin} */
const globalLibraries = {
  name: 'the global L or ol',
  setup (build) {
    build.onResolve({ filter: /^leaflet$/ }, () => ({ path: 'leaflet', namespace: 'global' }))
    build.onLoad({ filter: /^leaflet$/, namespace: 'global' }, () => ({ contents: LEAFLET, loader: 'js' }))
    // ol/source/DataTile.js is ol.source.DataTile
    build.onResolve({ filter: /^ol\// }, ({ path: name }) => ({ path: name, namespace: 'global' }))
    build.onLoad({ filter: /^ol\//, namespace: 'global' }, ({ path: name }) =>
      ({ contents: `${OPENLAYERS}module.exports = ` +
        `globalThis.${name.replace(/\.js$/, '').replaceAll('/', '.')}`, loader: 'js' }))
  }
}

/** @type {import('esbuild').Plugin} */
const gridsApart = {
  name: 'other grids in a file of their own',
  setup (build) {
    build.onResolve({ filter: /\/core\/grids\/index\.js$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: `./${GRIDS}`, external: true } : undefined)
  }
}

/**
 * `import code from './worker.js?worker'` gives the bundle of a worker as a text: it is a part of the script that
 * starts it, whose digest covers it. A policy could not tell a worker with an address of its own from others.
 * @param {typeof import('esbuild')} esbuild
 * @param {import('esbuild').BuildOptions} options of the bundle that it becomes a part of
 * @param {string[]} inputs gets the files in it
 * @returns {import('esbuild').Plugin}
 */
const workersAsText = (esbuild, options, inputs) => ({
  name: 'workers as text',
  setup (build) {
    build.onResolve({ filter: /\?worker$/ }, async ({ path: name, resolveDir, kind }) => {
      const resolved = await build.resolve(name.replace(/\?worker$/, ''), { resolveDir, kind })
      return { ...resolved, namespace: 'worker' }
    })
    build.onLoad({ filter: /./, namespace: 'worker' }, async ({ path: file }) => {
      const { outputFiles: [{ text }], metafile, errors, warnings } = await esbuild.build({
        ...options, entryPoints: [file], format: 'iife', write: false, metafile: true
      })
      inputs.push(...Object.keys(metafile.inputs))
      return { contents: text, loader: 'text', errors, warnings }
    })
  }
})

/**
 * Makes bundles. The same sources give the same bytes in every folder, so that unchanged bundles are not deployed
 * again.
 * @param {Record<string, Bundle>} bundles
 * @param {string} [folder] that the entries are in
 * @returns {Promise<Record<string, {bytes: Buffer, inputs: string[], imports: string[]}>>} inputs: the files in it,
 *   relative to the folder; imports: what the page must provide
 */
export async function bundle (bundles, folder = root) {
  const caches = cachesOf(path.resolve(folder))
  const build = async ([name, options]) => {
    for (const cache of caches) {
      const stored = await cache.read(name, options)
      if (stored) return [name, stored]
    }
    const esbuild = await import('esbuild') // slow to load, and only needed to deploy
    const built = await bundleOne(esbuild, options, folder)
    // the folder may be read-only: then the next deployment builds the bundle again
    await caches.at(-1)?.write(name, options, built).catch(() => {})
    return [name, built]
  }
  return Object.fromEntries(await Promise.all(Object.entries(bundles).map(build)))
}

const allBundles = { ...viewerBundles, ...layersBundles, ...adminBundles, ...clientBundles, ...besides }

/**
 * Puts bundles beside their sources: `npm pack` does so, and an installed package deploys without esbuild.
 * @param {Record<string, Bundle>} [bundles] @param {string} [folder] that the entries are in
 */
export async function shipBundles (bundles = allBundles, folder = root) {
  const target = path.join(folder, SHIPPED)
  await rm(target, { recursive: true, force: true }) // bundles of an earlier run may hold older libraries
  const shipped = new BundleCache(path.resolve(folder), target, true)
  for (const [name, built] of Object.entries(await bundle(bundles, folder))) {
    await shipped.write(name, bundles[name], built)
  }
}

/** @param {typeof import('esbuild')} esbuild @param {Bundle} bundle @param {string} folder */
async function bundleOne (esbuild, { entry, format, leaflet, grids }, folder) {
  const plugins = [...leaflet === 'global' ? [globalLibraries] : [], ...grids === 'apart' ? [gridsApart] : []]
  /** @type {import('esbuild').BuildOptions & {write: false, metafile: true}} */
  const options = {
    entryPoints: [entry],
    absWorkingDir: path.resolve(folder),
    outdir: 'out', // nothing is written
    write: false,
    bundle: true,
    minify: true,
    metafile: true,
    format,
    target: TARGETS,
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'silent',
    define: { global: 'globalThis' }, // PouchDB uses `global`
    loader: { '.svg': 'dataurl', '.png': 'dataurl' },
    tsconfigRaw: '{}', // ignores a tsconfig.json of a parent folder
    external: leaflet === 'external' ? mapLibraries : [],
    plugins
  }
  /** @type {string[]} */
  const workerInputs = []
  options.plugins = [...plugins, workersAsText(esbuild, { ...options }, workerInputs)]
  const refuseFailure = error => refuse(folder, entry, error.errors ?? [{ text: error.message }])
  const { outputFiles: [file], warnings, metafile } = await esbuild.build(options).catch(refuseFailure)
  if (warnings.length) refuse(folder, entry, warnings) // such as an import of something that is not exported
  const [{ imports }] = Object.values(metafile.outputs)
  return {
    bytes: Buffer.from(file.contents),
    inputs: [...Object.keys(metafile.inputs).filter(name => !name.startsWith('worker:')), ...workerInputs].sort(),
    imports: [...new Set(imports.map(({ path: name }) => name))]
  }
}

/** @returns {never} */
function refuse (folder, entry, /** @type {any} */ [{ text, location }]) {
  invalid(path.join(folder, location?.file ?? entry), location ? `line ${location.line}: ${text}` : text)
}

/**
 * Refuses a couchapp that cannot be composed.
 * @param {string} file shown relative to the current folder @param {string} why @returns {never}
 */
export function invalid (file, why) {
  throw new TilecouchError('COUCHAPP_INVALID', { file: path.relative(process.cwd(), file) || file, why })
}

const PAGE = 'index.html'
const WORKER = 'sw.js'

/** @typedef {Record<string, {type: string, bytes: Buffer}>} Files */

/**
 * Gives the viewer a version made from the content of all its files. The version is written into every address in the
 * page, so that files of two versions are never mixed; the list of files is written into the service worker.
 * @param {Files} files @param {(name: string) => boolean} isPart false: the file belongs to other pages
 */
export function stamp (files, isPart) {
  const names = Object.keys(files).filter(isPart).sort()
  const version = digest(names.map(name => `${name} ${digest(files[name].bytes)}\n`).join('')).slice(0, 16)
  // browsers run no scripts with other digests, and CouchDB's policy allows only those of the viewer
  for (const file of Object.keys(files).filter(name => name.endsWith('.html')).map(name => files[name])) {
    const text = file.bytes.toString().replace(SCRIPT, (_, name) => integrityOf(files[name].bytes))
    file.bytes = Buffer.from(text)
  }
  const page = files[PAGE].bytes.toString()
    .replace(/(?<=\b(?:href|src)=")[^":/?#]+(?=")/g, name => names.includes(name) ? `${name}?v=${version}` : name)
  files[PAGE].bytes = Buffer.from(page)
  const shell = Object.fromEntries(names.filter(name => name !== WORKER).map(name => [name, digest(files[name].bytes)]))
  const list = `const SHELL=${JSON.stringify({ version, files: shell })};\n`
  files[WORKER].bytes = Buffer.concat([Buffer.from(list), files[WORKER].bytes])
}

const SCRIPT = /(?<=<script src="([^"]+)" integrity=")(?=")/g

/** The value of the attribute `integrity`. @param {Buffer} bytes */
const integrityOf = bytes => `sha256-${createHash('sha256').update(bytes).digest('base64')}`

const digest = content => createHash('sha256').update(content).digest('hex')

const CODE = fileURLToPath(new URL('bundle.js', import.meta.url)) // another version of it may build other bundles
const SHIPPED = 'bundles'
const { version: ESBUILD } = createRequire(import.meta.url)('esbuild/package.json')

/** @typedef {{bytes: Buffer, inputs: string[], imports: string[]}} Built */

/**
 * Finished bundles are in the package, and in node_modules/.cache of a clone, so that a deployment builds only bundles
 * whose sources changed. Without node_modules no bundle is kept.
 * @param {string} folder absolute; of the sources @returns {BundleCache[]} bundles are written to the last one
 */
function cachesOf (folder) {
  const [shipped, modules] = [SHIPPED, 'node_modules'].map(name => path.join(folder, name))
  return [
    ...existsSync(shipped) ? [new BundleCache(folder, shipped, true)] : [],
    ...existsSync(modules) ? [new BundleCache(folder, path.join(modules, '.cache', 'tilecouch'), false)] : []
  ]
}

/** Bundles in a folder. One is valid while its input files have the same content. */
class BundleCache {
  /** Digest of each input file. @type {Map<string, Promise<string>>} */
  #digests = new Map()
  #sources
  #folder
  #isShipped

  /**
   * @param {string} sources absolute path of the folder of the sources @param {string} folder of the bundles
   * @param {boolean} isShipped npm installs the libraries and esbuild elsewhere, perhaps in other versions: only our
   *   own files count
   */
  constructor (sources, folder, isShipped) {
    this.#sources = sources
    this.#folder = folder
    this.#isShipped = isShipped
  }

  /** @param {string} name @param {object} options @returns {Promise<Built | undefined>} */
  async read (name, options) {
    const file = await this.#fileOf(name, options)
    try {
      const { inputs, digest: stated, imports } = JSON.parse(await readFile(`${file}.json`, 'utf8'))
      const bytes = await readFile(`${file}.bundle`)
      if (await this.#digestOfAll(inputs) + digest(bytes) !== stated) return undefined
      return { bytes, inputs, imports }
    } catch {
      return undefined // there is none yet, or another process is writing it
    }
  }

  /** @param {string} name @param {object} options @param {Built} built */
  async write (name, options, { bytes, inputs, imports }) {
    const file = await this.#fileOf(name, options)
    const stated = await this.#digestOfAll(inputs) + digest(bytes)
    await mkdir(this.#folder, { recursive: true })
    await replaceFile(`${file}.bundle`, bytes)
    await replaceFile(`${file}.json`, JSON.stringify({ inputs, digest: stated, imports }))
  }

  async #fileOf (name, options) {
    const key = digest(JSON.stringify([name, options, this.#isShipped || ESBUILD, await this.#digest(CODE)]))
    return path.join(this.#folder, key.slice(0, 32))
  }

  async #digestOfAll (inputs) {
    const files = this.#isShipped ? inputs.filter(input => !input.startsWith('node_modules/')) : inputs
    const digests = await Promise.all(files.map(input => this.#digest(path.resolve(this.#sources, input))))
    return digest(digests.join(' '))
  }

  /** A module that a plugin makes is not a file. It changes only with the code of this file, which is in the key. */
  #digest (file) {
    return cached(this.#digests, file, () => readFile(file).then(digest, () => ''))
  }
}
