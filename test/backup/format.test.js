// The file of a backup: any damage and any invalid content is noticed.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { DOCUMENTS, END, HEADER, MAGIC, TRAILER, encodeBlock,
  encodeFooter, formatDefaults } from '../../loader/backup/format.js'
import { readBackup, readEnds } from '../../loader/backup/reader.js'
import { BackupWriter } from '../../loader/backup/writer.js'
import { digestOf } from '../../loader/store/tile.js'
import { useFolder } from '../support/folder.js'
import { png } from '../support/tiles.js'
import { fullHeader, inChunks, memorySink, withImage } from './forge.js'

const ending = {
  id: 'one', finished: '2024-01-01T00:00:01Z', moment: /** @type {const} */ ('store'),
  seq: '9-x', purged: '0', noted: true, security: null
}
const plainDoc = fields => ({ _id: 'layer:osm', _rev: '1-ab', _revisions: { start: 1, ids: ['ab'] }, ...fields })
const tile = (x, seed, fields = {}) =>
  ({ ...withImage(plainDoc({ _id: `osm:5:${x}:1`, type: 'tile' }), png(seed), { revpos: 1 }), ...fields })

/** A file in memory. @param {(writer: BackupWriter) => Promise<void>} fill */
async function write (fill, about = fullHeader, end = ending) {
  const parts = []
  const writer = new BackupWriter(memorySink(parts))
  await writer.begin(/** @type {any} */ (about))
  await fill(writer)
  await writer.end(end)
  return Buffer.concat(parts)
}

const small = () => write(async writer => {
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
/** A file of blocks that are right in themselves. */
const blocks = async (...made) => Buffer.concat([MAGIC, ...await Promise.all(made)])
const documents = (docs, bytes = Buffer.alloc(0)) => encodeBlock(DOCUMENTS, { page: 1, docs }, [bytes])

describe('the file of a backup', function () {
  this.timeout(60000)
  const folder = useFolder()

  it('returns the written documents when it is read in chunks of any size', async () => {
    const bytes = await small()
    for (const chunk of [1, 7, 100000]) {
      const { docs, end } = await read(bytes, chunk)
      assert.deepEqual(docs.map(({ _id, _rev, page }) => [_id, _rev, page]),
        [['osm:5:1:1', '1-ab', 1], ['osm:5:2:1', '1-ab', 1], ['osm:5:3:1', '1-ab', 1], ['osm:5:1:1', '2-cd', 2]])
      assert.ok(docs[3]._attachments.tile.data.equals(png(4)))
      assert.deepEqual(end.counts,
        { blocks: 3, documents: 4, deleted: 1, tiles: 4, attachments: 3, bytes: 3 * png(1).length })
    }
  })

  it('is refused when any byte is changed', async () => {
    const bytes = await small()
    for (let at = 0; at < bytes.length; at++) {
      const bad = Buffer.from(bytes)
      bad[at] ^= 1 << (at % 8)
      await assert.rejects(read(bad), error => error.code === 'BACKUP_DAMAGED' ||
        (at < MAGIC.length && error.code === 'CONFIG_INVALID'), `byte ${at}`)
    }
  })

  it('is refused when it is cut off anywhere, or continues after its end', async () => {
    const bytes = await small()
    for (let length = 0; length < bytes.length; length++) await refuses(bytes.subarray(0, length), /cut off|begin/)
    await refuses(Buffer.concat([bytes, Buffer.from('x')]), /after its end/)
    await refuses(Buffer.concat([bytes, bytes]), /after its end/)
  })

  it('is refused when blocks are missing, repeated or swapped', async () => {
    const [head, one, two] =
      [encodeBlock(HEADER, fullHeader), documents([plainDoc()]), documents([plainDoc({ _id: 'layer:b' })])]
    const whole = await write(async writer => {
      await writer.write(1, [plainDoc()])
      await writer.write(1, [plainDoc({ _id: 'layer:b' })])
    })
    const rest = whole.subarray((await blocks(head, one, two)).length)
    assert.equal((await read(Buffer.concat([await blocks(head, one, two), rest]))).docs.length, 2)
    for (const order of [[head, one], [head, two, one], [head, one, one, two], [one, two], [head, head, one, two]]) {
      await refuses(Buffer.concat([await blocks(...order), rest]))
    }
  })

  it('of a newer format asks for an upgrade instead of being reported as damaged', async () => {
    const newer = Buffer.from((await small()).toString('latin1').replace('backup 1', 'backup 2'), 'latin1')
    await assert.rejects(read(newer), { code: 'CONFIG_INVALID', message: /format 2.*upgrade/ })
    await refuses(Buffer.from('SQLite format 3\0 and more of it'), /begin/)
    await refuses(Buffer.alloc(0), /cut off/)
  })

  it('has a header and a trailer that can be read without the rest', async () => {
    const file = path.join(folder.dir, 'a.tcb')
    const bytes = await small()
    writeFileSync(file, bytes)
    const { header: first, trailer } = await readEnds(file)
    assert.deepEqual([first.id, trailer.seq], ['one', '9-x'])
    for (const length of [0, 5, 20, 200, bytes.length - 1]) {
      writeFileSync(file, bytes.subarray(0, length))
      await assert.rejects(readEnds(file), { code: 'BACKUP_DAMAGED' })
    }
    writeFileSync(file, Buffer.concat([bytes.subarray(0, -8), encodeFooter(99999999)]))
    await assert.rejects(readEnds(file), { code: 'BACKUP_DAMAGED' })
    await assert.rejects(readEnds(path.join(folder.dir, 'none')), { code: 'SOURCE_NOT_FOUND' })
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
  for (const [what, docs] of Object.entries(hostile)) {
    it(`is refused with ${what}, although its check sums are right`, async () => {
      const hasImage = docs.some(doc => doc._attachments)
      await refuses(await blocks(encodeBlock(HEADER, fullHeader), documents(docs, hasImage ? png(1) : undefined)),
        /block|document|bytes/)
    })
  }

  it('is refused if it has a block that is too long or unpacks to too much', async () => {
    const claims = Buffer.from('D\xff\xff\xff\xff\xff\xff\xff\xff', 'latin1')
    await refuses(Buffer.concat([await blocks(encodeBlock(HEADER, fullHeader)), claims, Buffer.alloc(100)]), /no block/)
    const bomb = gzipSync(Buffer.alloc(formatDefaults.unpacked + 1, ' '))
    const block = await encodeBlock(DOCUMENTS, {}) // its JSON is exchanged
    const { crc32 } = await import('node:zlib')
    const body = Buffer.concat([block.subarray(0, 1), Buffer.alloc(8), bomb])
    body.writeUInt32BE(bomb.length, 1)
    const check = Buffer.alloc(4)
    check.writeUInt32BE(crc32(body))
    await refuses(Buffer.concat([await blocks(encodeBlock(HEADER, fullHeader)), body, check]), /unpacks to more/)
  })

  it('puts no control characters into error messages', async () => {
    const bytes = await blocks(encodeBlock(HEADER, fullHeader), documents([plainDoc({ _id: '_design/\u001b[2J' })]))
    await assert.rejects(read(bytes), error => !error.message.includes('\u001b'))
    assert.equal(END.length, 4)
    assert.equal(TRAILER, 'T')
  })
})
