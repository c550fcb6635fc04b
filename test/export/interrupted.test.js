// An export that is killed, stopped or has no room, at random moments: nothing stands under the name of its target
// before it is whole, and run again it is as if nothing had happened. TILECOUCH_KILL_ROUNDS makes it a long run.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { noiseTile, random } from '../../bench/tiles.js'
import { until } from '../../bench/wait.js'
import { exportLayer } from '../../loader/export/index.js'
import { exportHistory } from '../../loader/export/history.js'
import { Store } from '../../loader/store/index.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { assertSame, contentsOf, filesBelow, writeTiles } from '../support/exports.js'
import { startCommand } from '../support/command.js'

const ROUNDS = +(process.env.TILECOUCH_KILL_ROUNDS ?? 1)
const SEED = +(process.env.TILECOUCH_SEED ?? 2026)
const SIDE = 40
const TARGETS = ['out', 'out.mbtiles', 'out.pmtiles']
const TIME = '2021-01-01T00:00:00Z'

const wanted = new Map()
for (let x = 0; x < SIDE; x++) for (let y = 0; y < SIDE; y++) {
  wanted.set(`8/${x}/${y}`, noiseTile((x * SIDE + y) % 2000, 2000))
}
const whole = [...wanted.values()].reduce((sum, bytes) => sum + bytes.length, 0)

onEachStore(`exports in trouble (seed ${SEED})`, backend => {
  const folder = useFolder()
  const next = random(SEED)
  let store, url
  const at = name => path.join(folder.dir, name)

  before(async function () {
    this.timeout(60000)
    url = await backend.database()
    store = await Store.create(url)
    await writeTiles(store, wanted, TIME)
    await store.putEdition('osm', TIME, { finished: TIME })
    await store.putEdition('osm', '2022-01-01T00:00:00Z', { finished: TIME })
  })
  after(() => store?.destroy())

  /** The command line, in a process of its own. */
  const start = (...args) => startCommand(['export', ...args, '--db', url, '--json'])

  /** Bytes of a target so far. */
  function written (target) {
    try {
      if (target === 'out') {
        return filesBelow(at(target)).filter(name => name.startsWith('8/')).length / wanted.size * whole
      }
      return readdirSync(folder.dir).reduce((sum, name) => sum + statSync(at(name)).size, 0)
    } catch {
      return 0 // a file was renamed while it was looked at
    }
  }

  const isWhole = target => target === 'out' ? existsSync(at('out/metadata.json')) : existsSync(at(target))

  for (const target of TARGETS) {
    for (let round = 1; round <= ROUNDS; round++) {
      it(`an export that was killed twice is completed by the next: ${target}, round ${round}`, async function () {
        this.timeout(120000)
        for (const part of [next() * 0.5, next()]) { // twice, the second time later or earlier
          const { child, ended } = start('osm', at(target))
          await until(() => child.exitCode !== null || written(target) > part * whole,
            { timeout: 60000, every: target === 'out' ? 25 : 1, what: `${Math.round(part * 100)} % of it` })
          child.kill('SIGKILL')
          const { code } = await ended
          if (code === 0) { // it was quicker
            assertSame(await contentsOf(at(target), { asked: wanted.keys() }), wanted)
            return
          }
          assert.ok(!isWhole(target), 'it is not there before it is whole')
        }
        const { code, out, err } = await start('osm', at(target)).ended
        assert.equal(code, 0, err)
        const summary = JSON.parse(out)
        assertSame(await contentsOf(at(target), { asked: wanted.keys() }), wanted)
        assert.deepEqual([summary.tiles, summary.kept + summary.written], [wanted.size, wanted.size])
        assert.deepEqual(readdirSync(folder.dir), [target])
        if (target === 'out') assert.deepEqual(readdirSync(at('out')).sort(), ['.tilecouch.json', '8', 'metadata.json'])
      })
    }

    it(`an export stops on abort, reports its progress, and resumes: ${target}`, async () => {
      const abort = new AbortController()
      await assert.rejects(exportLayer(store, 'osm', at(target), {
        signal: abort.signal,
        onProgress ({ tiles }) { if (tiles === 100) abort.abort() }
      }), error => {
        assert.equal(error.code, 'ABORTED')
        assert.ok(error.summary.tiles >= 100)
        return true
      })
      assert.ok(!isWhole(target))
      const { kept } = await exportLayer(store, 'osm', at(target))
      assert.ok(kept >= 100, `${kept} are kept`)
      assertSame(await contentsOf(at(target), { asked: wanted.keys() }), wanted)
    })
  }

  it('an export that Ctrl-C stopped resumes', async function () {
    this.timeout(60000)
    const target = 'out.mbtiles'
    const { child, ended } = start('osm', at(target))
    await until(() => child.exitCode !== null || written(target) > whole / 3, { timeout: 60000, every: 1 })
    child.kill('SIGINT')
    const { code, out, err } = await ended
    if (code === 0) return // it was quicker
    assert.equal(code, 130)
    assert.equal(JSON.parse(err).error, 'ABORTED')
    const stopped = JSON.parse(out)
    assert.ok(stopped.tiles > 0 && stopped.tiles < wanted.size)
    assert.ok(!isWhole(target))
    assert.ok(!readdirSync(folder.dir, { recursive: true }).some(name => `${name}`.includes('lock')))
    const again = await exportLayer(store, 'osm', at(target))
    assert.ok(again.kept >= stopped.written, `${again.kept} of ${stopped.written} are kept`)
    assertSame(await contentsOf(at(target), { asked: wanted.keys() }), wanted)
  })

  it('only one of two simultaneous exports writes a target', async function () {
    this.timeout(60000)
    const target = 'out.mbtiles'
    const answers = await Promise.all([start('osm', at(target)).ended, start('osm', at(target)).ended])
    const codes = answers.map(({ code }) => code).sort()
    assert.deepEqual(codes, [0, 1])
    assert.match(answers.find(({ code }) => code === 1).err, /TARGET_(UNWRITABLE|EXISTS)/)
    assertSame(await contentsOf(at(target), { asked: wanted.keys() }), wanted)
  })

  it('a history that was stopped is resumed', async function () {
    this.timeout(60000)
    const abort = new AbortController()
    let ended = 0
    await assert.rejects(exportHistory(store, 'osm', at('{time}.mbtiles'), {
      signal: abort.signal,
      onTarget: () => { ended++ },
      onProgress ({ tiles }) { if (ended === 2 && tiles === 1500) abort.abort() }
    }), error => {
      assert.equal(error.code, 'ABORTED')
      assert.deepEqual([error.summary.exports.length, error.summary.stopped.time], [1, '2022-01-01T00:00:00Z'])
      return true
    })
    const { exports, skipped } = await exportHistory(store, 'osm', at('{time}.mbtiles'))
    assert.deepEqual([skipped, exports.length], [[at('2021-01-01.mbtiles')], 1])
    assert.ok(exports[0].kept >= 1000)
    for (const name of ['2021-01-01', '2022-01-01']) assertSame(await contentsOf(at(`${name}.mbtiles`)), wanted)
    rmSync(at('2021-01-01.mbtiles'))
  })

  it('an archive that cannot be finished leaves no file', async () => {
    for (const target of TARGETS.slice(1)) {
      await assert.rejects(exportLayer(store, 'osm', at(target), {
        onProgress ({ tiles }) { if (tiles === wanted.size) rmSync(folder.dir, { recursive: true, force: true }) }
      }), { code: 'TARGET_UNWRITABLE' })
      assert.ok(!existsSync(at(target)))
    }
  })
})
