// The npm packages of the server and for pages, and the installation before npm start and npm test.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdir, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { buildModules, entries } from '../../client/build.js'
import { TARGETS, clientBundles, mapLibraries } from '../../loader/couchapp/bundle.js'
import { root } from '../../loader/couchapp/compose.js'
import { useFolder } from '../support/folder.js'

const read = name => JSON.parse(readFileSync(path.join(root, name), 'utf8'))

describe('the npm package of the server', () => {
  it('holds all files of its exports', () => {
    const { exports, files } = read('package.json')
    for (const target of Object.values(exports).map(name => name.replace(/^\.\//, ''))
      .filter(name => name !== 'package.json')) {
      assert.ok(files.includes(target.split('/')[0]), `${target} is not in "files"`)
      assert.ok(existsSync(path.join(root, target)), target)
    }
    assert.ok(['_design', 'views', 'attachments', 'client', 'core'].every(name => files.includes(name)),
      'what the couchapp is composed from')
  })

  it('is imported in Node without a window and without Leaflet', async () => {
    const { load, TilecouchError } = await import('tilecouch')
    assert.deepEqual([typeof load, typeof TilecouchError], ['function', 'function'])
  })
})

describe('the npm package for pages', () => {
  const folder = useFolder()

  /** The files that a page loads for a module of the package: the module, and the chunks that it imports at once. */
  async function loadedFor (name) {
    const { outputs } = await buildModules(folder.dir)
    const files = new Set()
    const add = file => {
      if (files.has(file) || !outputs[file]) return
      files.add(file)
      for (const { path: next, kind } of outputs[file].imports) if (kind === 'import-statement') add(next)
    }
    add(Object.keys(outputs).find(file => path.basename(file) === `${name}.js`))
    return {
      bytes: [...files].reduce((sum, file) => sum + gzipSync(readFileSync(path.resolve(root, file))).length, 0),
      inputs: [...files].flatMap(file => Object.keys(outputs[file].inputs))
    }
  }

  it('has the same licence as the server', () => {
    const [client, server] = ['client/LICENSE', 'LICENSE'].map(name => readFileSync(path.join(root, name), 'utf8'))
    assert.equal(client, server)
  })

  it('holds all files of its exports, with the version of the server and only optional peers', () => {
    const { exports, version, dependencies, peerDependenciesMeta } = read('client/package.json')
    const built = [...Object.keys(entries).map(name => `${name}.js`), ...Object.keys(clientBundles)]
    for (const target of Object.values(exports)
      .flatMap(value => typeof value === 'string' ? value : Object.values(value))) {
      const [, file] = /^\.\/dist\/([\w.-]+)$/.exec(target) ?? []
      if (file) assert.ok(built.includes(file), target)
      const [, source] = /^\.\/dist\/types\/(.*)\.d\.ts$/.exec(target) ?? []
      if (source) assert.ok([`${source}.js`, `${source}.d.ts`].some(name => existsSync(path.join(root, name))), target)
    }
    assert.equal(version, read('package.json').version)
    assert.equal(dependencies, undefined)
    assert.ok(Object.values(peerDependenciesMeta).every(({ optional }) => optional))
  })

  it('loads at most 30 kB for one history layer, without areas, mirrors and the timeline', async () => {
    for (const name of ['history', 'maplibre-history', 'openlayers-history']) {
      const { bytes, inputs } = await loadedFor(name)
      assert.ok(bytes <= 30000, `${bytes} bytes gzipped`)
      assert.deepEqual(
        inputs.filter(file => /client\/(offline|timeline)\/|client\/mirror\/(http|index|pouch)/.test(file)), []
      )
    }
  })

  it('leaves the writing of tiles out of the module for areas', async () => {
    const { inputs } = await loadedFor('offline')
    assert.deepEqual(inputs.filter(name => /core\/store\/(head-writer|settle|statements)/.test(name)), [])
  })

  it('lets bundlers leave out the exports that are not imported', async () => {
    await buildModules(folder.dir)
    const sizeOf = async contents => {
      const { outputFiles, warnings } = await build({
        stdin: { contents, resolveDir: folder.dir }, bundle: true, minify: true,
        write: false, format: 'esm', target: TARGETS, external: mapLibraries, logLevel: 'silent'
      })
      assert.deepEqual(warnings, [])
      return outputFiles[0].contents.length
    }
    const clockOnly = await sizeOf("import { clock } from './history.js'\nconsole.log(clock)")
    const wholeLibrary = await sizeOf("import * as tilecouch from './index.js'\nconsole.log(tilecouch)")
    assert.ok(clockOnly < wholeLibrary / 5, `${clockOnly} of ${wholeLibrary} bytes for the clock`)
  })
})

// Packages that `npm start` and `npm test` install before they run. A stand-in for npm prints its arguments.
describe('the installation before npm start and npm test', () => {
  const folder = useFolder()

  /**
   * Runs the script in a clone with some packages. Returns the arguments of npm, or undefined if npm was not called.
   */
  async function install (packages, ...options) {
    const clone = folder.path('clone')
    for (const file of ['.ci/ensure-installed.js', 'server/node-version.js', 'package.json']) {
      await cp(path.join(root, file), path.join(clone, file))
    }
    await writeFile(path.join(clone, 'package-lock.json'), '{}')
    await utimes(path.join(clone, 'package-lock.json'), 1, 1)
    for (const name of packages) await mkdir(path.join(clone, 'node_modules', name), { recursive: true })
    if (packages.length) await writeFile(path.join(clone, 'node_modules/.package-lock.json'), '{}')
    const npm = folder.path('npm')
    await writeFile(npm, '#!/bin/sh\necho "npm $@"\n', { mode: 0o755 })
    const env = { ...process.env, PATH: `${folder.dir}${path.delimiter}${process.env.PATH}` }
    const script = path.join(clone, '.ci/ensure-installed.js')
    const { stdout } = await promisify(execFile)(process.execPath, [script, ...options], { env })
    return /^npm (.*)$/m.exec(stdout)?.[1]
  }

  it('leaves out what only tests need before npm start, and adds it before npm test', async () => {
    assert.match(String(await install([], '--omit=dev')), /^ci --omit=dev /)
    assert.equal(await install(['commander'], '--omit=dev'), undefined)
    assert.match(String(await install(['commander'])), /^ci --no-audit /)
    assert.equal(await install(['commander', 'mocha']), undefined)
  })
})
