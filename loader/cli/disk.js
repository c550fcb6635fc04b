// What a compaction gave back, in words.
import { bytes } from './output.js'

/** @param {import('../compact.js').Compaction | undefined} compaction @param {string} [when] as it was asked for */
export function diskWords (compaction, when) {
  if (!compaction || when === 'never') return []
  const { before, after, done, why } = compaction
  if (!before.file) return done ? ['Disk: compacted; this store does not tell how much it takes'] : []
  const sizes = ({ file, views }) => `${bytes(file)} and ${bytes(views.file)} of indexes`
  return [done ? `Disk: ${sizes(before)} before, ${sizes(after)} after` : `Disk: ${sizes(before)}; not compacted: ${why}`]
}
