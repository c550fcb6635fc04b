// The records of a zip with stored files: as much of the format as tiles need, which do not shrink. Beyond 4 GB, or
// 65,535 files, zip64 fields hold what the old fields have no room for.

export const LOCAL_HEADER = 30 // bytes, then the name and extra fields
export const LOCAL_SIGNATURE = 0x04034b50
export const CENTRAL_SIGNATURE = 0x02014b50

const VERSION = 20 // of the format that is needed
const VERSION_64 = 45 // the same for zip64
const MADE_BY_UNIX = 3 << 8
const UTF8 = 0x800 // names are UTF-8
const FILE_MODE = 0o100644 * 0x10000
const MOST_16 = 0xffff
const MOST_32 = 0xffffffff
const [LOWEST_TIME, HIGHEST_TIME] = [Date.UTC(1980, 0, 1), Date.UTC(2107, 11, 31, 23, 59, 58)]

/**
 * @typedef {object} Entry
 * @property {Buffer} name
 * @property {number} crc
 * @property {number} size bytes, stored as they are
 * @property {number} time milliseconds since 1970
 * @property {number} offset of its header
 */

/** Numbers one after the other, the lowest byte first. @param {...[bytes: number, value: number]} fields */
function record (...fields) {
  const bytes = Buffer.alloc(fields.reduce((sum, [width]) => sum + width, 0))
  let at = 0
  for (const [width, value] of fields) {
    if (width === 8) bytes.writeBigUInt64LE(BigInt(value), at)
    else if (value < 0) bytes.writeIntLE(value, at, width)
    else bytes.writeUIntLE(value, at, width)
    at += width
  }
  return bytes
}

/** As DOS has it, in UTC: two seconds exact, from 1980 on. The exact time is in an extra field. */
function dosTime (time) {
  const date = new Date(Math.min(Math.max(time, LOWEST_TIME), HIGHEST_TIME))
  return {
    date: (date.getUTCFullYear() - 1980) << 9 | (date.getUTCMonth() + 1) << 5 | date.getUTCDate(),
    clock: date.getUTCHours() << 11 | date.getUTCMinutes() << 5 | date.getUTCSeconds() >> 1
  }
}

/** Seconds since 1970, which unzip restores; where they do not fit 32 bits the time of DOS must do. */
function exactTime (time) {
  const seconds = Math.trunc(time / 1000)
  if (seconds < -(2 ** 31) || seconds >= 2 ** 31) return Buffer.alloc(0)
  return record([2, 0x5455], [2, 5], [1, 1], [4, seconds]) // "UT", its length, the time of modification follows
}

/** What the record before a file and the one in the directory share. @returns {[number, number][]} */
function fileFields ({ name, crc, size, time }, version, extra) {
  const { date, clock } = dosTime(time)
  const stored = 0
  return [
    [2, version], [2, UTF8], [2, stored], [2, clock], [2, date],
    [4, crc], [4, size], [4, size], [2, name.length], [2, extra.length]
  ]
}

/** The record before the bytes of a file. @param {Omit<Entry, 'offset'>} entry */
export function localHeader (entry) {
  const extra = exactTime(entry.time)
  return Buffer.concat([record([4, LOCAL_SIGNATURE], ...fileFields(entry, VERSION, extra)), entry.name, extra])
}

/** The record of a file in the directory at the end. */
export function directoryRecord (entry) {
  const isFar = entry.offset >= MOST_32
  const version = isFar ? VERSION_64 : VERSION
  const extra = Buffer.concat([exactTime(entry.time), ...(isFar ? [record([2, 1], [2, 8], [8, entry.offset])] : [])])
  const fields = record(
    [4, CENTRAL_SIGNATURE], [2, MADE_BY_UNIX | version], ...fileFields(entry, version, extra),
    [2, 0], [2, 0], [2, 0], [4, FILE_MODE], [4, isFar ? MOST_32 : entry.offset] // no comment, first disk, no text
  )
  return Buffer.concat([fields, entry.name, extra])
}

/**
 * The records that end the archive.
 * @param {{entries: number, offset: number, size: number}} directory offset: where it begins; size: bytes
 */
export function endRecords ({ entries, offset, size }) {
  const count = Math.min(entries, MOST_16)
  const end = record(
    [4, 0x06054b50], [2, 0], [2, 0], [2, count], [2, count], // on the first and only disk
    [4, Math.min(size, MOST_32)], [4, Math.min(offset, MOST_32)], [2, 0]
  )
  if (entries < MOST_16 && size < MOST_32 && offset < MOST_32) return end
  const end64 = record(
    [4, 0x06064b50], [8, 44], [2, MADE_BY_UNIX | VERSION_64], [2, VERSION_64], [4, 0], [4, 0], // 44 bytes follow
    [8, entries], [8, entries], [8, size], [8, offset]
  )
  const locator = record([4, 0x07064b50], [4, 0], [8, offset + size], [4, 1]) // one disk
  return Buffer.concat([end64, locator, end])
}
