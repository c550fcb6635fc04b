// The command `tilecouch mirror`, as a user types it.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { PUBLIC_SECURITY } from '../../loader/index.js'
import { until } from '../../bench/wait.js'
import { json, onEachStore, post, put, request } from '../support/backends.js'
import { runCommand } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { png } from '../support/tiles.js'
import { differences } from './compare.js'
import { startLink } from './link.js'
import { edition } from '../support/bad-lines.js'
import { T2, isThere, notesOf, origin } from './pairs.js'
import { pattern } from '../support/pattern.js'
import { startCommand } from '../support/command.js'

onEachStore('tilecouch mirror', backend => {
  const folder = useFolder()
  let url, store, target
  const children = new Set()

  beforeEach(async () => {
    url = await backend.database()
    target = await backend.database()
    store = await origin(url, { side: 4 })
  })
  afterEach(async () => { for (const child of children) await child.end('SIGKILL') })

  const run = (...argv) => runCommand(['mirror', ...argv])

  /** Starts the command in a process of its own. `end` sends a signal to it. */
  function start (...argv) {
    const { child, said, ended } = startCommand(['mirror', ...argv], { cwd: folder.dir })
    const self = {
      said,
      ended,
      get lines () { return said.out.split('\n').filter(Boolean).map(line => JSON.parse(line)) },
      async end (signal) {
        children.delete(self)
        if (child.exitCode === null) child.kill(signal)
        return (await ended).code
      }
    }
    children.add(self)
    return self
  }

  it('prints the copied revisions, and in a second run that nothing was missing', async () => {
    const firstRun = await run(url, target)
    assert.equal(firstRun.code, 0, firstRun.err)
    assert.match(firstRun.out,
      pattern(
        /^http:\/\/127\.\S+ -> http:\/\/127\.\S+: \d+ changes looked at in 0:\d\d\n/,
        / {2}24 revisions missing: 24 documents written, 20 tiles of them \([\d.]+ kB, \d+\/s\), 0 deletions\n/,
        / {2}2 design documents deployed, indexes built\n/,
        / {2}Everybody reads the mirror; .*\n/,
        / {2}It goes on after change \d+ \(_local\/tilecouch-mirror-[0-9a-f]{16}\)\n$/
      ))
    assert.match(firstRun.err, /^All documents are copied\. Deploying/)
    const secondRun = await run(url, target, '--json')
    const { from, to, changes, missing, docs, failures, seconds } = JSON.parse(secondRun.out)
    assert.match((await run(url, target)).out, /Nothing was missing/)
    assert.deepEqual([secondRun.code, secondRun.err, changes, missing, docs, failures, seconds >= 0],
      [0, '', 0, 0, 0, [], true])
    assert.deepEqual([from, to].map(address => new URL(address).username), ['', ''])
  })

  it('prints by kind what a dry run would copy, and changes neither side', async () => {
    const notes = await notesOf(url)
    const { code, out } = await run(url, target, '--dry-run')
    assert.equal(code, 0)
    assert.match(out,
      pattern(
        /\n {2}Would copy 24 revisions: 1 layer, 2 editions, 16 tiles, 4 past versions, 1 marker of the store\n/,
        /Nothing was changed\.\n$/
      ))
    assert.deepEqual([await isThere(target), await notesOf(url)], [false, notes])
    const data = folder.path('data')
    assert.match((await run(url, 'embedded', '--data', data, '--dry-run')).out, /Would copy 24 revisions/)
    assert.ok(!existsSync(data))
  })

  it('selects documents by layer, area, zoom, time and --current', async () => {
    await store.defineLayer('relief')
    await store.write([{ layer: 'relief', z: 3, x: 0, y: 0, time: T2, bytes: png(1) }])
    const count = async (...argv) => JSON.parse((await run(url, target, '--dry-run', '--json', ...argv)).out).lacked
    assert.deepEqual(await count('--layer', 'osm', '--current'), { marker: 1, layers: 1, editions: 2, heads: 16 })
    const twoLayers = await count('--layer', 'osm,relief')
    assert.deepEqual(twoLayers, { marker: 1, layers: 2, editions: 2, heads: 17, past: 4 })
    assert.deepEqual(await count('--layer', 'osm', '--layer', 'relief'), twoLayers)
    assert.deepEqual(await count('--zoom', '3'), { marker: 1, layers: 2, editions: 2, heads: 1 })
    assert.deepEqual(await count('--bbox', '-180,84,-179,85'), { marker: 1, layers: 2, editions: 2, heads: 2, past: 1 })
    assert.deepEqual(await count('--since', '2024', '--layer', 'osm'), { marker: 1, layers: 1, editions: 2, heads: 16 })
    assert.match((await run(url, target, '--layer', 'nothing', '--dry-run')).out, /The source has no layer nothing/)
  })

  it('refuses wrong arguments with an error code before it starts', async () => {
    const wrongCalls = [
      [['BAD_LAYER'], url, target, '--layer', 'Ü'], [['BAD_ZOOM'], url, target, '--zoom', 'x'],
      [['BAD_TIME'], url, target, '--since', 'yesterday'], [['BAD_BBOX'], url, target, '--bbox', '1'],
      [['BAD_OPTION'], url, target, '--live', '--dry-run'], [['BAD_OPTION'], url],
      [['BAD_OPTION']], [['SAME_DATABASE'], 'embedded', 'embedded'], [['SAME_DATABASE'], url, url],
      [['SOURCE_NOT_FOUND'], `${url}_no`, target],
      [['SOURCE_NOT_FOUND'], 'embedded', target, '--data', folder.path('no')],
      [['BAD_DATABASE'], 'Not A Name', target]
    ]
    for (const [[expected], ...argv] of wrongCalls) {
      const { code, out, err } = await run(...argv)
      assert.deepEqual([code, out], [1, ''], argv.join(' '))
      assert.match(err, new RegExp(`\\[${expected}\\]`))
      assert.doesNotMatch(err, /Run it again/)
    }
    assert.ok(!await isThere(target))
  })

  it('exits 1 and names the refused documents as long as the source has them', async () => {
    const foreignUrl = await backend.database()
    await request(foreignUrl, { method: 'PUT' })
    await put(`${foreignUrl}/tilecouch`, { type: 'store', schema: 1 })
    const docs = Array.from({ length: 30 }, (_, index) => ({ _id: `page${index}`, type: 'page' }))
    await post(`${foreignUrl}/_bulk_docs`, { docs })
    const { code, out } = await run(foreignUrl, target)
    assert.equal(code, 1)
    const refusals =
      /\n {2}30 revisions refused:\n {4}page\d+ {2}not a document of a tile store: .*, and 29 more like it\n/
    assert.match(out, refusals)
    // later runs report the refused documents again
    const repeatedRun = await run(foreignUrl, target)
    assert.equal(repeatedRun.code, 1)
    assert.match(repeatedRun.out, refusals)
    const { rows } = await json(`${foreignUrl}/_all_docs?startkey="page"&endkey="page~"`)
    const deletions = rows.map(({ id, value }) => ({ _id: id, _rev: value.rev, _deleted: true }))
    await post(`${foreignUrl}/_bulk_docs`, { docs: deletions })
    assert.equal((await run(foreignUrl, target)).code, 0)
  })

  it('reports that it was stopped, and continues in the next run', async () => {
    const link = await startLink(url, { rate: 200000 })
    try {
      await store.write(edition({ count: 300, size: 5000 }))
      const child = start(link.url, target)
      await until(async () => (await json(target).catch(() => ({}))).doc_count > 10,
        { timeout: 30000, what: 'the first documents' })
      assert.equal(await child.end('SIGINT'), 130)
      assert.match(child.said.out, /\(stopped\): /)
      assert.match(child.said.err, /Run it again: it goes on where it was\.\n.*\[ABORTED\]/s)
      const { doc_count: countBefore } = await json(target)
      assert.ok(countBefore < 324, `${countBefore}`)
    } finally {
      await link.close()
    }
    const { code, out } = await run(url, target, '--json')
    const { missing, ready } = JSON.parse(out)
    assert.deepEqual([code, ready.access], [0, 'opened'])
    assert.ok(missing < 324, 'not from the beginning')
    assert.deepEqual(await differences(url, target, { design: true }), [])
  })

  it('deploys the design documents and opens the mirror in the run after a kill', async () => {
    const child = start(url, target)
    await until(() => child.said.err.includes('All documents are copied'), { timeout: 20000, what: child.said.err })
    await child.end('SIGKILL')
    const { code, out } = await run(url, target, '--json')
    const { ready } = JSON.parse(out)
    assert.deepEqual([code, ready.created, ready.access], [0, true, 'opened'])
    assert.deepEqual(await json(`${target}/_security`), PUBLIC_SECURITY)
    assert.deepEqual(await differences(url, target, { design: true }), [])
  })

  it('reports in a live run when the source is away and back, and exits with 0', async () => {
    const link = await startLink(url)
    try {
      const [textRun, jsonRun] =
        [start(link.url, target, '--live'), start(link.url, target, '--live', '--json', '--layer', 'osm')]
      const waitForEvent = (event, position = -1) => until(() => jsonRun.lines.at(position)?.event === event,
        { timeout: 20000, what: `${event}: ${jsonRun.said.out} ${jsonRun.said.err}` })
      await waitForEvent('following')
      await until(() => /up to date, following the changes/.test(textRun.said.err),
        { timeout: 20000, what: textRun.said.err })
      await link.cut()
      await waitForEvent('away')
      await until(() => /Away: cannot reach/.test(textRun.said.err), { timeout: 20000 })
      await store.write([{ layer: 'osm', z: 5, x: 9, y: 9, time: T2, bytes: png(7) }])
      await link.restore()
      await until(() => isThere(`${target}/osm:5:9:9`), { timeout: 20000 })
      await waitForEvent('following')
      await until(() => /Back, and up to date again: following the changes/.test(textRun.said.err),
        { timeout: 20000, what: textRun.said.err })
      assert.deepEqual([await textRun.end('SIGINT'), await jsonRun.end('SIGTERM')], [0, 0])
      // only the first of the two mirrors finds missing documents
      assert.match(textRun.said.out, /\(stopped\): .*\n.*( missing: |Nothing was missing)/)
      const { event, time, from, lag, failures } = jsonRun.lines.at(-1)
      assert.deepEqual([event, Boolean(Date.parse(time)), from, lag, failures],
        ['stopped', true, link.url.replace(/\/\/.*@/, '//'), 0, []])
    } finally {
      await link.close()
    }
  })

  it('copies to and from the embedded store by its name', async () => {
    const { code, out, err } = await start(url, 'embedded').ended
    assert.equal(code, 0, err)
    assert.match(out, /-> embedded: .*\n {2}24 revisions missing/)
    const returnRun = await start('embedded', target, '--json').ended
    assert.equal(returnRun.code, 0, returnRun.err)
    assert.equal(JSON.parse(returnRun.out).from, 'embedded')
    assert.deepEqual(await differences(url, target, { design: true }), [])
  })
})
