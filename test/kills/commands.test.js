// Exports, backups and restores that are killed, stopped or started twice, and whose store or disk fails. No incomplete
// file looks complete, and the next run completes it. TILECOUCH_KILL_ROUNDS and TILECOUCH_LONG make it a long run.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { findCouchDb, startCouchDb } from '../../bench/couchdb.js'
import { noiseTile, random } from '../../bench/tiles.js'
import { until } from '../../bench/wait.js'
import { backup } from '../../loader/backup/index.js'
import { restore } from '../../loader/backup/restore.js'
import { exportLayer } from '../../loader/export/index.js'
import { exportHistory } from '../../loader/export/history.js'
import { Store } from '../../loader/store/index.js'
import { differences } from '../mirror/compare.js'
import { json } from '../support/backends.js'
import { T1, T2, createLargeOrigin } from '../support/bad-lines.js'
import { finishCommand, startCommand } from '../support/command.js'
import { startEmbeddedProcess } from '../support/embedded-process.js'
import { assertSameTiles, contentsOf, filesBelow, writeTiles } from '../support/exports.js'
import { useFolder } from '../support/folder.js'
import { collectGarbage } from '../support/garbage.js'
import { useSmallDisk } from '../support/small-disk.js'

const ROUNDS = +(process.env.TILECOUCH_KILL_ROUNDS ?? 1)
const SEED = +(process.env.TILECOUCH_SEED ?? 2026)
const SIDE = 40 // side of the square of exported tiles
const SIZE = 2000 // bytes of a tile
const LARGE = 5000 // bytes of a tile for a full disk: large enough to commit some tiles before the disk is full
const BACKUP_TILES = process.env.TILECOUCH_LONG ? 20000 : 300 // tiles of the store for backups
const BACKUP_TILE_SIZE = 3000 // bytes of each tile
const TARGETS = ['out', 'out.mbtiles', 'out.pmtiles']

const tilesOf = size => new Map(Array.from({ length: SIDE ** 2 },
  (_, index) => [`8/${Math.floor(index / SIDE)}/${index % SIDE}`, noiseTile(index, size)]))
const images = tilesOf(SIZE)
const bytesOfAll = [...images.values()].reduce((sum, bytes) => sum + bytes.length, 0)

const assertAll = async (target, tiles = images) =>
  assertSameTiles(await contentsOf(target, { asked: tiles.keys() }), tiles)
const sizeOf = file => statSync(file, { throwIfNoEntry: false })?.size ?? 0

const servers = { embedded: startEmbeddedProcess, CouchDB: findCouchDb() && startCouchDb }

