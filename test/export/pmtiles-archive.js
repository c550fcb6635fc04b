// Reads a PMTiles archive as its specification says, without the code that wrote it and without the library. It checks
// the rules for clustered and deduplicated archives. The tests of exports use it.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

const HEADER = [
  ['rootOffset', 8], ['rootLength', 8], ['metadataOffset', 8],
  ['metadataLength', 8], ['leavesOffset', 8], ['leavesLength', 8],
  ['dataOffset', 8], ['dataLength', 8], ['addressed', 8], ['entries', 8], ['contents', 8],
  ['clustered', 1], ['internalCompression', 1], ['tileCompression', 1], ['tileType', 1], ['minZoom', 1], ['maxZoom', 1],
  ['minLon', 4], ['minLat', 4], ['maxLon', 4], ['maxLat', 4], ['centerZoom', 1], ['centerLon', 4], ['centerLat', 4]
]

/** Bytes of a field -> how it is read. Coordinates have four. */
const READERS = {
  1: (bytes, position) => bytes[position],
  4: (bytes, position) => bytes.readInt32LE(position) / 1e7,
  8: (bytes, position) => Number(bytes.readBigUInt64LE(position))
}

/** @param {string} file */
export function readArchive (file) {
  const bytes = readFileSync(file)
  assert.equal(bytes.toString('latin1', 0, 7), 'PMTiles')
  assert.equal(bytes[7], 3)
  const header = {}
  let position = 8
  for (const [name, width] of HEADER) {
    header[name] = READERS[width](bytes, position)
    position += width
  }
  assert.equal(position, 127)
  const directory = (offset, length) => parseDirectory(gunzipSync(bytes.subarray(offset, offset + length)))
  const root = directory(header.rootOffset, header.rootLength)
  const leaves = root.filter(({ run }) => run === 0)
    .map(entry => ({ ...entry, entries: directory(header.leavesOffset + entry.offset, entry.length) }))
  return {
    bytes,
    header,
    root,
    leaves,
    entries: root.flatMap(entry => entry.run ? [entry] : leaves.find(({ id }) => id === entry.id).entries),
    metadata: JSON.parse(
      String(gunzipSync(bytes.subarray(header.metadataOffset, header.metadataOffset + header.metadataLength)))
    ),
    content: ({ offset, length }) => bytes.subarray(header.dataOffset + offset, header.dataOffset + offset + length)
  }
}

export function parseDirectory (bytes) {
  let position = 0
  const number = () => {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      assert.ok(position < bytes.length, 'the directory was cut off')
      const byte = bytes[position++]
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
  }
  const entries = Array.from({ length: number() }, () => ({ id: 0, run: 0, length: 0, offset: 0 }))
  let id = 0
  for (const entry of entries) entry.id = id += number()
  for (const entry of entries) entry.run = number()
  for (const entry of entries) entry.length = number()
  entries.forEach((entry, index) => {
    const written = number()
    const previous = entries[index - 1]
    entry.offset = written === 0 ? previous.offset + previous.length : written - 1
  })
  assert.equal(position, bytes.length, 'nothing follows a directory')
  return entries
}

/** Reads an archive and asserts that it follows the rules. @param {string} file */
export function checkArchive (file) {
  const archive = readArchive(file)
  const { bytes, header, root, leaves, entries } = archive
  assert.ok(header.rootOffset + header.rootLength <= 16384, 'readers find the root in their first request')

  let end = 127
  for (const [offset, length] of [['rootOffset', 'rootLength'],
    ['metadataOffset', 'metadataLength'], ['leavesOffset', 'leavesLength'], ['dataOffset', 'dataLength']]) {
    assert.equal(header[offset], end, offset)
    end += header[length]
  }
  assert.equal(bytes.length, end, 'nothing lies between the sections or after them')

  let leafEnd = 0
  for (const leaf of leaves) {
    assert.equal(leaf.offset, leafEnd)
    assert.equal(leaf.id, leaf.entries[0].id)
    leafEnd += leaf.length
  }
  assert.equal(header.leavesLength, leafEnd)
  assert.ok(!leaves.length || leaves.length === root.length, 'the root holds either tiles or leaves')

  let dataEnd = 0
  let nextId = -1
  let previous
  const places = new Map()
  const contents = new Set()
  for (const entry of entries) {
    const { id, run, offset, length } = entry
    assert.ok(id >= nextId, 'ids ascend and runs do not overlap')
    assert.ok(run > 0 && length > 0)
    const isContinued = previous && id === nextId && offset === previous.offset
    assert.ok(!isContinued, `the run of ${previous?.id} could have gone on with ${id}`)
    if (!places.has(offset)) {
      assert.equal(offset, dataEnd, 'a content that is new lies behind all before it')
      dataEnd += length
      places.set(offset, length)
      contents.add(archive.content(entry).toString('latin1'))
    }
    assert.equal(places.get(offset), length)
    nextId = id + run
    previous = entry
  }
  assert.equal(header.dataLength, dataEnd)
  assert.equal(header.addressed, entries.reduce((sum, { run }) => sum + run, 0))
  assert.equal(header.entries, entries.length)
  assert.equal(header.contents, places.size)
  assert.equal(contents.size, places.size, 'no content is there twice')
  assert.equal(header.clustered, 1)
  assert.equal(header.internalCompression, 2)

  const zoomOf = id => ((3n * BigInt(id) + 1n).toString(2).length - 1) >> 1 // too large for floating point
  assert.equal(header.minZoom, zoomOf(entries[0].id))
  assert.equal(header.maxZoom, zoomOf(nextId - 1))
  assert.ok(header.centerZoom >= header.minZoom && header.centerZoom <= header.maxZoom)
  assert.ok(header.minLon < header.maxLon && header.minLat < header.maxLat)
  assert.ok(header.centerLon >= header.minLon && header.centerLon <= header.maxLon)
  assert.ok(header.centerLat >= header.minLat && header.centerLat <= header.maxLat)
  return archive
}
