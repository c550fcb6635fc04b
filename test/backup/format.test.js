// The file of a backup: the reader notices any damage and any invalid content. Backups by an attacker, and files that
// were replaced, changed during the read, encrypted, or signed by another program. Folders in which others write, and
// documents beyond the limits of a backup.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { crc32, gzipSync } from 'node:zlib'
import { DOCUMENTS, END, HEADER, MAGIC, TRAILER, encodeBlock, encodeFooter,
  formatDefaults } from '../../loader/backup/format.js'
import { readBackup, readEnds, readFileParts } from '../../loader/backup/reader.js'
import { BackupWriter } from '../../loader/backup/writer.js'
import { digestOf } from '../../loader/store/tile.js'
import { Store, backup, restore } from '../../loader/index.js'
import { useFolder } from '../support/folder.js'
import { png, square } from '../support/tiles.js'
import { json, onEachStore, post, request } from '../support/backends.js'
import { createVariedStore, fails, leaf } from '../support/backups.js'
import { fullHeader, inChunks, memorySink, rewrite, withImage } from './forge.js'

const ending =
  { id: 'one', finished: '2024-01-01T00:00:01Z', moment: 'store', seq: '9-x', purged: '0', noted: true, security: null }
const plainDoc = fields => ({ _id: 'layer:osm', _rev: '1-ab', _revisions: { start: 1, ids: ['ab'] }, ...fields })
const tile = (x, seed, fields = {}) =>
  ({ ...withImage(plainDoc({ _id: `osm:5:${x}:1`, type: 'tile' }), png(seed), { revpos: 1 }), ...fields })

/** Writes a backup in memory. @param {(writer: BackupWriter) => Promise<void>} writeDocs */
async function write (writeDocs, header = fullHeader, end = ending) {
  const parts = []
  const writer = new BackupWriter(memorySink(parts))
  await writer.begin(header)
  await writeDocs(writer)
  await writer.end(end)
  return Buffer.concat(parts)
}

const smallBackup = () => write(async writer => {
  await writer.write(1, [tile(1, 1), tile(2, 2), { ...tile(3, 3), _deleted: true, _attachments: undefined }])
  await writer.write(2, [tile(1, 4, { _rev: '2-cd', _revisions: { start: 2, ids: ['cd', 'ab'] } })])
})

async function read (bytes, chunk = 1000) {
  const docs = []
  let end
  for await (const part of readBackup(inChunks(bytes, chunk), 'file')) {
    if (part.kind === 'documents') docs.push(...part.documents.docs.map(doc => ({ ...doc, page: part.documents.page })))
    else if (part.kind === 'trailer') end = part.trailer
  }
  return { docs, end }
}

const refuses = (bytes, words = /./) => assert.rejects(read(bytes),
  error => error.code === 'BACKUP_DAMAGED' && words.test(error.message))
/** A file of blocks, each valid in itself. */
const fileOf = async (...pendingBlocks) => Buffer.concat([MAGIC, ...await Promise.all(pendingBlocks)])
const documentBlock = (docs, bytes = Buffer.alloc(0)) => encodeBlock(DOCUMENTS, { page: 1, docs }, [bytes])

