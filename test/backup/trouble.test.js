// Backups and restores that are killed, run again, run twice at once; stores that go away; disks that are full.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { findCouchDb, startCouchDb } from '../../bench/couchdb.js'
import { end, until } from '../../bench/wait.js'
import { backup } from '../../loader/backup/index.js'
import { restore } from '../../loader/backup/restore.js'
import { Store } from '../../loader/index.js'
import { differences } from '../mirror/compare.js'
import { fill } from '../support/bad-lines.js'
import { json, onEachStore } from '../support/backends.js'
import { finishCommand, startCommand } from '../support/command.js'
import { startEmbeddedProcess } from '../support/embedded-process.js'
import { useFolder } from '../support/folder.js'
import { skip } from '../support/tools.js'

const COUNT = process.env.TILECOUCH_LONG ? 20000 : 300
const KILLS = process.env.TILECOUCH_LONG ? 20 : 1
const SIZE = 3000 // bytes of a tile

const kinds = { embedded: startEmbeddedProcess, CouchDB: findCouchDb() && startCouchDb }

for (const [kind, start] of Object.entries(kinds)) {
  const suite = start ? describe : describe.skip
  suite(`a backup with interruptions on ${kind}`, function () {
    this.timeout(600000)
    const folder = useFolder()
    const file = name => path.join(folder.dir, name)
    let server, url

    before(async () => {
      server = await start()
      url = `${server.url}/tiles`
      await fill(url, { count: COUNT, size: SIZE })
    })
    after(() => server?.close())

    it('leaves no file that looks complete when it is killed, and works when it is run again', async () => {
      for (let kill = 0; kill < KILLS; kill++) {
        const { child } = startCommand(['backup', file('a.tcb'), '--db', url])
        await until(() => existsSync(file('a.tcb.part')) &&
          statSync(file('a.tcb.part')).size > COUNT * SIZE * (kill + 0.5) / (KILLS + 1), { timeout: 60000, every: 1 })
        await end(child, 'SIGKILL')
        assert.ok(!existsSync(file('a.tcb')))
      }
      for (const name of readdirSync(folder.dir)) rmSync(file(name))
      const stopped = startCommand(['backup', file('a.tcb'), '--db', url, '--json'])
      await until(() => existsSync(file('a.tcb.part')), { timeout: 60000, every: 1 })
      await end(stopped.child, 'SIGTERM')
      assert.deepEqual(readdirSync(folder.dir), [], 'stopped, it leaves nothing at all')
      await finishCommand(['backup', file('a.tcb'), '--db', url])
      assert.deepEqual(readdirSync(folder.dir), ['a.tcb'])
    })

    it('is restored after kills, and is visible to admins only before it is complete', async () => {
      await backup(await Store.open(url), file('a.tcb'))
      const to = `${server.url}/restored`
      const command = ['restore', file('a.tcb'), '--yes', '--db', to]
      const count = async () => (await json(to)).doc_count ?? 0
      for (let kill = 0; kill < KILLS; kill++) {
        const { child } = startCommand(command)
        await until(async () => await count() > COUNT * (kill + 0.5) / (KILLS + 1), { timeout: 60000, every: 1 })
        await end(child, 'SIGKILL')
        assert.deepEqual((await json(`${to}/_security`)).members.roles, ['_admin'])
      }
      await backup(await Store.open(url), file('b.tcb'))
      await assert.rejects(restore([file('b.tcb')], to), { code: 'RESTORE_NOT_EMPTY', message: /another restore/ })
      await Promise.all([finishCommand(command), finishCommand(command)]) // two at once do the same
      assert.deepEqual(await differences(url, to, { revpos: kind === 'CouchDB' }), [])
      assert.deepEqual((await json(`${to}/_security`)).members, { names: [], roles: [] })
    })

    it('waits for a store that goes away and comes back, as a restore does', async () => {
      let isAway
      const goAway = async () => {
        await server.kill()
        await server.start()
      }
      const onProgress = ({ documents, done, step }) => {
        if ((documents ?? (step === 'writing' ? done : 0)) > 50) isAway ??= goAway()
      }
      const { moment } = await backup(await Store.open(url), file('a.tcb'), { onProgress })
      assert.equal(moment, 'store')
      await isAway
      isAway = undefined
      const to = `${server.url}/again`
      const { differences: differing } = await restore([file('a.tcb')], to, { rights: 'give', onProgress })
      assert.ok(isAway)
      await isAway
      assert.equal(differing, 0)
    })

    it('is written by one process at a time', async () => {
      const store = await Store.open(url)
      const ended = await Promise.allSettled([backup(store, file('a.tcb')), backup(store, file('a.tcb'))])
      assert.deepEqual(ended.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
      assert.equal(/** @type {any} */ (ended.find(({ status }) => status === 'rejected')).reason.code,
        'TARGET_UNWRITABLE')
      assert.deepEqual(readdirSync(folder.dir), ['a.tcb'])
    })
  })
}

const run = (command, ...args) => spawnSync(command, args).status === 0

onEachStore('a backup onto a full disk', backend => {
  let dir
  before(function () {
    dir = mkdtempSync(path.join(tmpdir(), 'tilecouch-full-'))
    if (run('mount', '-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', dir)) return
    rmSync(dir, { recursive: true })
    dir = undefined
    skip(this, 'mounting a tmpfs needs root')
  })
  after(() => {
    if (!dir) return
    run('umount', '-l', dir)
    rmSync(dir, { recursive: true })
  })

  it('fails with DISK_FULL, leaves no file, and works when there is room', async () => {
    const store = await fill(await backend.database(), { count: 200, size: SIZE })
    const target = path.join(dir, 'a.tcb')
    for (const room of [0, 0.5, 0.99]) {
      const { bavail, bsize } = statfsSync(dir)
      writeFileSync(path.join(dir, 'hog'), Buffer.alloc(bavail * bsize - Math.round(room * 200 * SIZE)))
      await assert.rejects(backup(store, target), { code: 'DISK_FULL', message: /a\.tcb/ })
      assert.deepEqual(readdirSync(dir), ['hog'])
      rmSync(path.join(dir, 'hog'))
    }
    await backup(store, target)
    assert.deepEqual(readdirSync(dir), ['a.tcb'])
  })
}, { timeout: 60000 })
