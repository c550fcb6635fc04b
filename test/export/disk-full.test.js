// A full disk under the target, on a small file system in memory. Needs the right to mount; says so where it has not.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { noiseTile } from '../../bench/tiles.js'
import { exportLayer } from '../../loader/export/index.js'
import { Store } from '../../loader/store/index.js'
import { onEachStore } from '../support/backends.js'
import { skip } from '../support/tools.js'
import { assertSame, contentsOf, filesBelow, writeTiles } from '../support/exports.js'
import { collectGarbage } from '../support/garbage.js'

const SIZE = 32 // MB of the file system
const COUNT = 1600
const BYTES = 5000
/** Of what a target takes; each with each of them in a long run. */
const ROOM = { out: 0.85, 'out.mbtiles': 0.85, 'out.pmtiles': 1.005 }
const run = (command, ...args) => spawnSync(command, args).status === 0

onEachStore('an export onto a full disk', backend => {
  const wanted = new Map(Array.from({ length: COUNT }, (_, n) => [`9/${n >> 4}/${n & 15}`, noiseTile(n, BYTES)]))
  let dir, store
  const at = name => path.join(dir, name)

  before(async function () {
    this.timeout(60000)
    dir = mkdtempSync(path.join(tmpdir(), 'tilecouch-full-'))
    if (!run('mount', '-t', 'tmpfs', '-o', `size=${SIZE}m`, 'tmpfs', dir)) {
      rmSync(dir, { recursive: true })
      dir = undefined
      skip(this, 'mounting a tmpfs needs root')
    }
    store = await Store.create(await backend.database())
    await writeTiles(store, wanted, '2021-01-01T00:00:00Z')
  })
  after(async () => {
    await store?.destroy()
    if (!dir) return
    run('umount', '-l', dir)
    rmSync(dir, { recursive: true })
  })
  afterEach(() => {
    for (const name of dir ? readdirSync(dir) : []) rmSync(at(name), { recursive: true })
  })

  /** Leaves so much room. */
  async function fill (bytes) {
    // SQLite's files are closed with their garbage, and their room is free only then
    for (let round = 0; round < 3; round++) {
      collectGarbage()
      await new Promise(resolve => { setImmediate(resolve) })
    }
    const { bavail, bsize } = statfsSync(dir)
    writeFileSync(at('hog'), Buffer.alloc(Math.max(0, bavail * bsize - bytes)))
  }

  for (const target of ['out', 'out.mbtiles', 'out.pmtiles']) {
    // before there is anything, in the middle, and just before the end
    for (const room of process.env.TILECOUCH_LONG ? [0, 0.85, 1.005] : [ROOM[target]]) {
      it(`is reported, leaves nothing that looks complete, and resumes when there is room: ${target}, with room for ` +
        `${Math.round(room * 100)} %`, async function () {
        this.timeout(60000)
        await fill(room * COUNT * BYTES)
        let failed
        try {
          await exportLayer(store, 'osm', at(target))
        } catch (error) {
          failed = error
        }
        if (failed) {
          assert.equal(failed.code, 'DISK_FULL', failed.stack)
          assert.match(failed.message, new RegExp(target))
          assert.ok(!readdirSync(dir).some(name => name !== 'out' && name === target))
          if (target === 'out') assert.ok(!filesBelow(at('out')).includes('metadata.json'))
          for (const name of target === 'out' ? filesBelow(at('out')) : []) {
            const tile = /^(.*)\.png$/.exec(name)
            if (tile) {
              assertSame(new Map([['x', (await contentsOf(at('out'))).get(tile[1])]]),
                new Map([['x', wanted.get(tile[1])]]), name)
            }
            if (tile) break
          }
        } else assert.ok(room > 1)
        rmSync(at('hog'))
        const { kept } = await exportLayer(store, 'osm', at(target), { force: !failed })
        if (room === 0.85 && ['out', 'out.mbtiles'].includes(target)) {
          assert.ok(kept > 0, 'what was written before is kept')
        }
        assertSame(await contentsOf(at(target), { asked: wanted.keys() }), wanted)
        assert.deepEqual(readdirSync(dir), [target])
      })
    }
  }
})
