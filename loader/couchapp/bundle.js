// What browsers get, each in one file: the viewer, and the client library for pages of other people. Leaflet is never
// inside: the viewer and script tags find it as the global L, ES modules import it. PouchDB is apart from both.
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { invalid } from './invalid.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** @typedef {{entry: string, format?: import('esbuild').Format, leaflet?: 'global' | 'external'}} Bundle */

/** Bundles of the viewer, by the name they are attached as. @type {Record<string, Bundle>} */
export const viewerBundles = {
  'viewer.js': { entry: 'attachments/viewer.js', format: 'esm', leaflet: 'global' },
  'viewer.css': { entry: 'attachments/viewer.css' },
  'offline.js': { entry: 'attachments/offline/index.js', format: 'esm', leaflet: 'global' }, // only who takes areas along loads it
  'sw.js': { entry: 'attachments/sw.js', format: 'iife' }
}

/** Bundles of the client library. The store serves them too, so that a page needs nothing but its address. @type {Record<string, Bundle>} */
export const clientBundles = {
  'tilecouch.js': { entry: 'client/global.js', format: 'iife', leaflet: 'global' },
  'tilecouch.esm.js': { entry: 'client/index.js', format: 'esm', leaflet: 'external' },
  'tilecouch.css': { entry: 'client/tilecouch.css' }
}

/** What pages of other people need besides, and get from npm or from the store. @type {Record<string, Bundle>} */
export const besides = {
  'pouchdb.js': { entry: 'attachments/pouchdb.js', format: 'iife' } // offline areas stand on it
}

/** What a bundle may take for granted: browsers of 2023 on. */
export const TARGETS = ['chrome111', 'firefox114', 'safari16.4']

// a missing Leaflet should say so by name, and not as a property of undefined
const LEAFLET = 'if (!globalThis.L) throw new Error("tilecouch needs Leaflet: load leaflet.js first")\nexport default globalThis.L'

/** @type {import('esbuild').Plugin} */
const globalLeaflet = {
  name: 'leaflet is the global L',
  setup (build) {
    build.onResolve({ filter: /^leaflet$/ }, () => ({ path: 'leaflet', namespace: 'global' }))
    build.onLoad({ filter: /^leaflet$/, namespace: 'global' }, () => ({ contents: LEAFLET, loader: 'js' }))
  }
}

/**
 * Makes bundles. The same sources give the same bytes wherever they are, so that what did not change is not pushed again.
 * @param {Record<string, Bundle>} bundles
 * @param {string} [folder] that the entries are in
 * @returns {Promise<Record<string, {bytes: Buffer, inputs: string[], imports: string[]}>>} inputs: files that are in it, seen
 *   from the folder; imports: what the page has to have besides
 */
export async function bundle (bundles, folder = root) {
  const esbuild = await import('esbuild') // only who deploys waits for it
  const made = await Promise.all(Object.entries(bundles).map(async ([name, options]) => [name, await one(esbuild, options, folder)]))
  return Object.fromEntries(made)
}

/** @param {typeof import('esbuild')} esbuild @param {Bundle} bundle @param {string} folder */
async function one (esbuild, { entry, format, leaflet }, folder) {
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
    define: { global: 'globalThis' }, // PouchDB's name for it
    loader: { '.svg': 'dataurl', '.png': 'dataurl' },
    tsconfigRaw: '{}', // a tsconfig.json further up is none of ours
    external: leaflet === 'external' ? ['leaflet'] : [],
    plugins: leaflet === 'global' ? [globalLeaflet] : []
  }
  const { outputFiles, warnings, metafile } = await esbuild.build(options).catch(error => refuse(folder, entry, error.errors ?? [{ text: error.message }]))
  if (warnings.length) refuse(folder, entry, warnings) // such as an import that is not exported
  const [{ imports }] = Object.values(metafile.outputs)
  return { bytes: Buffer.from(outputFiles[0].contents), inputs: Object.keys(metafile.inputs).sort(), imports: [...new Set(imports.map(({ path: name }) => name))] }
}

/** @param {string} folder @param {string} entry @param {{text: string, location?: {file: string, line: number} | null}[]} problems @returns {never} */
function refuse (folder, entry, [{ text, location }]) {
  invalid(path.join(folder, location?.file ?? entry), location ? `line ${location.line}: ${text}` : text)
}