describe('the file of a backup', function () {
  this.timeout(60000)
  const folder = useFolder()

  it('returns the written documents when it is read in chunks of any size', async () => {
    const bytes = await smallBackup()
    for (const chunk of [1, 7, 100000]) {
      const { docs, end } = await read(bytes, chunk)
      assert.deepEqual(docs.map(({ _id, _rev, page }) => [_id, _rev, page]),
        [['osm:5:1:1', '1-ab', 1], ['osm:5:2:1', '1-ab', 1], ['osm:5:3:1', '1-ab', 1], ['osm:5:1:1', '2-cd', 2]])
      assert.ok(docs[3]._attachments.tile.data.equals(png(4)))
      assert.deepEqual(end.counts,
        { blocks: 3, documents: 4, deleted: 1, tiles: 4, attachments: 3, bytes: 3 * png(1).length })
    }
  })

  it('is refused when any byte is changed, it is cut off anywhere, or continues after its end', async () => {
    const bytes = await smallBackup()
    for (let index = 0; index < bytes.length; index++) {
      const damaged = Buffer.from(bytes)
      damaged[index] ^= 1 << (index % 8)
      await assert.rejects(read(damaged), error => error.code === 'BACKUP_DAMAGED' ||
        (index < MAGIC.length && error.code === 'CONFIG_INVALID'), `byte ${index}`)
    }
    for (let length = 0; length < bytes.length; length++) await refuses(bytes.subarray(0, length), /cut off|begin/)
    await refuses(Buffer.concat([bytes, Buffer.from('x')]), /after its end/)
    await refuses(Buffer.concat([bytes, bytes]), /after its end/)
  })

  it('is refused when blocks are missing, repeated or swapped', async () => {
    const docs = [[plainDoc()], [plainDoc({ _id: 'layer:b' })]]
    const [head, one, two] = [encodeBlock(HEADER, fullHeader), ...docs.map(docList => documentBlock(docList))]
    const wholeFile = await write(async writer => { for (const docList of docs) await writer.write(1, docList) })
    const trailerBytes = wholeFile.subarray((await fileOf(head, one, two)).length)
    assert.equal((await read(Buffer.concat([await fileOf(head, one, two), trailerBytes]))).docs.length, 2)
    for (const order of [[head, one], [head, two, one], [head, one, one, two], [one, two], [head, head, one, two]]) {
      await refuses(Buffer.concat([await fileOf(...order), trailerBytes]))
    }
  })

  it('of a newer format asks for an upgrade instead of being reported as damaged', async () => {
    const newer = Buffer.from((await smallBackup()).toString('latin1').replace('backup 1', 'backup 2'), 'latin1')
    await assert.rejects(read(newer), { code: 'CONFIG_INVALID', message: /format 2.*upgrade/ })
    await refuses(Buffer.from('SQLite format 3\0 and more of it'), /begin/)
    await refuses(Buffer.alloc(0), /cut off/)
  })

  it('has a header and a trailer that can be read without the rest', async () => {
    const file = folder.path('a.tcb')
    const bytes = await smallBackup()
    writeFileSync(file, bytes)
    const { header: first, trailer } = await readEnds(file)
    assert.deepEqual([first.id, trailer.seq], ['one', '9-x'])
    for (const length of [0, 5, 20, 200, bytes.length - 1]) {
      writeFileSync(file, bytes.subarray(0, length))
      await assert.rejects(readEnds(file), { code: 'BACKUP_DAMAGED' })
    }
    writeFileSync(file, Buffer.concat([bytes.subarray(0, -8), encodeFooter(99999999)]))
    await assert.rejects(readEnds(file), { code: 'BACKUP_DAMAGED' })
    await assert.rejects(readEnds(folder.path('none')), { code: 'SOURCE_NOT_FOUND' })
  })

  const image = tile(1, 1)
  const described = fields => withImage(image, png(1), { data: undefined, ...fields })
  const hostile = {
    'a design document': [plainDoc({ _id: '_design/evil' })],
    'a local document': [plainDoc({ _id: '_local/x' })],
    'an id of 5000 characters': [plainDoc({ _id: 'x'.repeat(5000) })],
    'no id': [plainDoc({ _id: undefined })],
    'another field of CouchDB': [plainDoc({ _conflicts: [] })],
    'a revision that is not in its own history': [plainDoc({ _rev: '2-ff' })],
    'no revisions': [plainDoc({ _revisions: undefined })],
    'revisions of an invalid form': [plainDoc({ _rev: '1-a b', _revisions: { start: 1, ids: ['a b'] } })],
    'a document that is no object': ['x'],
    'an attachment stub': [described({ stub: true, length: 0 })],
    'base64 instead of bytes': [described({ data: 'eHg=' })],
    'an attachment longer than the bytes that follow': [described({ length: 10 ** 9 })],
    'a negative length': [described({ length: -1 })],
    'a wrong digest': [described({ digest: digestOf(Buffer.from('x')) })],
    'no digest': [described({ digest: undefined })]
  }
  for (const [content, docs] of Object.entries(hostile)) {
    it(`is refused with ${content}, although its check sums are right`, async () => {
      const hasImage = docs.some(doc => doc._attachments)
      await refuses(await fileOf(encodeBlock(HEADER, fullHeader), documentBlock(docs, hasImage ? png(1) : undefined)),
        /block|document|bytes/)
    })
  }

  it('is refused if a block is too long or unpacks to too much, without control characters in the error', async () => {
    const huge = Buffer.from('D\xff\xff\xff\xff\xff\xff\xff\xff', 'latin1')
    await refuses(Buffer.concat([await fileOf(encodeBlock(HEADER, fullHeader)), huge, Buffer.alloc(100)]), /no block/)
    const bomb = Buffer.alloc(formatDefaults.unpacked + 1, ' ')
    await refuses(await fileOf(encodeBlock(HEADER, fullHeader), blockOf(bomb)), /unpacks to more/)
    const bytes = await fileOf(encodeBlock(HEADER, fullHeader), documentBlock([plainDoc({ _id: '_design/\u001b[2J' })]))
    await assert.rejects(read(bytes), error => !error.message.includes('\u001b'))
    assert.equal(END.length, 4)
    assert.equal(TRAILER, 'T')
  })
})

