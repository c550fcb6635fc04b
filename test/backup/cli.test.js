// tilecouch backup and tilecouch restore on the command line.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isAdministrative } from '../../core/index.js'
import { json, onEachStore, post, request } from '../support/backends.js'
import { runCommand } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { png } from '../support/tiles.js'
import { createVariedStore, leaf } from '../support/backups.js'
import { pattern } from '../support/pattern.js'
import { bin } from '../support/command.js'

/** Runs a command without blocking: the embedded store answers in this process. */
const execute = (command, args) => new Promise(resolve => {
  execFile(command, args, (error, stdout, stderr) => resolve({ code: error ? error.code : 0, stdout, stderr }))
})
const DOCS = fileURLToPath(new URL('../../docs/backup.md', import.meta.url))

onEachStore('tilecouch backup and restore', backend => {
  const folder = useFolder()
  let url

  before(async () => {
    url = await backend.database()
    await createVariedStore(url)
  })

  const run = (...argv) => runCommand(argv)

  it('print the counts and the rights that a restore gives, or JSON', async () => {
    const backupRun = await run('backup', folder.path('a.tcb'), '--db', url)
    assert.deepEqual([backupRun.code, backupRun.err], [0, ''])
    assert.match(backupRun.out,
      /a\.tcb: \d+ documents \(\d+ versions of tiles, \d+ deleted\) in 0:\d\d\n.*read again.*\n.*one moment\n$/)
    assert.doesNotMatch(backupRun.out + backupRun.err, /admin:|test@/)
    const nextRun = await run('backup', folder.path('b.tcb'), '--base', folder.path('a.tcb'), '--db', url, '--json')
    const next = JSON.parse(nextRun.out)
    assert.deepEqual([next.documents, next.moment, next.base], [0, 'store', folder.path('a.tcb')])
    const dryRun = await run('restore', folder.path('b.tcb'), folder.path('a.tcb'), '--dry-run')
    assert.equal(dryRun.code, 0, dryRun.err)
    assert.match(dryRun.out, pattern(
      /from .*a\.tcb, .*b\.tcb\n/,
      /.*\n/,
      / {2}By these files the role tilecouch-writer may write\n/,
      / {2}By these files everybody may read, without a name\n/,
      / {2}Every block, digest and count is right. Nothing was written\.\n$/
    ))
    const full = await run('restore', folder.path('a.tcb'), '--dry-run', '--db', url)
    assert.deepEqual([full.code, full.out], [1, ''])
    assert.match(full.err, /RESTORE_NOT_EMPTY/)
    for (const badArguments of [
      ['backup', folder.path('a.tcb')], ['restore', '-', folder.path('a.tcb')],
      ['restore', folder.path('a.tcb'), '--q', 'x']
    ]) assert.equal((await run(...badArguments, '--db', url)).code, 1)
  })

  it('print the same number of tile versions, which does not include blocks', async () => {
    const [from, to] = [await backend.database(), await backend.database()]
    folder.write({ 'tiles/3/1/1.png': png(1), 'tiles/3/1/2.png': png(2) })
    const loaded = await run('load', folder.path('tiles'), '--layer', 'osm', '--time', '2024', '--db', from)
    assert.equal(loaded.code, 0, loaded.err)
    const backupRun = await run('backup', folder.path('two.tcb'), '--db', from)
    const restored = await run('restore', folder.path('two.tcb'), '--yes', '--db', to)
    assert.equal(restored.code, 0, restored.err)
    assert.deepEqual([backupRun, restored].map(({ out }) => /(\d+) versions of tiles/.exec(out)?.[1]), ['2', '2'])
  })

  it('work through a pipe', async () => {
    const to = await backend.database()
    const { code, stderr, stdout } = await execute('sh', [
      '-c', '"$0" "$1" backup - --db "$2" | "$0" "$1" restore - --yes --db "$3" --json', process.execPath, bin, url, to
    ])
    assert.equal(code, 0, stderr)
    const { differences, compared, access } = JSON.parse(stdout)
    assert.deepEqual([differences, access], [0, 'restored'])
    assert.ok(compared > 40)
    assert.match(stderr, /standard output: \d+ documents/)
  })

  it('name documents that a store refuses, and restore the others', async () => {
    const ownUrl = await backend.database()
    await request(ownUrl, { method: 'PUT' })
    const page = { content_type: 'text/html', data: btoa('<script>alert(1)</script>') }
    await post(`${ownUrl}/_bulk_docs`,
      { new_edits: false, docs: [leaf('layer:osm', ['a'], { type: 'layer', layer: 'osm' }),
        leaf('layer:page', ['a'], { type: 'layer', layer: 'page', _attachments: { 'index.html': page } })] })
    await run('backup', folder.path('a.tcb'), '--db', ownUrl)
    const to = await backend.database()
    const { code, out } = await run('restore', folder.path('a.tcb'), '--yes', '--db', to)
    assert.equal(code, 1)
    assert.match(out, /1 document refused:\n {4}layer:page: only tiles have an attachment/)
    assert.equal((await json(`${to}/layer:page`)).error, 'not_found')
    assert.equal((await json(`${to}/layer:osm`)).layer, 'osm')
  })

  it('write a file that the Python program in docs/backup.md reads', async function () {
    if ((await execute('python3', ['--version'])).code !== 0) this.skip()
    this.timeout(30000)
    const [, program] = /```python\n([^]*?)```/.exec(readFileSync(DOCS, 'utf8'))
    writeFileSync(folder.path('read.py'), program)
    await run('backup', folder.path('a.tcb'), '--db', url)
    const read = () => execute('python3', [folder.path('read.py'), folder.path('a.tcb')])
    const documentCount = (await json(`${url}/_changes`)).results.filter(({ id }) => !isAdministrative(id)).length
    assert.match((await read()).stdout, new RegExp(`^${documentCount} documents$`, 'm'))
    const bytes = readFileSync(folder.path('a.tcb'))
    bytes[bytes.length >> 1] ^= 1
    writeFileSync(folder.path('a.tcb'), bytes)
    assert.match((await read()).stderr, /AssertionError: damaged/)
  })
}, { timeout: 60000 })
