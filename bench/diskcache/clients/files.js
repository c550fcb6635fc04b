// A benchmark client of files, one per tile. A tile is written under another name first, so that no half-written file
// is read. There is no fsync, as in most tile caches. The calls are synchronous, as in the original: the detour through
// Node's threads would cost more than the file.
import { readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'

export function openFiles ({ dir }) {
  const fileOf = key => path.join(dir, `${key.replaceAll(':', '-')}.png`)
  return {
    set (key, bytes) {
      const file = fileOf(key)
      writeFileSync(`${file}.${process.pid}`, bytes)
      renameSync(`${file}.${process.pid}`, file)
    },
    get: key => unlessAbsent(() => readFileSync(fileOf(key)), null),
    delete: key => unlessAbsent(() => { unlinkSync(fileOf(key)); return true }, false),
    close () {}
  }
}

function unlessAbsent (body, absent) {
  try {
    return body()
  } catch (error) {
    if (error.code === 'ENOENT') return absent
    throw error
  }
}
