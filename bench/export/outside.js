// The official converters from PyPI on the same tiles, where TILES_PYTHON names a Python that has them.
import { execFile } from 'node:child_process'
import { access, stat } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export const MISSING = 'TILES_PYTHON names no Python with pmtiles and mbutil (pip install pmtiles mbutil)'

/** @returns {Promise<{folder: string, versions: Record<string, string>} | undefined>} */
export async function findConverters (python = process.env.TILES_PYTHON) {
  if (!python) return
  const { stdout } = await run(python, ['-c', 'from importlib.metadata import version; print(version("pmtiles"), version("mbutil"))'])
  const [pmtiles, mbutil] = stdout.trim().split(' ')
  const folder = path.dirname(python)
  for (const name of ['pmtiles-convert', 'mb-util']) await access(path.join(folder, name))
  return { folder, versions: { pmtiles, mbutil } }
}

/**
 * @param {string} folder of the scripts
 * @param {'pmtiles-convert' | 'mb-util'} name @param {string[]} args the last is what it makes
 */
export async function convert (folder, name, args, signal) {
  const start = performance.now()
  await run(path.join(folder, name), args, { signal, maxBuffer: 1e9 })
  return { seconds: (performance.now() - start) / 1000, size: (await stat(/** @type {string} */ (args.at(-1)))).size }
}
