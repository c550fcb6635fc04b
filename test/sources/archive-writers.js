// Writes zip and tar files for tests: right ones, and wrong ones on purpose. Written from the specifications, not with the
// packages under test.
import { crc32, deflateRawSync } from 'node:zlib'

/**
 * @typedef {{name: string, bytes?: string | Buffer, stored?: boolean, method?: number, flags?: number, size?: number, packed?: number, sum?: number, offset?: number}} ZipFile
 * @param {ZipFile[]} files size, packed, sum, offset: what the central directory says, where it is not right
 * @param {{count?: number, at?: number, zip64?: boolean, comment?: string}} [end] count, at: what the end says, where it is not right
 */
export function writeZip (files, { count, at, zip64 = false, comment = '' } = {}) {
  const [parts, central] = [[], []]
  let offset = 0
  for (const { name, bytes = '', stored, method, flags = 0x800, ...wrong } of files) {
    const content = Buffer.from(bytes)
    const data = stored ? content : deflateRawSync(content)
    const title = Buffer.from(name)
    const said = { sum: crc32(content), packed: data.length, size: content.length, offset, ...wrong }
    const common = Buffer.alloc(26) // what local and central headers share
    common.writeUInt16LE(zip64 ? 45 : 20, 0)
    common.writeUInt16LE(flags, 2)
    common.writeUInt16LE(method ?? (stored ? 0 : 8), 4)
    common.writeUInt32LE(said.sum, 10)
    common.writeUInt32LE(zip64 ? 0xffffffff : said.packed, 14)
    common.writeUInt32LE(zip64 ? 0xffffffff : said.size, 18)
    common.writeUInt16LE(title.length, 22)
    const extra = zip64 ? Buffer.concat([Buffer.from([1, 0, 24, 0]), long(said.size), long(said.packed), long(said.offset)]) : Buffer.alloc(0)
    parts.push(Buffer.from('PK\x03\x04', 'latin1'), common, title, data)
    const place = Buffer.alloc(14)
    place.writeUInt32LE(zip64 ? 0xffffffff : said.offset, 10)
    const own = Buffer.from(common)
    own.writeUInt16LE(extra.length, 24)
    central.push(Buffer.from('PK\x01\x02\x14\x03', 'latin1'), own, place, title, extra)
    offset += 30 + title.length + data.length
  }
  const directory = Buffer.concat(central)
  const [number, begin] = [count ?? files.length, at ?? offset]
  const end = Buffer.alloc(18)
  end.writeUInt16LE(zip64 ? 0xffff : number % 65536, 4)
  end.writeUInt16LE(zip64 ? 0xffff : number % 65536, 6)
  end.writeUInt32LE(zip64 ? 0xffffffff : directory.length, 8)
  end.writeUInt32LE(zip64 ? 0xffffffff : begin, 12)
  end.writeUInt16LE(comment.length, 16)
  const long64 = [
    Buffer.from('PK\x06\x06', 'latin1'), long(44), Buffer.from([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]), long(number), long(number), long(directory.length), long(begin),
    Buffer.from('PK\x06\x07', 'latin1'), Buffer.alloc(4), long(offset + directory.length), Buffer.from([1, 0, 0, 0])
  ]
  return Buffer.concat([...parts, directory, ...(zip64 ? long64 : []), Buffer.from('PK\x05\x06', 'latin1'), end, Buffer.from(comment)])
}

function long (value) {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}

/**
 * @param {{name: string, bytes?: string | Buffer, type?: string, size?: number, link?: string}[]} files size: what the header says, where it is not right
 * @param {{end?: number}} [options] end: blocks of zeros behind the last
 */
export const writeTar = (files, { end = 2 } = {}) => Buffer.concat([...files.map(entry => Buffer.concat([tarHeader(entry), padded(Buffer.from(entry.bytes ?? ''))])), Buffer.alloc(512 * end)])

export function tarHeader ({ name, bytes = '', type = '0', size = Buffer.from(bytes).length, link = '' }) {
  const header = Buffer.alloc(512)
  header.write(name, 0, 100)
  header.write('0000644\0', 100)
  header.write('0000000\0', 108)
  header.write('0000000\0', 116)
  if (size < 8 ** 11) header.write(`${size.toString(8).padStart(11, '0')}\0`, 124)
  else {
    header[124] = 0x80 // in base 256
    header.writeBigUInt64BE(BigInt(size), 128)
  }
  header.write('00000000000\0', 136)
  header.write('        ', 148)
  header.write(type, 156)
  header.write(link, 157)
  header.write('ustar\x0000', 257, 'latin1')
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}

const padded = bytes => Buffer.concat([bytes, Buffer.alloc((512 - bytes.length % 512) % 512)])

/** What pax says of the file that comes next. */
export function paxHeader (fields) {
  const text = Object.entries(fields).map(([key, value]) => {
    const rest = ` ${key}=${value}\n`
    let length = Buffer.byteLength(rest) + 1
    while (`${length}`.length + Buffer.byteLength(rest) !== length) length++
    return `${length}${rest}`
  }).join('')
  return { name: 'PaxHeader/x', type: 'x', bytes: text }
}
