// tilecouch check, as it is typed.
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { publish } from '../../loader/couchapp/publish.js'
import { backends } from '../support/backends.js'
import { runCommand } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { useStore } from '../support/store.js'
import { document, tile } from '../support/sample-tiles.js'
import { plant } from './damage.js'
import { pattern } from '../support/pattern.js'

const run = (...argv) => runCommand(argv)

describe('tilecouch check', () => {
  const folder = useFolder()
  let store, url
  const fill = async (...own) => {
    [store, url] = own
    await store.defineLayer('osm', { minzoom: 3, maxzoom: 3 })
    await plant(store,
      await Promise.all(
        [document('osm:3:1:0@2021-06-01T00:00:00Z'), document('osm:3:1:1', { time: '2021-06-01T00:00:00Z' }), document(
          'osm:3:1:1@2022-06-01T00:00:00Z', {}, tile(2)
        ), document('osm:3:1:2', {}, Promise.resolve(Buffer.from('<html>')))]
      ))
    await publish(store)
  }
  useStore(backends[0], { once: true, public: false, fill })

  it('prints faults, repairs some of them with --fix, and prints the others', async () => {
    const first = await run('check', '--db', url)
    assert.equal(first.code, 1)
    assert.match(first.out, /: 1 layer, 3 tiles, 4 versions, .*\n {2}3 faults, 0 warnings\n/)
    assert.match(first.out, /\n--fix repairs 2 of these\.\n$/)
    const list = path.join(folder.dir, 'found.jsonl')
    const second = await run('check', '--fix', '--db', url, '--report', list)
    assert.equal(second.code, 1)
    assert.match(second.out, pattern(
      /\n2 repaired:\n/,
      / {2}no-head: 1 \(.*\)\n/,
      / {2}head-too-old: 1 \(.*\)\n/,
      /1 fault and 0 warnings left:\n/,
      / {2}unknown-format osm:3:1:2: .*\n\n/,
      /unknown-format: Often an error page .*\n$/
    ))
    assert.deepEqual(readFileSync(list, 'utf8').trim().split('\n').map(line => JSON.parse(line).code),
      ['no-head', 'head-too-old', 'unknown-format'])
    const third = await run('check', 'osm', '--json', '--no-decode', '--db', url)
    const { what, kind, faults, kinds, seconds, repair } = JSON.parse(third.out)
    assert.deepEqual([third.code, what, kind, faults, kinds, repair],
      [1, 'osm', 'layer', 1, { 'unknown-format': 1 }, undefined])
    assert.ok(seconds >= 0)
  })

  it('repairs a layer although a folder has its name, and refuses to repair the folder', async () => {
    const before = process.cwd()
    mkdirSync(path.join(folder.dir, 'osm'))
    process.chdir(folder.dir)
    try {
      const { code, out, err } = await run('check', 'osm', '--fix', '--db', url)
      assert.equal(code, 1, err)
      assert.match(out, /\nNothing was repaired\.\n1 fault and 0 warnings left:\n {2}unknown-format osm:3:1:2: /)
      assert.match((await run('check', 'osm', '--db', url)).out, /^osm \(folder\)/)
      assert.match((await run('check', './osm', '--fix', '--db', url)).err, /\[BAD_OPTION\]/)
    } finally {
      process.chdir(before)
    }
  })

  it('refuses conflicting options and missing layers', async () => {
    for (const argv of [
      ['--only', 'pixels'], ['--live'], ['--only', 'conflicts', '--live'], ['--only', 'conflicts', '--report', 'x'],
      ['osm', '--only', 'upgrade'], ['osm@2024', '--fix'], ['osm@2024', 'relief'],
      ['osm', '--fix', '--zoom', '3'], ['--zoom', '3'],
      ['osm', 'relief', '--zoom', '3'], ['osm', '--only', 'conflicts', '--bbox', '0,0,1,1']
    ]) {
      const { code, err } = await run('check', ...argv, '--db', url)
      assert.match(err, /BAD_OPTION/, argv.join(' '))
      assert.equal(code, 1)
    }
    const { code, out, err } = await run('check', 'ocean', 'osm', '--db', url)
    assert.deepEqual([code, out], [1, ''])
    assert.match(err, /LAYER_NOT_FOUND/)
  })

  it('lists the steps of an upgrade with --only upgrade, and does them with --fix', async () => {
    await store.couch.request(
      { method: 'DELETE', path: 'tilecouch', qs: { rev: (await store.couch.get('tilecouch'))._rev } }
    )
    const todo = await run('check', '--only', 'upgrade', '--db', url)
    assert.deepEqual([todo.code, todo.out.split('\n').slice(0, 2)],
      [0, [`${url}: schema 0, this tilecouch writes 1`,
        '  to do: mark: the database is marked as a store: another program, or replication of a part, has filled it']])
    assert.equal((await run('check', '--only', 'upgrade', '--fix', '--db', url)).code, 0)
    assert.equal((await run('check', '--only', 'upgrade', '--fix', '--db', url)).out,
      `${url}: schema 1, this tilecouch writes 1\n  Nothing to do.\n`)
    await store.putEdition('osm', '2024-03-01T00:00:00Z', { tiles: 3 })
    assert.equal((await run('check', '--only', 'upgrade', '--fix', '--db', url)).out,
      `${url}: schema 1, this tilecouch writes 1\n  Without a manifest: 1 edition, made by an earlier program or on ` +
        `a device. Only their versions say what they found.\n  Nothing to do.\n`)
    const named = '20240301T101500123-4f9k'
    await store.couch.update(`manifest:osm@2024-03-01T00:00:00Z:${named}`,
      () => ({
        type: 'manifest', layer: 'osm', time: '2024-03-01T00:00:00Z',
        run: named, complete: false, tiles: 0, root: '', blocks: {}
      }))
    assert.match((await run('check', '--only', 'upgrade', '--fix', '--db', url)).out,
      /tilecouch writes 1\n {2}Nothing to do\.\n$/)
    await store.couch.update('tilecouch', doc => ({ ...doc, schema: 2 }))
    assert.match((await run('check', '--only', 'upgrade', '--fix', '--db', url)).err,
      /the store has schema 2, this tilecouch knows 1: upgrade it/)
  })
})