/** A block with this text as its JSON, and a right check sum. */
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
  let store

  before(async () => { store = await createVariedStore(await backend.database()) })

  const repeat = docs => docs.length && docs[0]._id.startsWith('osm:5') ? [...docs, withImage(docs[0], png(99))] : docs

  it('is refused with a repeated revision, or an invalid page, shard count, name or id', async () => {
    await backup(store, folder.path('a.tcb'))
    const refused = async (change, words) => {
      await rewrite(folder.path('a.tcb'), folder.path('bad.tcb'), { ...change, recount: true })
      await fails(restore([folder.path('bad.tcb')], null, { dryRun: true }), 'BACKUP_DAMAGED', words)
    }
    await refused({ docs: repeat }, /has osm:5\S* \S+ twice/)
    await refused({ page: () => 2 ** 32 }, /lacks its documents/)
    for (const q of [0, 1e9, '8', 2.5]) await refused({ header: header => ({ ...header, q }) }, /header/)
    await refused({ header: header => ({ ...header, name: { toString: 1 } }) }, /header/)
    await refused({ docs: docs => docs.map((doc, index) => index ? doc : { ...doc, _id: '_design/tiles' }) },
      /not taken from a file/)
    const to = await backend.database()
    await fails(restore([folder.path('bad.tcb')], to, { rights: 'give' }), 'BACKUP_DAMAGED')
    assert.equal((await request(to)).status, 404)
  })

  it('opens only the given files', async () => {
    await backup(store, folder.path('a.tcb'))
    await rewrite(folder.path('a.tcb'), folder.path('b.tcb'),
      { header: header => ({ ...header, base: { id: 'x', made: header.made, file: '../../../etc/passwd' } }) })
    await fails(restore([folder.path('b.tcb'), folder.path('a.tcb')], null, { dryRun: true }), 'BACKUP_MISSING')
  })

  it('leaves out and names documents beyond its limits, and has the others', async () => {
    const ownUrl = await backend.database()
    const ownStore = await Store.create(ownUrl)
    await ownStore.defineLayer('osm', { format: 'png' })
    const nestedList = depth => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)
    const layerWith = (layer, field) => leaf(`layer:${layer}`, ['a'], { type: 'layer', layer, field })
    const oddDocs = [leaf(`x${'y'.repeat(1500)}`, ['a'], { _deleted: true }), layerWith('deep', nestedList(150)),
      ...['many', 'more', 'most', 'other'].map(layer => layerWith(layer, Array(300000).fill(1)))]
    for (const doc of oddDocs) await post(`${ownUrl}/_bulk_docs`, { new_edits: false, docs: [doc] })
    const summary = await backup(ownStore, folder.path('a.tcb'))
    assert.equal(summary.refused, 2, JSON.stringify(summary.named))
    assert.match(summary.named.map(({ reason }) => reason).join(), /bad id|lists in lists/)
    const to = await backend.database()
    const restored = await restore([folder.path('a.tcb')], to, { rights: 'give' })
    // The backup contains them, but the validation function of the new store refuses such long fields.
    assert.deepEqual([restored.differences, restored.refused], [0, 4])
    assert.equal((await json(`${to}/layer:osm`)).layer, 'osm')
  })
}, { timeout: 120000 })

describe('a hostile folder or file', function () {
  this.timeout(30000)
  const folder = useFolder()

  it('is refused if it is a folder, a pipe or missing', async () => {
    mkdirSync(folder.path('folder'))
    execFileSync('mkfifo', [folder.path('pipe')])
    for (const name of ['folder', 'pipe']) {
      await fails(restore([folder.path(name)], null, { dryRun: true }), 'SOURCE_UNREADABLE', /no regular file/)
    }
    await fails(restore([folder.path('none')], null, { dryRun: true }), 'SOURCE_NOT_FOUND')
  })

  it('with nested lists or too many values is refused in bounded memory', async () => {
    const limit = formatDefaults.unpacked
    const bombs = {
      nested: Buffer.alloc(limit - 1, '['),
      lists: Buffer.concat([Buffer.from('{"page":1,"docs":['), Buffer.alloc(limit - 100, '[],'), Buffer.from('[]]}')]),
      text: Buffer.alloc(1e8, '"') // one line of 100 MB; one of 1 GB would end at the same place
    }
    for (const [name, bomb] of Object.entries(bombs)) {
      const header = await encodeBlock(HEADER, fullHeader)
      writeFileSync(folder.path('bomb.tcb'), Buffer.concat([MAGIC, header, blockOf(bomb)]))
      const before = process.memoryUsage().rss
      await fails(readAll(folder.path('bomb.tcb')), 'BACKUP_DAMAGED', /nested|values|unpacks to more/)
      assert.ok(process.memoryUsage().rss - before < 250e6, name)
    }
  })
})

