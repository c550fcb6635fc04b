// The bundles of scripts and styles that browsers get, and the version of the viewer.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import vm from 'node:vm'
import { gzipSync } from 'node:zlib'
import sharp from 'sharp'
import {
  adminBundles, besides, bundle, clientBundles, layersBundles, shipBundles, viewerBundles, stamp
} from '../../loader/couchapp/bundle.js'
import { compose, root } from '../../loader/couchapp/compose.js'
import { useFolder } from '../support/folder.js'

const entries = { 'main.js': { entry: 'main.js', format: 'iife', leaflet: 'global' } }

describe('bundles', () => {
  const folder = useFolder()

  const refuses = async (files, pattern) => assert.rejects(bundle(entries, folder.write(files)), error => {
    assert.equal(error.code, 'COUCHAPP_INVALID')
    assert.match(error.message, pattern)
    return true
  })

  it('hold a bundled worker as a text in the script that starts it', async () => {
    const { 'main.js': { bytes, inputs } } = await bundle(entries, folder.write({
      'main.js': 'import code from "./part/worker.js?worker"\nglobalThis.code = code',
      'part/worker.js': 'import { b } from "./b.js"\nglobalThis.result = b',
      'part/b.js': 'export const b = "from the worker"'
    }))
    assert.deepEqual(inputs, ['main.js', 'part/b.js', 'part/worker.js'])
    const [page, worker] = [vm.createContext({ L: {} }), vm.createContext({})]
    vm.runInContext(bytes.toString(), page)
    vm.runInContext(page.code, worker)
    assert.equal(worker.result, 'from the worker')
  })

  it('use the global L as Leaflet, and name the missing file when there is none', async () => {
    const { 'main.js': { bytes } } =
      await bundle(entries, folder.write({ 'main.js': 'import L from "leaflet"\nL.found = true' }))
    const context = { L: { found: false } }
    vm.runInNewContext(bytes.toString(), context)
    assert.equal(context.L.found, true)
    assert.throws(() => vm.runInNewContext(bytes.toString(), {}), /load leaflet\.js first/)
  })

  it('join imported styles in one file, with their images inside', async () => {
    const dir = folder.write(
      { 'main.css': '@import "./part.css";', 'part.css': '.a { background: url(x.svg) }', 'x.svg': '<svg/>' }
    )
    const { 'main.css': { bytes, inputs } } = await bundle({ 'main.css': { entry: 'main.css' } }, dir)
    assert.match(bytes.toString(), /^\.a\{background:url\("?data:image\/svg\+xml/)
    assert.deepEqual(inputs, ['main.css', 'part.css', 'x.svg'])
  })

  it('do not depend on the place of the folder or on a tsconfig.json above it', async () => {
    const text = 'import { a } from "./a.js"\nconsole.log(a, import.meta)'
    const sources = folder.write({
      'one/main.js': text, 'one/a.js': 'export const a = 1', 'deep/tsconfig.json': '{ nonsense',
      'deep/two/main.js': text, 'deep/two/a.js': 'export const a = 1'
    })
    const esm = { 'main.js': { entry: 'main.js', format: 'esm' } }
    const [first, second] = await Promise.all(['one', 'deep/two'].map(name => bundle(esm, path.join(sources, name))))
    assert.deepEqual(first, second)
  })

  it('come from an installed package as they were packed, until its own files change', async () => {
    const dir = folder.write({
      'main.js': 'import { a } from "./a.js"\nimport { b } from "b"\nconsole.log(a, b)', 'a.js': 'export const a = 1',
      'node_modules/b/index.js': 'export const b = 4'
    })
    const text = async () => (await bundle(entries, dir))['main.js'].bytes.toString()
    await shipBundles(entries, dir) // an earlier run may have left its bundles
    folder.write({ 'node_modules/b/index.js': 'export const b = 5' })
    await shipBundles(entries, dir)
    rmSync(path.join(dir, 'node_modules'), { recursive: true }) // npm may install libraries elsewhere
    assert.match(await text(), /console\.log\(1,5\)/)
    const [stored] = readdirSync(path.join(dir, 'bundles')).filter(name => name.endsWith('.bundle'))
    writeFileSync(path.join(dir, 'bundles', stored), 'console.log(3)')
    await assert.rejects(text(), { code: 'COUCHAPP_INVALID' }, 'not the damaged one')
    folder.write({ 'a.js': 'export const a = 2', 'node_modules/b/index.js': 'export const b = 6' })
    assert.match(await text(), /console\.log\(2,6\)/)
  })

  it('are cached in node_modules until a source changes or the copy is damaged', async () => {
    const dir = folder.write({
      'main.js': 'import { a } from "./a.js"\nconsole.log(a)', 'a.js': 'export const a = 1', 'node_modules/x.json': '{}'
    })
    const text = async () => (await bundle(entries, dir))['main.js'].bytes.toString()
    const cache = path.join(dir, 'node_modules/.cache/tilecouch')
    const first = await text()
    const [stored] = readdirSync(cache).filter(name => name.endsWith('.bundle')).map(name => path.join(cache, name))
    assert.equal(readFileSync(stored, 'utf8'), first)
    writeFileSync(path.join(dir, 'a.js'), 'export const a = 2')
    assert.match(await text(), /console\.log\(2\)/)
    writeFileSync(stored, 'console.log(3)')
    assert.match(await text(), /console\.log\(2\)/)
    assert.equal(readFileSync(stored, 'utf8'), await text())
  })

  it('name the file and the line of an error', async () => {
    await refuses({ 'main.js': '\nlet a = (' }, /main\.js: line 2: Unexpected end of file/)
    await refuses({ 'main.js': 'import "./sub/part.js"', 'sub/part.js': 'import "./none.js"' },
      /sub\/part\.js: line 1: Could not resolve "\.\/none\.js"/)
    await refuses({ 'main.js': 'import { none } from "./part.js"\nnone()', 'part.js': 'export const some = 1' },
      /main\.js: line 1: No matching export in "part\.js" for import "none"/)
    await refuses({ 'main.js': 'import { readFileSync } from "node:fs"\nreadFileSync()' },
      /main\.js: line 1: Could not resolve "node:fs"/)
  })

  it('refuse code for which esbuild has only a warning', async () => {
    await refuses({ 'main.js': 'console.log(typeof a === "strnig")' }, /main\.js: line 1: .*"strnig"/)
  })

  it('refuse an entry that does not exist', async () => {
    await refuses({}, /main\.js/)
  })
})

describe('the code that browsers get', () => {
  const names = { ...viewerBundles, ...layersBundles, ...adminBundles, ...clientBundles, ...besides }
  const pouch = /(^|\/)node_modules\/(pouchdb-browser|events|uuid|vuvuzela)\//
  const reader = /(^|\/)node_modules\/(pbf|@mapbox\/(vector-tile|point-geometry))\// // reader of vector tiles
  const components = /(^|\/)node_modules\/(preact|htm)\//
  const expectedPackages = {
    'admin.js': components,
    'layers.js': components,
    'viewer.js': components,
    'offline.js': new RegExp(`${components.source}|${pouch.source}|${reader.source}`),
    'tilecouch.js': reader,
    'tilecouch.esm.js': reader,
    'pouchdb.js': pouch,
    // (disabled): left out for browsers, by the package.json of the package
    'take.js': /(^|\/|^\(disabled\):)node_modules\/(preact|htm|gifenc|lean-qr|mediabunny)\//,
    'vector.js': /(^|\/)node_modules\/(preact|htm|maplibre-gl|pbf|@mapbox\/(vector-tile|point-geometry))\//
  }

  it('is attached to the design document "tiles", beside all files that are not modules', async () => {
    const { _attachments: attachments } = (await compose()).find(({ _id }) => _id === '_design/tiles')
    const plainFiles = readdirSync(path.join(root, 'attachments'), { recursive: true })
      .map(String).filter(name => /\.(?!js$|css$)\w+$/.test(name))
    assert.deepEqual(Object.keys(attachments).sort(),
      [...Object.keys(names), ...plainFiles, 'leaflet.css', 'leaflet.js'].sort())
    const text = name => Buffer.from(attachments[name].data, 'base64').toString()
    for (const name of Object.keys(names)) {
      assert.ok(!/sourceMappingURL|node_modules/.test(text(name)) && !text(name).includes(root), name)
    }
  })

  it('has valid SVG images in its styles', async () => {
    const bundles = await bundle(names)
    const styleNames = Object.keys(bundles).filter(name => name.endsWith('.css'))
    const styles = styleNames.map(name => bundles[name].bytes.toString())
    const pictures = styles.flatMap(text => [...text.matchAll(/url\("data:image\/svg\+xml,([^"]+)"\)/g)])
    assert.ok(pictures.length)
    for (const [, picture] of pictures) await sharp(Buffer.from(decodeURIComponent(picture).trim())).png().toBuffer()
  })

  it('includes every module and every style of its folders', async () => {
    const bundles = await bundle(names)
    const bundledFiles = new Set(Object.values(bundles).flatMap(({ inputs }) => inputs))
    for (const top of ['attachments', 'client']) {
      for (const name of readdirSync(path.join(root, top), { recursive: true }).map(String)) {
        if (/(?<!\.d|^build)\.(js|css)$/.test(name)) {
          assert.ok(bundledFiles.has(`${top}/${name.replaceAll(path.sep, '/')}`), `no bundle imports ${top}/${name}`)
        }
      }
    }
  })

  it('includes in each bundle only its listed packages, and no code of the loader', async () => {
    for (const [name, { inputs }] of Object.entries(await bundle(names))) {
      const packages = inputs.filter(input =>
        !/^(attachments\/|client\/|core\/|global:(leaflet|ol\/.*)$)|(^|\/)node_modules\/spark-md5\//.test(input))
      for (const input of packages) assert.ok(expectedPackages[name]?.test(input), `${name} holds ${input}`)
      assert.equal(packages.length > 0, Object.hasOwn(expectedPackages, name), name)
    }
  })

  it('has a script that defines the global PouchDB', async () => {
    const { 'pouchdb.js': { bytes } } = await bundle(besides)
    const context = vm.createContext({ setTimeout, addEventListener () {}, localStorage: {}, self: {}, fetch, Headers })
    vm.runInContext(bytes.toString(), context)
    assert.match(context.PouchDB.version, /^9\./)
  })

  function mapLibrariesOf (name) {
    if (!name.endsWith('.esm.js') || name.includes('grids')) return []
    if (name.includes('maplibre')) return ['maplibre-gl']
    return name.includes('openlayers') ? ['ol'] : ['leaflet']
  }

  it('imports at most its map library', async () => {
    for (const [name, { imports }] of Object.entries(await bundle(names))) {
      const needed = imports.filter(address => !address.startsWith('data:') && address !== './tilecouch-grids.esm.js')
        .map(address => address.replace(/\/.*/, ''))
      assert.deepEqual([...new Set(needed)], mapLibrariesOf(name), name)
    }
  })

  it('is smaller than the limit of each file', async () => {
    const bundles = await bundle(names)
    const limits = {
      'tilecouch.js': 345_000, 'tilecouch.esm.js': 345_000, 'layers.js': 65_000, 'admin.js': 400_000,
      'pouchdb.js': 140_000, 'offline.js': 470_000, 'take.js': 300_000,
      'vector.js': 1_800_000, // MapLibre and its worker
      'sw.js': 4000
    }
    for (const [name, limit] of Object.entries(limits)) assert.ok(bundles[name].bytes.length < limit, name)
    const largestZipped = {
      'tilecouch-history.esm.js': 30_000, 'tilecouch-maplibre-history.esm.js': 30_000,
      'tilecouch-openlayers-history.esm.js': 30_000, 'viewer.js': 90_000, 'tilecouch-grids.esm.js': 11_399
    }
    for (const [name, limit] of Object.entries(largestZipped)) {
      assert.ok(gzipSync(bundles[name].bytes).length <= limit, name)
    }
  })
})

const digest = bytes => createHash('sha256').update(bytes).digest('hex')

const isPart = name => name !== 'library.js'

/** The stamped files of a small viewer. @param {Record<string, string>} [changed] */
function stamped (changed = {}) {
  const texts = {
    'index.html': '<link rel="icon" href="a.svg"><script src="main.js" defer></script><a ' +
      'href="https://example.org/main.js"></a><a href="#main.js"></a><img src="none.png"><script ' +
      'src="library.js"></script>',
    'main.js': 'run()',
    'a.svg': '<svg/>',
    'later.js': 'more()',
    'library.js': 'for(others)',
    'sw.js': 'keep()',
    ...changed
  }
  const files =
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, { type: 'x', bytes: Buffer.from(text) }]))
  stamp(files, isPart)
  return { text: name => files[name].bytes.toString(), shell: shellOf(files['sw.js'].bytes) }
}

const shellOf = worker => JSON.parse(/^const SHELL=(.*);\n/.exec(worker.toString())?.[1] ?? '')

describe('the version of the viewer', () => {
  it('is in every address of its own files on the page, and in no other', () => {
    const { text, shell: { version } } = stamped()
    assert.match(version, /^[0-9a-f]{16}$/)
    assert.equal(text('index.html'),
      `<link rel="icon" href="a.svg?v=${version}"><script src="main.js?v=${version}" defer></script><a ` +
        (`href="https://example.org/main.js"></a><a href="#main.js"></a><img src="none.png"><script ` +
          `src="library.js"></script>`))
  })

  it('comes with the digest of each of its files as it is served', () => {
    const { text, shell: { files } } = stamped()
    assert.deepEqual(Object.keys(files), ['a.svg', 'index.html', 'later.js', 'main.js'])
    for (const [name, fileDigest] of Object.entries(files)) assert.equal(fileDigest, digest(text(name)), name)
    assert.match(text('sw.js'), /;\nkeep\(\)$/)
  })

  it('changes with each of its files and its service worker, and only with them', () => {
    const { shell: { version } } = stamped()
    assert.equal(stamped().shell.version, version)
    assert.equal(stamped({ 'library.js': 'other' }).shell.version, version, 'what is for other pages')
    for (const name of ['index.html', 'main.js', 'a.svg', 'later.js', 'sw.js']) {
      assert.notEqual(stamped({ [name]: 'other' }).shell.version, version, name)
    }
    assert.notEqual(stamped({ 'new.css': '' }).shell.version, version)
  })

  it('covers all files of the viewer, and none of other pages', async () => {
    const { _attachments: attached } = (await compose()).find(({ _id }) => _id === '_design/tiles') ?? {}
    const bytes = name => Buffer.from(attached?.[name].data ?? '', 'base64')
    const { version, files } = shellOf(bytes('sw.js'))
    const otherFiles = ['sw.js', 'layers.html', 'admin.html', 'words.admin.json',
      ...[clientBundles, besides, layersBundles, adminBundles].flatMap(Object.keys)]
    assert.deepEqual(Object.keys(files), Object.keys(attached ?? {}).filter(name => !otherFiles.includes(name)).sort())
    for (const [name, fileDigest] of Object.entries(files)) assert.equal(fileDigest, digest(bytes(name)), name)
    // admin is another page
    const links = [...bytes('index.html').toString().matchAll(/(?:href|src)="([^"]+)"/g)].map(([, address]) => address)
      .filter(address => address !== 'admin')
    assert.ok(links.length > 6)
    for (const address of links) {
      assert.match(address, new RegExp(`^[\\w.-]+\\?v=${version}$`))
      assert.ok(Object.hasOwn(files, address.split('?')[0]), address)
    }
    const { icons } = JSON.parse(bytes('manifest.webmanifest').toString())
    for (const { src } of icons) assert.ok(Object.hasOwn(files, src), src)
  })
})
