// Directories of a PMTiles archive: columns of variable-length numbers, gzipped. When all entries do not fit behind the
// header they lie in leaves, and the root says where those are. Leaves are as large as the official tools make them.
import { gzipSync } from 'node:zlib'

export const HEADER_LENGTH = 127

export const directoryDefaults = {
  root: 16384 - HEADER_LENGTH, // bytes: what readers fetch first holds header and root
  tried: 16384, // entries: with more of them it is not even tried whether they fit into a root
  leaf: 4096, // entries of a leaf, at least
  leaves: 3500, // about so many fit into a root
  growth: 1.2 // of leaves whose root was too long
}

const ENTRY_LENGTH = 32 // bytes that four numbers need at most

/**
 * @param {import('./entries.js').Entry[]} entries ascending; run 0 stands for a leaf
 * @returns {Buffer}
 */
export function serialize (entries) {
  const bytes = Buffer.allocUnsafe(10 + entries.length * ENTRY_LENGTH)
  let end = 0
  const write = number => {
    // bits can be shifted in 32 of them only
    while (number > 0x7fffffff) {
      bytes[end++] = number % 128 | 128
      number = Math.floor(number / 128)
    }
    while (number > 127) {
      bytes[end++] = number & 127 | 128
      number >>>= 7
    }
    bytes[end++] = number
  }

  write(entries.length)
  let last = 0
  for (const { id } of entries) {
    write(id - last)
    last = id
  }
  for (const { run } of entries) write(run)
  for (const { length } of entries) write(length)
  let next = -1
  for (const { offset, length } of entries) {
    write(offset === next ? 0 : offset + 1)
    next = offset + length
  }
  return gzipSync(bytes.subarray(0, end), { level: 9 })
}

/**
 * Readers ask twice at most: there are no leaves of leaves.
 * @param {{count: number, groups: (size?: number) => Iterable<import('./entries.js').Entry[]>}} entries
 * @param {{clear: () => Promise<void>, write: (bytes: Buffer) => Promise<void>}} leaves cleared whenever larger ones are tried
 * @param {typeof directoryDefaults} [limits]
 * @returns {Promise<{root: Buffer, leaves: number}>} the root, and the bytes of the leaves written
 */
export async function buildDirectories (entries, leaves, limits = directoryDefaults) {
  if (entries.count < limits.tried) {
    const root = serialize([...entries.groups()].flat())
    if (root.length <= limits.root) return { root, leaves: 0 }
  }
  for (let size = Math.max(limits.leaf, entries.count / limits.leaves); ; size *= limits.growth) {
    await leaves.clear()
    const pointers = []
    let end = 0
    for (const group of entries.groups(Math.floor(size))) {
      const leaf = serialize(group)
      await leaves.write(leaf)
      pointers.push({ id: group[0].id, run: 0, offset: end, length: leaf.length })
      end += leaf.length
    }
    const root = serialize(pointers)
    if (root.length <= limits.root) return { root, leaves: end }
  }
}
