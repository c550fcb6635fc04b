// Temporary folders for tests.
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/**
 * A folder for each test of a suite, removed after it.
 * @returns {{dir: string, path: (...names: string[]) => string,
 *   write: (files: Record<string, string | Buffer>) => string}}
 */
export function useFolder () {
  const folder = {
    dir: '',
    /** The path of a file or folder in it. */
    path: (...names) => path.join(folder.dir, ...names),
    /** Writes files, and returns the folder. */
    write (files) {
      for (const [name, content] of Object.entries(files)) {
        const file = folder.path(name)
        mkdirSync(path.dirname(file), { recursive: true })
        writeFileSync(file, content)
      }
      return folder.dir
    }
  }
  beforeEach(() => { folder.dir = mkdtempSync(path.join(tmpdir(), 'tilecouch-test-')) })
  // a LevelDB that is being closed may still write into the folder
  afterEach(() => { rmSync(folder.dir, { recursive: true, force: true, maxRetries: 5 }) })
  return folder
}
