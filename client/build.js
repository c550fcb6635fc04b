// Builds the package for pages (npm pack runs it, see package.json): bundles in dist/, declarations in dist/types/. Run
// by Node.
import { cp, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const client = path.join(root, 'client')

/** Modules by entry of the package. Shared code is in chunks, so that a page loads nothing twice. */
export const entries = {
  index: 'client/index.js',
  history: 'client/leaflet/history.js',
  timeline: 'client/leaflet/timeline.js',
  maplibre: 'client/maplibre/index.js',
  'maplibre-history': 'client/maplibre/history.js',
  openlayers: 'client/openlayers/index.js',
  'openlayers-history': 'client/openlayers/history.js',
  offline: 'client/offline/index.js',
  mirror: 'client/mirror/index.js'
}

/** Hand-written declarations: of Leaflet's events, of the methods of layers with a past, and of the global L. */
const WRITTEN = ['client/leaflet/leaflet.d.ts', 'client/engine/history-methods.d.ts', 'client/global.d.ts']

/**
 * ES modules for bundlers and for <script type="module">. The map libraries stay imports.
 * @param {string} folder @returns {Promise<import('esbuild').Metafile>}
 */
export async function buildModules (folder) {
  const { build } = await import('esbuild')
  const { TARGETS, mapLibraries } = await import('../loader/couchapp/bundle.js')
  const { metafile } = await build({
    entryPoints: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, path.join(root, file)])),
    absWorkingDir: root,
    outdir: folder,
    bundle: true,
    splitting: true,
    minify: true,
    metafile: true,
    format: 'esm',
    target: TARGETS,
    external: mapLibraries,
    chunkNames: 'shared-[hash]',
    legalComments: 'none',
    logLevel: 'silent',
    tsconfigRaw: '{}'
  })
  return metafile
}

/**
 * Declarations of all entries, made from JSDoc. Members with an underscore are internal and left out.
 * @param {string} folder
 */
export async function buildDeclarations (folder) {
  const { default: ts } = await import('typescript')
  const program = ts.createProgram(Object.values(entries).map(file => path.join(root, file)), {
    allowJs: true, declaration: true, emitDeclarationOnly: true, outDir: folder, rootDir: root, skipLibCheck: true,
    target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'], types: ['leaflet'], strict: true,
    noImplicitAny: false
  })
  program.emit(undefined, (file, text) => ts.sys.writeFile(file, withoutInternals(ts, text)))
  for (const file of WRITTEN) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true })
    await cp(path.join(root, file), path.join(folder, file))
  }
}

/** @param {any} ts @param {string} text */
function withoutInternals (ts, text) {
  const source = ts.createSourceFile('x.d.ts', text, ts.ScriptTarget.Latest, true)
  const cuts = []
  for (const member of source.statements.filter(ts.isClassDeclaration).flatMap(({ members }) => [...members])) {
    if (member.name?.getText().startsWith('_')) cuts.push([member.getFullStart(), member.end])
  }
  return cuts.reverse().reduce((remaining, [from, to]) => remaining.slice(0, from) + remaining.slice(to), text)
}

/** The whole package. @param {string} [folder] */
export async function buildPackage (folder = path.join(client, 'dist')) {
  const { bundle, clientBundles } = await import('../loader/couchapp/bundle.js')
  await rm(folder, { recursive: true, force: true })
  await buildModules(folder)
  for (const [name, { bytes }] of Object.entries(await bundle(clientBundles))) {
    await writeFile(path.join(folder, name), bytes)
  }
  await buildDeclarations(path.join(folder, 'types'))
  return readdir(folder)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { name, version } = JSON.parse(await readFile(path.join(client, 'package.json'), 'utf8'))
  console.log(`${name} ${version}: ${(await buildPackage()).join(', ')}`)
}
