// Backups that somebody made to do harm, or whose files are not those that were made: replaced, changed while they are
// read, encrypted or signed by another program. Folders in which others write, and documents that would spoil every
// backup.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  mkdirSync, readFileSync, readdirSync, renameSync, statSync, symlinkSync, writeFileSync
} from 'node:fs'
import path from 'node:path'
import { crc32, gzipSync } from 'node:zlib'
import { backup } from '../../loader/backup/index.js'
import { HEADER, MAGIC, encodeBlock, formatDefaults } from '../../loader/backup/format.js'
import { readFileParts } from '../../loader/backup/reader.js'
import { restore } from '../../loader/backup/restore.js'
import { Store } from '../../loader/index.js'
import { json, onEachStore, post, request } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { png, square } from '../support/tiles.js'
import { fullHeader, rewrite, withImage } from './forge.js'
import { fails, fill, leaf } from '../support/backups.js'

/** A block whose JSON is this text, with a right check sum. */
function blockOf (text) {
  const packed = gzipSync(text)
  const block = Buffer.concat([Buffer.from('D'), Buffer.alloc(8), packed, Buffer.alloc(4)])
  block.writeUInt32BE(packed.length, 1)
  block.writeUInt32BE(crc32(block.subarray(0, -4)), block.length - 4)
  return block
}

async function readAll (file, keys = {}) {
  for await (const part of readFileParts(file, keys)) assert.ok(part.kind)
}

onEachStore('a hostile backup', backend => {
  const folder = useFolder()
  const file = name => path.join(folder.dir, name)
  let store

  before(async () => {
    store = await fill(await backend.database())
  })

  const twice = docs => docs.length && docs[0]._id.startsWith('osm:5') ? [...docs, withImage(docs[0], png(99))] : docs

  it('is refused with a repeated revision, or an invalid page, shard count, name or id', async () => {
    await backup(store, file('a.tcb'))
    const refused = async (change, words) => {
      await rewrite(file('a.tcb'), file('bad.tcb'), { ...change, recount: true })
      await fails(restore([file('bad.tcb')], null, { dryRun: true }), 'BACKUP_DAMAGED', words)
    }
    await refused({ docs: twice }, /has osm:5\S* \S+ twice/)
    await refused({ page: () => 2 ** 32 }, /lacks its documents/)
    for (const q of [0, 1e9, '8', 2.5]) await refused({ header: one => ({ ...one, q }) }, /header/)
    await refused({ header: one => ({ ...one, name: { toString: 1 } }) }, /header/)
    await refused({ docs: docs => docs.map((doc, at) => at ? doc : { ...doc, _id: '_design/tiles' }) },
      /not taken from a file/)
    const to = await backend.database()
    await fails(restore([file('bad.tcb')], to, { rights: 'give' }), 'BACKUP_DAMAGED')
    assert.equal((await request(to)).status, 404)
  })

  it('opens only the given files', async () => {
    await backup(store, file('a.tcb'))
    await rewrite(file('a.tcb'), file('b.tcb'),
      { header: one => ({ ...one, base: { id: 'x', made: one.made, file: '../../../etc/passwd' } }) })
    await fails(restore([file('b.tcb'), file('a.tcb')], null, { dryRun: true }), 'BACKUP_MISSING')
  })

  it('leaves out and names documents beyond its limits, and has the others', async () => {
    const own = await backend.database()
    const mine = await Store.create(own)
    await mine.defineLayer('osm', { format: 'png' })
    const deep = depth => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)
    const odd = [
      leaf(`x${'y'.repeat(1500)}`, ['a'], { _deleted: true }),
      leaf('layer:deep', ['a'], { type: 'layer', layer: 'deep', field: deep(150) }),
      ...['many', 'more', 'most', 'other'].map(
        layer => leaf(`layer:${layer}`, ['a'], { type: 'layer', layer, field: Array.from({ length: 300000 }, () => 1) })
      )
    ]
    for (const doc of odd) await post(`${own}/_bulk_docs`, { new_edits: false, docs: [doc] })
    const made = await backup(mine, file('a.tcb'))
    assert.equal(made.refused, 2, JSON.stringify(made.named))
    assert.match(made.named.map(({ reason }) => reason).join(), /bad id|lists in lists/)
    const to = await backend.database()
    const restored = await restore([file('a.tcb')], to, { rights: 'give' })
    // they are in the backup, and the validation function of the new store refuses fields that long
    assert.deepEqual([restored.differences, restored.refused], [0, 4])
    assert.equal((await json(`${to}/layer:osm`)).layer, 'osm')
  })
}, { timeout: 120000 })