onEachStore('a folder in which others write', backend => {
  const folder = useFolder()

  it('gets no backup through a link, nor into a file that others may read', async () => {
    const store = await Store.create(await backend.database())
    writeFileSync(folder.path('precious'), 'mine')
    symlinkSync(folder.path('precious'), folder.path('a.tcb.part'))
    await backup(store, folder.path('a.tcb'))
    assert.equal(readFileSync(folder.path('precious'), 'utf8'), 'mine')
    writeFileSync(folder.path('b.tcb.part'), '', { mode: 0o666 })
    await backup(store, folder.path('b.tcb'))
    assert.equal(statSync(folder.path('b.tcb')).mode & 0o777, 0o600)
    assert.deepEqual(readdirSync(folder.dir), ['a.tcb', 'b.tcb', 'precious'])
  })
}, { timeout: 120000 })

onEachStore('a backup whose files were replaced', backend => {
  const folder = useFolder()
  const dryRestore = names => restore(names.map(name => folder.path(name)), null, { dryRun: true })
  let store

  before(async () => { store = await createVariedStore(await backend.database()) })

  it('is refused when a file of a chain is an older one', async () => {
    const chain = await createVariedStore(await backend.database())
    await backup(chain, folder.path('full.tcb'))
    for (const [year, name, base] of [[2024, 'old', 'full'], [2025, 'two', 'old'], [2026, 'three', 'two']]) {
      await chain.write(square({ layer: 'osm', time: `${year}-06-01T00:00:00Z`, side: 1, seed: () => 700 + year % 10 }))
      await backup(chain, folder.path(`${name}.tcb`), { base: folder.path(`${base}.tcb`) })
    }
    assert.equal((await dryRestore(['full.tcb', 'old.tcb', 'two.tcb', 'three.tcb'])).unneeded.length, 0)
    renameSync(folder.path('old.tcb'), folder.path('two.tcb'))
    await fails(dryRestore(['full.tcb', 'two.tcb', 'three.tcb']), 'BACKUP_MISSING')
  })

  it('is refused when the file changes while it is read', async () => {
    await backup(store, folder.path('a.tcb'))
    const to = await backend.database()
    await backup(await createVariedStore(await backend.database()), folder.path('b.tcb'))
    const onProgress = ({ step }) => {
      if (step === 'reading') writeFileSync(folder.path('a.tcb'), readFileSync(folder.path('b.tcb')))
    }
    await fails(restore([folder.path('a.tcb')], to, { rights: 'give', onProgress }), 'BACKUP_DAMAGED')
    if ((await request(to)).status === 200) assert.deepEqual((await json(`${to}/_security`)).members.roles, ['_admin'])
  })

  it('is reported as encrypted if age encrypted it, and read if an earlier release signed it', async () => {
    for (const start of ['age-encryption.org/v1\n-> X25519 abc\n', '-----BEGIN AGE ENCRYPTED FILE-----\n']) {
      writeFileSync(folder.path('a.age'), start.padEnd(200, 'x'))
      await fails(dryRestore(['a.age']), 'BACKUP_DAMAGED', /it is encrypted: open it with `age -d` first/)
    }
    await backup(store, folder.path('a.tcb'))
    const before = (await dryRestore(['a.tcb'])).documents
    const signature = Buffer.alloc(64, 7)
    await rewrite(folder.path('a.tcb'), folder.path('signed.tcb'),
      { trailer: trailer => ({ ...trailer, signer: 'f'.repeat(64) }), signature })
    assert.equal((await dryRestore(['signed.tcb'])).documents, before)
    await rewrite(folder.path('a.tcb'), folder.path('longer.tcb'), { signature })
    await fails(dryRestore(['longer.tcb']), 'BACKUP_DAMAGED')
  })
})
