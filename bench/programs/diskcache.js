// Finds DiskCache of PyPI, a Python library.
import { outputOf } from './program.js'

export const MISSING =
  'not installed: pip install diskcache into a virtual environment, and DISKCACHE_PYTHON=…/bin/python'

/** The versions of DiskCache, Python and its SQLite, or undefined. */
export async function findDiskCache (env = process.env) {
  const python = env.DISKCACHE_PYTHON
  if (!python) return undefined
  const output = await outputOf(python,
    [
      '-c',
      'import diskcache, platform, sqlite3; print(diskcache.__version__, platform.python_version(), ' +
        'sqlite3.sqlite_version)'
    ]).catch(() => '')
  const [, diskcache, version, sqlite] = /^(\d\S*) (\d\S*) (\d\S*)$/m.exec(output) ?? []
  return diskcache ? { python, diskcache, version, sqlite } : undefined
}
