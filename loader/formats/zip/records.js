// The records of a zip with stored files: as much of the format as tiles need, which do not shrink. Beyond 4 GB, or 65,535
// files, zip64 fields hold what the old fields have no room for.

export const LOCAL_HEADER = 30 // bytes, then the name and extra fields
export const LOCAL_SIGNATURE = 0x04034b50
export const CENTRAL_SIGNATURE = 0x02014b50

const VERSION = 20 // of the format that is needed; 45 for zip64
const VERSION_64 = 45
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

/** As DOS has it, in UTC: two seconds exact, from 1980 on. The exact time stands beside it. */
function dosTime (time) {
  const date = new Date(Math.min(Math.max(time, LOWEST_TIME), HIGHEST_TIME))
  return {
    date: (date.getUTCFullYear() - 1980) << 9 | (date.getUTCMonth() + 1) << 5 | date.getUTCDate(),
    clock: date.getUTCHours() << 11 | date.getUTCMinutes() << 5 | date.getUTCSeconds() >> 1
  }
}

/** Seconds since 1970, which unzip restores; where they do not fit 32 bits the time of DOS must do. */
function exactTime (time) {
  const seconds = time / 1000
  if (seconds < -(2 ** 31) || seconds >= 2 ** 31) return Buffer.alloc(0)
  const field = Buffer.alloc(9)
  field.writeUInt16LE(0x5455, 0) // "UT"
  field.writeUInt16LE(5, 2)
  field.writeUInt8(1, 4) // the time of modification follows
  field.writeInt32LE(seconds, 5)
  return field
}

/** The record before the bytes of a file. @param {Omit<Entry, 'offset'>} entry */
export function localHeader ({ name, crc, size, time }) {
  const { date, clock } = dosTime(time)
  const extra = exactTime(time)
  const header = Buffer.alloc(LOCAL_HEADER)
  header.writeUInt32LE(LOCAL_SIGNATURE, 0)
  header.writeUInt16LE(VERSION, 4)
  header.writeUInt16LE(UTF8, 6)
  header.writeUInt16LE(clock, 10)
  header.writeUInt16LE(date, 12)
  header.writeUInt32LE(crc, 14)
  header.writeUInt32LE(size, 18)
  header.writeUInt32LE(size, 22)
  header.writeUInt16LE(name.length, 26)
  header.writeUInt16LE(extra.length, 28)
  return Buffer.concat([header, name, extra])
}

/** The record of a file in the directory at the end. @param {Entry} entry */
export function directoryRecord ({ name, crc, size, time, offset }) {
  const { date, clock } = dosTime(time)
  const isFar = offset >= MOST_32
  const extra = isFar ? Buffer.concat([exactTime(time), farOffset(offset)]) : exactTime(time)
  const record = Buffer.alloc(46)
  record.writeUInt32LE(CENTRAL_SIGNATURE, 0)
  record.writeUInt16LE(MADE_BY_UNIX | (isFar ? VERSION_64 : VERSION), 4)
  record.writeUInt16LE(isFar ? VERSION_64 : VERSION, 6)
  record.writeUInt16LE(UTF8, 8)
  record.writeUInt16LE(clock, 12)
  record.writeUInt16LE(date, 14)
  record.writeUInt32LE(crc, 16)
  record.writeUInt32LE(size, 20)
  record.writeUInt32LE(size, 24)
  record.writeUInt16LE(name.length, 28)
  record.writeUInt16LE(extra.length, 30)
  record.writeUInt32LE(FILE_MODE, 38)
  record.writeUInt32LE(isFar ? MOST_32 : offset, 42)
  return Buffer.concat([record, name, extra])
}

function farOffset (offset) {
  const field = Buffer.alloc(12)
  field.writeUInt16LE(1, 0)
  field.writeUInt16LE(8, 2)
  field.writeBigUInt64LE(BigInt(offset), 4)
  return field
}

/**
 * The records that end the archive.
 * @param {{entries: number, offset: number, size: number}} directory offset: where it begins; size: bytes
 */
export function endRecords ({ entries, offset, size }) {
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(Math.min(entries, MOST_16), 8)
  end.writeUInt16LE(Math.min(entries, MOST_16), 10)
  end.writeUInt32LE(Math.min(size, MOST_32), 12)
  end.writeUInt32LE(Math.min(offset, MOST_32), 16)
  if (entries < MOST_16 && size < MOST_32 && offset < MOST_32) return end

  const record = Buffer.alloc(56)
  record.writeUInt32LE(0x06064b50, 0)
  record.writeBigUInt64LE(44n, 4) // bytes that follow
  record.writeUInt16LE(MADE_BY_UNIX | VERSION_64, 12)
  record.writeUInt16LE(VERSION_64, 14)
  record.writeBigUInt64LE(BigInt(entries), 24)
  record.writeBigUInt64LE(BigInt(entries), 32)
  record.writeBigUInt64LE(BigInt(size), 40)
  record.writeBigUInt64LE(BigInt(offset), 48)
  const locator = Buffer.alloc(20)
  locator.writeUInt32LE(0x07064b50, 0)
  locator.writeBigUInt64LE(BigInt(offset + size), 8)
  locator.writeUInt32LE(1, 16) // disks
  return Buffer.concat([record, locator, end])
}
