import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import { clientBundles } from '../../loader/couchapp/bundle.js'
import { compose, root } from '../../loader/couchapp/compose.js'
import { useFolder } from './helpers.js'

const { exports, files, unpkg, jsdelivr, style, types } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))

describe('the npm package', () => {
  const folder = useFolder()

  it('holds what it names', () => {
    const named = [unpkg, jsdelivr, style, types, ...Object.values(exports).flatMap(target => typeof target === 'string' ? target : Object.values(target))]
    for (const target of named.filter(Boolean).map(name => name.replace(/^\.\//, '')).filter(name => name !== 'package.json' && !name.includes('*'))) {
      const [top, ...rest] = target.split('/')
      assert.ok(files.includes(top), `${target} is not in "files"`)
      // made by npm run prepack
      assert.ok(top === 'dist' ? rest.join('/') in clientBundles : existsSync(path.join(root, target)), target)
    }
    assert.ok(['_design', 'views', 'attachments', 'client', 'core'].every(name => files.includes(name)), 'what the couchapp is composed from')
  })

  it('has the bundles of the client library that the store serves as well', async () => {
    folder.write({ 'note.txt': 'mine' })
    assert.equal(spawnSync(process.execPath, [path.join(root, '.ci/bundle.js'), folder.dir]).status, 0)
    const written = readdirSync(folder.dir).sort()
    assert.deepEqual(written, ['note.txt', ...Object.keys(clientBundles)].sort())
    const { _attachments: attached } = (await compose()).find(({ _id }) => _id === '_design/tiles') ?? {}
    for (const file of written.slice(1)) assert.equal(readFileSync(path.join(folder.dir, file)).toString('base64'), attached?.[file].data)
  })

  it('is loaded in Node without a window, and without Leaflet', async () => {
    const { load, TilecouchError } = await import('tilecouch')
    assert.deepEqual([typeof load, typeof TilecouchError], ['function', 'function'])
  })

  it('is bundled by others, who get only what they import', async () => {
    const sizeOf = async text => {
      const { outputFiles, warnings } = await build({ stdin: { contents: text, resolveDir: root }, bundle: true, minify: true, write: false, format: 'esm', outdir: folder.dir, external: ['leaflet'], logLevel: 'silent' })
      assert.deepEqual(warnings, [])
      return outputFiles.map(({ contents }) => contents.length)
    }
    const [clock] = await sizeOf("import { clock } from 'tilecouch/client'\nconsole.log(clock)")
    const [all, css] = await sizeOf("import * as tilecouch from 'tilecouch/client'\nimport 'tilecouch/client/tilecouch.css'\nconsole.log(tilecouch)")
    assert.ok(clock < all / 5, `${clock} of ${all} bytes for the clock`)
    assert.ok(css > 1000)
  })
})
