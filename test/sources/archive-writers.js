// Writes valid and invalid MBTiles and PMTiles archives for tests. The writers follow the specifications and do not
// use the code under test.
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import Database from 'libsql'
import { zxyToTileId } from 'pmtiles'
import { flipY } from '../../core/index.js'

/**
 * Tiles for `writeMbtiles`.
 * @param {Record<string, Uint8Array | string>} imagesByTile z/x/y -> bytes
 */
export const tileListOf = imagesByTile => Object.entries(imagesByTile).map(([name, bytes]) => {
  const [z, x, y] = name.split('/').map(Number)
  return { z, x, y, bytes: Buffer.from(bytes) }
})

/**
 * @param {string} file
 * @param {Iterable<{z: number, x: number, y: number, bytes: Uint8Array | null}>} tiles
 * @param {Record<string, string | number>} [metadata]
 */
export function writeMbtiles (file, tiles, metadata = {}) {
  mkdirSync(path.dirname(file), { recursive: true })
  const db = new Database(file)
  db.exec(`CREATE TABLE metadata (name TEXT, value TEXT);
    CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB,
      PRIMARY KEY (zoom_level, tile_column, tile_row));
    BEGIN`)
  const insert = db.prepare('INSERT INTO tiles VALUES (?, ?, ?, ?)')
  for (const { z, x, y, bytes } of tiles) insert.run(z, x, flipY(z, y), bytes)
  for (const [name, value] of Object.entries(metadata)) {
    db.prepare('INSERT INTO metadata VALUES (?, ?)').run(name, String(value))
  }
  db.exec('COMMIT')
  db.close()
  return file
}

export function varint (value) {
  const bytes = []
  while (value >= 0x80) {
    bytes.push(value % 0x80 | 0x80)
    value = Math.floor(value / 0x80)
  }
  return Buffer.from([...bytes, value])
}

/** @param {{id: number, run: number, length: number, offset: number}[]} entries run: 0 for a leaf */
export const directory = entries => Buffer.concat([
  varint(entries.length),
  ...entries.map(({ id }, index) => varint(id - (entries[index - 1]?.id ?? 0))),
  ...entries.map(({ run }) => varint(run)),
  ...entries.map(({ length }) => varint(length)),
  ...entries.map(({ offset }, index) => {
    const previous = entries[index - 1]
    return varint(previous && offset === previous.offset + previous.length ? 0 : offset + 1)
  })
])

/** Makes directory entries of tiles `z/x/y` -> bytes. Equal neighbours form a run; equal bytes are stored once. */
export function layOut (tiles) {
  const list = Object.entries(tiles)
    .map(([name, bytes]) => ({ id: zxyToTileId(...name.split('/').map(Number)), bytes: Buffer.from(bytes) }))
      .sort((a, b) => a.id - b.id)
  const places = new Map()
  const chunks = []
  const entries = []
  let end = 0
  for (const { id, bytes } of list) {
    const key = bytes.toString('latin1')
    if (!places.has(key)) {
      places.set(key, end)
      chunks.push(bytes)
      end += bytes.length
    }
    const last = entries.at(-1)
    if (last && last.id + last.run === id && last.offset === places.get(key)) last.run++
    else entries.push({ id, run: 1, length: bytes.length, offset: places.get(key) })
  }
  return { entries, data: Buffer.concat(chunks), addressed: list.length, contents: places.size }
}

/**
 * @param {object} options
 * @param {Record<string, string | Buffer>} [options.tiles]
 * @param {number} [options.leaf] entries per leaf; by default the root has all entries
 * @param {object} [options.metadata]
 * @param {Record<string, number>} [options.header] fields that replace the computed ones
 * @param {(bytes: Buffer) => Buffer} [options.pack] compresses directories and metadata
 * @param {Buffer} [options.root] replaces the computed root directory
 * @param {Buffer} [options.leaves]
 * @param {Buffer} [options.data]
 */
export function writeArchive ({ tiles = {}, leaf, metadata = {}, header = {}, pack = gzipSync, ...overrides } = {}) {
  const { entries, data, addressed, contents } = layOut(tiles)
  let leaves = Buffer.alloc(0)
  let rootEntries = entries
  if (leaf) {
    rootEntries = []
    for (let start = 0; start < entries.length; start += leaf) {
      const bytes = pack(directory(entries.slice(start, start + leaf)))
      rootEntries.push({ id: entries[start].id, run: 0, length: bytes.length, offset: leaves.length })
      leaves = Buffer.concat([leaves, bytes])
    }
  }
  const sections = [overrides.root ?? pack(directory(rootEntries)),
    pack(Buffer.from(JSON.stringify(metadata))), overrides.leaves ?? leaves, overrides.data ?? data]
  const zooms = Object.keys(tiles).map(name => +name.split('/')[0])
  const fields = {
    version: 3, addressed, entries: entries.length, contents, clustered: 1,
    packing: pack === gzipSync ? 2 : 1, tilePacking: 1, type: 2,
    minzoom: Math.min(...zooms, 30), maxzoom: Math.max(...zooms, 0), ...header
  }
  const bytes = Buffer.alloc(127)
  bytes.write('PMTiles', 'latin1')
  bytes[7] = fields.version
  const names = ['root', 'metadata', 'leaves', 'data']
  let offset = 127
  sections.forEach((section, index) => {
    bytes.writeBigUInt64LE(BigInt(header[`${names[index]}Offset`] ?? offset), 8 + 16 * index)
    bytes.writeBigUInt64LE(BigInt(header[`${names[index]}Length`] ?? section.length), 16 + 16 * index)
    offset += section.length
  })
  for (const [index, name] of ['addressed', 'entries', 'contents'].entries()) {
    bytes.writeBigUInt64LE(BigInt(fields[name]), 72 + 8 * index)
  }
  for (const [index, name] of ['clustered', 'packing', 'tilePacking', 'type', 'minzoom', 'maxzoom'].entries()) {
    bytes[96 + index] = fields[name]
  }
  const corners = [...header.bounds ?? [0, 0, 0, 0]].map(degree => degree * 1e7)
  corners.forEach((value, index) => bytes.writeInt32LE(value, 102 + 4 * index))
  const [lon, lat, zoom] = header.center ?? [0, 0, 0]
  bytes[118] = zoom
  bytes.writeInt32LE(lon * 1e7, 119)
  bytes.writeInt32LE(lat * 1e7, 123)
  return Buffer.concat([bytes, ...sections])
}
