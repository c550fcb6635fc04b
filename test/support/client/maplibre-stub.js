// MapLibre GL JS without a map, for tests of its adapter in Node: another version, or sources whose requests fail.
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/**
 * What a module of client/ exports, where some modules are replaced.
 * @param {string} entry @param {RegExp} filter of the imports that are replaced
 * @param {string} contents instead of them
 */
export async function loadBeside (entry, filter, contents) {
  const { outputFiles: [{ text }] } = await build({
    entryPoints: [path.join(root, entry)],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    logLevel: 'silent',
    plugins: [
      {
        name: 'another module',
        setup (bundler) {
          bundler.onResolve({ filter }, () => ({ path: 'other', namespace: 'other' }))
          bundler.onLoad({ filter: /./, namespace: 'other' }, () => ({ contents }))
        }
      }
    ]
  })
  return import(`data:text/javascript,${encodeURIComponent(text)}`)
}

/** @param {string} entry @param {string} [version] @param {string} [loadTile] body of the method of sources */
export const loadBesideMapLibre = (entry, version = '6.17.0', loadTile = '') => loadBeside(entry, /^maplibre-gl$/, `
  class Source {
    async loadTile (tile) { ${loadTile} }
  }
  export const RasterTileSource = Source
  export const VectorTileSource = Source
  export const addProtocol = () => {}
  export const addSourceType = (type, Class) => { (globalThis.sourceTypes ??= {})[type] = Class }
  export const getVersion = () => '${version}'`)