for (const [kind, launch] of Object.entries(servers)) {
  (launch ? describe : describe.skip)(`commands with interruptions on ${kind} (seed ${SEED})`, function () {
    this.timeout(600000)
    const folder = useFolder()
    const next = random(SEED)
    let server, url, store, backedUrl

    before(async () => {
      server = await launch()
      url = `${server.url}/tiles`
      store = await Store.create(url)
      await writeTiles(store, images, T1)
      for (const time of [T1, T2]) await store.putEdition('osm', time, { finished: T1 })
      backedUrl = `${server.url}/backed`
      await createLargeOrigin(backedUrl, { count: BACKUP_TILES, size: BACKUP_TILE_SIZE })
    })
    after(() => server?.close())

    /** The written share of a target, from 0 to 1. */
    function writtenShare (target) {
      try {
        if (target === 'out') {
          return filesBelow(folder.path(target)).filter(name => name.startsWith('8/')).length / images.size
        }
        return readdirSync(folder.dir).reduce((sum, name) => sum + statSync(folder.path(name)).size, 0) / bytesOfAll
      } catch {
        return 0 // a file was renamed during the look
      }
    }
    const isWhole = target => existsSync(folder.path(target === 'out' ? 'out/metadata.json' : target))

    /**
     * The commands: arguments, share that is done, where to kill them, checks after a kill, and checks at the end.
     * @type {Record<string, () => {args: string[], done: () => number, every: number, points: number[],
     *   killed: () => void, completed: (out?: string) => Promise<void>}>}
     */
    const commands = {
      ...Object.fromEntries(TARGETS.map(target => [`an export to ${target}`, () => ({
        args: ['export', 'osm', folder.path(target), '--db', url, '--json'],
        done: () => writtenShare(target),
        every: target === 'out' ? 25 : 1,
        points: [next() * 0.5, next()], // the second point may be earlier or later
        killed: () => assert.ok(!isWhole(target), 'it is not there before it is whole'),
        async completed (out) {
          await assertAll(folder.path(target))
          if (!out) return
          const { tiles, kept, written: addedTiles } = JSON.parse(out)
          assert.deepEqual([tiles, kept + addedTiles], [images.size, images.size])
          assert.deepEqual(readdirSync(folder.dir), [target])
          if (target === 'out') {
            assert.deepEqual(readdirSync(folder.path('out')).sort(), ['.tilecouch.json', '8', 'metadata.json'])
          }
        }
      })])),
      'a backup': () => ({
        args: ['backup', folder.path('a.tcb'), '--db', backedUrl],
        done: () => sizeOf(folder.path('a.tcb.part')) / (BACKUP_TILES * BACKUP_TILE_SIZE),
        every: 1,
        points: [0.5],
        killed: () => assert.ok(!existsSync(folder.path('a.tcb'))),
        completed: async () => assert.deepEqual(readdirSync(folder.dir), ['a.tcb'])
      })
    }

    /** Starts a command, and sends a signal when a share is done. @returns the end of the command */
    async function interrupt ({ args, done, every = 1 }, point, signal) {
      const { child, ended } = startCommand(args)
      await until(async () => child.exitCode !== null || await done() > point,
        { timeout: 60000, every, what: `${Math.round(point * 100)} % of it` })
      child.kill(signal)
      return ended
    }

    for (const [name, describeCommand] of Object.entries(commands)) {
      for (let round = 1; round <= ROUNDS; round++) {
        it(`${name} that was killed is completed by the next run, round ${round}`, async () => {
          const command = describeCommand()
          for (const point of command.points) {
            const { code } = await interrupt(command, point, 'SIGKILL')
            if (code === 0) return command.completed() // it was faster than the kill
            command.killed()
          }
          await command.completed(await finishCommand(command.args))
        })
      }
    }

    it('a restore that was killed is completed by two at once, and is visible to admins only before', async () => {
      await backup(await Store.open(backedUrl), folder.path('a.tcb'))
      const copyUrl = `${server.url}/restored`
      const args = ['restore', folder.path('a.tcb'), '--yes', '--db', copyUrl]
      const done = async () => ((await json(copyUrl)).doc_count ?? 0) / BACKUP_TILES
      for (let round = 0; round < ROUNDS; round++) {
        await interrupt({ args, done }, (round + 0.5) / (ROUNDS + 1), 'SIGKILL')
        assert.deepEqual((await json(`${copyUrl}/_security`)).members.roles, ['_admin'])
      }
      await backup(await Store.open(backedUrl), folder.path('b.tcb'))
      await assert.rejects(restore([folder.path('b.tcb')], copyUrl),
        { code: 'RESTORE_NOT_EMPTY', message: /another restore/ })
      await Promise.all([finishCommand(args), finishCommand(args)])
      assert.deepEqual(await differences(backedUrl, copyUrl, { revpos: kind === 'CouchDB' }), [])
      assert.deepEqual((await json(`${copyUrl}/_security`)).members, { names: [], roles: [] })
    })

    it('a backup that was told to end leaves no file', async () => {
      const command = commands['a backup']()
      await interrupt({ ...command, done: () => existsSync(folder.path('a.tcb.part')) ? 1 : 0 }, 0, 'SIGTERM')
      assert.deepEqual(readdirSync(folder.dir), [])
    })

    it('an export that Ctrl-C stopped resumes', async () => {
      const target = 'out.mbtiles'
      const { code, out, err } = await interrupt(commands[`an export to ${target}`](), 1 / 3, 'SIGINT')
      if (code === 0) return // it was faster than the signal
      assert.equal(code, 130)
      assert.equal(JSON.parse(err).error, 'ABORTED')
      const stopped = JSON.parse(out)
      assert.ok(stopped.tiles > 0 && stopped.tiles < images.size)
      assert.ok(!isWhole(target))
      assert.ok(!readdirSync(folder.dir, { recursive: true }).some(name => `${name}`.includes('lock')))
      const resumed = await exportLayer(store, 'osm', folder.path(target))
      assert.ok(resumed.kept >= stopped.written, `${resumed.kept} of ${stopped.written} are kept`)
      await assertAll(folder.path(target))
    })

    for (const target of TARGETS) {
      it(`an export stops on abort, reports its progress, and resumes: ${target}`, async () => {
        const controller = new AbortController()
        await assert.rejects(exportLayer(store, 'osm', folder.path(target), {
          signal: controller.signal,
          onProgress ({ tiles }) { if (tiles === 100) controller.abort() }
        }), error => {
          assert.equal(error.code, 'ABORTED')
          assert.ok(error.summary.tiles >= 100)
          return true
        })
        assert.ok(!isWhole(target))
        const { kept } = await exportLayer(store, 'osm', folder.path(target))
        assert.ok(kept >= 100, `${kept} are kept`)
        await assertAll(folder.path(target))
      })
    }

    it('an export of a history that was stopped is resumed', async () => {
      const controller = new AbortController()
      let ended = 0
      await assert.rejects(exportHistory(store, 'osm', folder.path('{time}.mbtiles'), {
        signal: controller.signal,
        onTarget: () => { ended++ },
        onProgress ({ tiles }) { if (ended === 2 && tiles === 1500) controller.abort() }
      }), error => {
        assert.equal(error.code, 'ABORTED')
        assert.deepEqual([error.summary.exports.length, error.summary.stopped.time], [1, T2])
        return true
      })
      const { exports, skipped } = await exportHistory(store, 'osm', folder.path('{time}.mbtiles'))
      assert.deepEqual([skipped, exports.length], [[folder.path('2021-01-01.mbtiles')], 1])
      assert.ok(exports[0].kept >= 1000)
      for (const name of ['2021-01-01', '2022-01-01']) await assertAll(folder.path(`${name}.mbtiles`))
    })

    it('an archive that cannot be finished leaves no file', async () => {
      for (const target of TARGETS.slice(1)) {
        await assert.rejects(exportLayer(store, 'osm', folder.path(target), {
          onProgress ({ tiles }) { if (tiles === images.size) rmSync(folder.dir, { recursive: true, force: true }) }
        }), { code: 'TARGET_UNWRITABLE' })
        assert.ok(!existsSync(folder.path(target)))
      }
    })

    it('only one of two exports or backups at the same time writes a file', async () => {
      const { args } = commands['an export to out.mbtiles']()
      const answers = await Promise.all([startCommand(args).ended, startCommand(args).ended])
      assert.deepEqual(answers.map(({ code }) => code).sort(), [0, 1])
      assert.match(answers.find(({ code }) => code === 1)?.err ?? '', /TARGET_(UNWRITABLE|EXISTS)/)
      await assertAll(folder.path('out.mbtiles'))
      const backupStore = await Store.open(backedUrl)
      const results = await Promise.allSettled([1, 2].map(() => backup(backupStore, folder.path('a.tcb'))))
      assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
      const { reason } = /** @type {any} */ (results.find(({ status }) => status === 'rejected'))
      assert.equal(reason.code, 'TARGET_UNWRITABLE')
      assert.deepEqual(readdirSync(folder.dir), ['a.tcb', 'out.mbtiles'])
    })

    /** An outage: kills the server once, and starts it again. */
    function outage () {
      const state = {
        over: /** @type {Promise<void> | undefined} */ (undefined),
        begin: () => { state.over ??= server.kill().then(() => server.start()) }
      }
      return state
    }

    for (const [target, time] of [['out', undefined], ['out.mbtiles', T1]]) {
      it(`an export waits for a store that goes away and comes back, and writes every tile: ${target}`, async () => {
        const storeOutage = outage()
        const { tiles, missing } = await exportLayer(store, 'osm', folder.path(target), {
          time, onProgress (progress) { if (progress.tiles === 300) storeOutage.begin() }
        })
        await storeOutage.over
        assert.deepEqual([tiles, missing], [images.size, 0])
        await assertAll(folder.path(target))
      })
    }

    it('a backup and a restore wait for a store that goes away and comes back', async () => {
      const [backupOutage, restoreOutage] = [outage(), outage()]
      const { moment } = await backup(await Store.open(backedUrl), folder.path('a.tcb'),
        { onProgress ({ documents }) { if (documents > 50) backupOutage.begin() } })
      assert.equal(moment, 'store')
      await backupOutage.over
      const { differences: count } = await restore([folder.path('a.tcb')], `${server.url}/again`,
        { rights: 'give', onProgress ({ step, done }) { if (step === 'writing' && done > 50) restoreOutage.begin() } })
      assert.ok(restoreOutage.over)
      await restoreOutage.over
      assert.equal(count, 0)
    })

    describe('onto a full disk', () => {
      const disk = useSmallDisk(32)
      const large = tilesOf(LARGE)
      let largeStore
      before(async () => {
        largeStore = await Store.create(`${server.url}/large`)
        await writeTiles(largeStore, large, T1)
      })
      const on = name => path.join(disk.dir, name)
      afterEach(() => {
        for (const name of disk.dir ? readdirSync(disk.dir) : []) rmSync(on(name), { recursive: true })
      })

      async function leaveRoom (room) {
        // SQLite closes its files at garbage collection, and only then their space is free
        for (let round = 0; round < 3; round++) {
          collectGarbage()
          await new Promise(resolve => { setImmediate(resolve) })
        }
        disk.fill(room)
      }

      // space as a share of the target; a long run also tests an empty disk, and one that is full just before the end
      const rooms = { out: 0.85, 'out.mbtiles': 0.85, 'out.pmtiles': 1.005 }
      for (const target of TARGETS) {
        for (const room of process.env.TILECOUCH_LONG ? [0, 0.85, 1.005] : [rooms[target]]) {
          it(`an export leaves nothing that looks complete, and resumes when there is room: ${target}, with room for ` +
            `${Math.round(room * 100)} %`, async () => {
            await leaveRoom(room * large.size * LARGE)
            const failed = await exportLayer(largeStore, 'osm', on(target)).then(() => undefined, error => error)
            if (failed) {
              assert.equal(failed.code, 'DISK_FULL', failed.stack)
              assert.match(failed.message, new RegExp(target))
              if (target !== 'out') assert.ok(!existsSync(on(target)))
              else {
                assert.ok(!filesBelow(on('out')).includes('metadata.json'))
                for (const [name, bytes] of await contentsOf(on('out'))) assert.ok(bytes.equals(large.get(name)), name)
              }
            } else assert.ok(room > 1)
            disk.free()
            const { kept } = await exportLayer(largeStore, 'osm', on(target), { force: !failed })
            if (room === 0.85 && target !== 'out.pmtiles') assert.ok(kept > 0, 'what was written before is kept')
            await assertAll(on(target), large)
            assert.deepEqual(readdirSync(disk.dir), [target])
          })
        }
      }

      it('a backup leaves no file, and works when there is room', async () => {
        const backupStore = await Store.open(backedUrl)
        for (const room of [0, 0.5, 0.99]) {
          await leaveRoom(room * BACKUP_TILES * BACKUP_TILE_SIZE)
          await assert.rejects(backup(backupStore, on('a.tcb')), { code: 'DISK_FULL', message: /a\.tcb/ })
          assert.deepEqual(readdirSync(disk.dir), ['hog'])
          disk.free()
        }
        await backup(backupStore, on('a.tcb'))
        assert.deepEqual(readdirSync(disk.dir), ['a.tcb'])
      })
    })
  })
}