describe('a hostile folder or file', function () {
  this.timeout(30000)
  const folder = useFolder()
  const file = name => path.join(folder.dir, name)

  it('is refused if it is a folder, a pipe or missing', async () => {
    mkdirSync(file('folder'))
    execFileSync('mkfifo', [file('pipe')])
    for (const name of ['folder', 'pipe']) {
      await fails(restore([file(name)], null, { dryRun: true }), 'SOURCE_UNREADABLE', /no regular file/)
    }
    await fails(restore([file('none')], null, { dryRun: true }), 'SOURCE_NOT_FOUND')
  })

  it('with nested lists or too many values is refused in bounded memory', async () => {
    const most = formatDefaults.unpacked
    const bombs = {
      nested: Buffer.alloc(most - 1, '['),
      lists: Buffer.concat([Buffer.from('{"page":1,"docs":['), Buffer.alloc(most - 100, '[],'), Buffer.from('[]]}')]),
      text: Buffer.alloc(1e8, '"') // one line of 100 MB; one of 1 GB ends at the same place
    }
    for (const [name, bomb] of Object.entries(bombs)) {
      writeFileSync(file('bomb.tcb'), Buffer.concat([MAGIC, await encodeBlock(HEADER, fullHeader), blockOf(bomb)]))
      const before = process.memoryUsage().rss
      await fails(readAll(file('bomb.tcb')), 'BACKUP_DAMAGED', /nested|values|unpacks to more/)
      assert.ok(process.memoryUsage().rss - before < 250e6, name)
    }
  })
})

onEachStore('a folder in which others write', backend => {
  const folder = useFolder()
  const file = name => path.join(folder.dir, name)

  it('gets no backup through a link, nor into a file that others may read', async () => {
    const store = await Store.create(await backend.database())
    writeFileSync(file('precious'), 'mine')
    symlinkSync(file('precious'), file('a.tcb.part'))
    await backup(store, file('a.tcb'))
    assert.equal(readFileSync(file('precious'), 'utf8'), 'mine')
    writeFileSync(file('b.tcb.part'), '', { mode: 0o666 })
    await backup(store, file('b.tcb'))
    assert.equal(statSync(file('b.tcb')).mode & 0o777, 0o600)
    assert.deepEqual(readdirSync(folder.dir), ['a.tcb', 'b.tcb', 'precious'])
  })
}, { timeout: 120000 })

onEachStore('a backup whose files were replaced', backend => {
  const folder = useFolder()
  const file = name => path.join(folder.dir, name)
  const dry = names => restore(names.map(file), null, { dryRun: true })
  let store

  before(async () => { store = await fill(await backend.database()) })

  it('is refused when a file of a chain is an older one', async () => {
    const mine = await fill(await backend.database())
    const write =
      seed => mine.write(square({ layer: 'osm', time: `202${seed}-06-01T00:00:00Z`, side: 1, seed: () => 700 + seed }))
    await backup(mine, file('full.tcb'))
    await write(4)
    await backup(mine, file('old.tcb'), { base: file('full.tcb') })
    await write(5)
    await backup(mine, file('two.tcb'), { base: file('old.tcb') })
    await write(6)
    await backup(mine, file('three.tcb'), { base: file('two.tcb') })
    assert.equal((await dry(['full.tcb', 'old.tcb', 'two.tcb', 'three.tcb'])).unneeded.length, 0)
    renameSync(file('old.tcb'), file('two.tcb'))
    await fails(dry(['full.tcb', 'two.tcb', 'three.tcb']), 'BACKUP_MISSING')
  })

  it('is refused when the file changes while it is read', async () => {
    await backup(store, file('a.tcb'))
    const to = await backend.database()
    await backup(await fill(await backend.database()), file('b.tcb'))
    const onProgress = ({ step }) => {
      if (step === 'reading') writeFileSync(file('a.tcb'), readFileSync(file('b.tcb')))
    }
    await fails(restore([file('a.tcb')], to, { rights: 'give', onProgress }), 'BACKUP_DAMAGED')
    if ((await request(to)).status === 200) assert.deepEqual((await json(`${to}/_security`)).members.roles, ['_admin'])
  })

  it('is reported as encrypted if age encrypted it', async () => {
    for (const start of ['age-encryption.org/v1\n-> X25519 abc\n', '-----BEGIN AGE ENCRYPTED FILE-----\n']) {
      writeFileSync(file('a.age'), start.padEnd(200, 'x'))
      await fails(dry(['a.age']), 'BACKUP_DAMAGED', /it is encrypted: open it with `age -d` first/)
    }
  })

  it('is read if an earlier release signed it', async () => {
    await backup(store, file('a.tcb'))
    const { documents } = await dry(['a.tcb'])
    const signature = Buffer.alloc(64, 7)
    await rewrite(file('a.tcb'), file('signed.tcb'),
      { trailer: trailer => ({ ...trailer, signer: 'f'.repeat(64) }), signature })
    assert.equal((await dry(['signed.tcb'])).documents, documents)
    await rewrite(file('a.tcb'), file('longer.tcb'), { signature })
    await fails(dry(['longer.tcb']), 'BACKUP_DAMAGED')
  })
})
