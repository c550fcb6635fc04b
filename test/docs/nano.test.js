// The page "With nano", run as one program in the order of its blocks.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { Store, publish } from '../../loader/index.js'
import { onEachStore } from '../support/backends.js'
import { png } from '../support/tiles.js'
import { root, textOf } from './pages.js'

const SHOWN = 'localhost:5984'

onEachStore('the page "With nano"', backend => {
  let database
  let folder

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'tilecouch-nano-'))
    await writeFile(path.join(folder, 'tile.png'), png(2))
    database = await backend.database()
    const store = await Store.create(database)
    await publish(store)
    await store.write([{ layer: 'osm', z: 10, x: 534, y: 358, time: '2023-05-01T00:00:00Z', bytes: png(1) }])
  })

  after(() => rm(folder, { recursive: true, force: true }))

  it('reads, writes, follows and lists versions as it says', async () => {
    const { host, username, password, pathname } = new URL(database)
    const env = { ...process.env, COUCHDB_USER: username, COUCHDB_PASSWORD: password }
    const blocks = [...textOf('docs/nano.md').matchAll(/^```js\n([^]*?)^```$/gm)].map(([, code]) => code)
    assert.equal(blocks.length, 7)
    const program = `${blocks.join('\n')}
      const next = new Promise(resolve => feed.once('change', resolve))
      await store.defineLayer('osm', { name: 'Streets' })
      await next
      tiles.changesReader.stop()
      console.log(JSON.stringify({ bytes: bytes.length, time, type, image: image.length, changes }))`
      .replaceAll(SHOWN, host).replace('tile.png', path.join(folder, 'tile.png'))
        .replaceAll("use('tiles')", `use('${pathname.slice(1)}')`)
    const { stdout } =
      await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { cwd: root, env })
    const lines = stdout.trim().split('\n')
    const result = JSON.parse(String(lines.at(-1)))
    assert.deepEqual(lines.slice(0, -1), [
      `2023-05-01T00:00:00Z ${png(1).length} bytes`,
      `2024-03-01T00:00:00Z ${png(2).length} bytes`,
      'layer:osm has changed'
    ])
    const { bytes, time: shown, type, image } = result
    assert.deepEqual([bytes, image, shown, type], [png(1).length, png(1).length, '2023-05-01T00:00:00Z', 'image/png'])
    assert.deepEqual(result.changes.map(({ time }) => time), ['2023-05-01T00:00:00Z', '2024-03-01T00:00:00Z'])
  })
})
