// Runs TileStache as its manual describes: a configuration with a Disk cache, and gunicorn. Its last release, of 2019,
// was written for Python 2.7 and 3 to 3.7. It needs one name that newer standard libraries lack. The module that
// gunicorn loads adds this name; TileStache itself is unchanged.
// written for Python 2.7 and 3 to 3.7. What it misses in a newer one is a single name of the standard library, which
// the module that gunicorn loads gives back; TileStache itself is as PyPI has it.
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { LAYER } from '../block.js'
import { startGunicorn } from './gunicorn.js'
import { outputOf } from './program.js'

export const MISSING = 'not installed: python3 -m venv DIR, then DIR/bin/pip install "setuptools<81" wheel, then ' +
  'DIR/bin/pip install --no-build-isolation TileStache gunicorn, and ' +
  'TILESTACHE_PYTHON=DIR/bin/python'

/** Python 3.8 removed cgi.parse_qs, and 3.13 removed cgi. Without it, TileStache assumes Python 2 and ends. */
const SHIM = `import sys, types
from urllib.parse import parse_qs
sys.modules.setdefault('cgi', types.ModuleType('cgi')).parse_qs = parse_qs`

/** The versions of TileStache, gunicorn and Python, or undefined. */
export async function findTileStache (env = process.env) {
  const python = env.TILESTACHE_PYTHON
  if (!python) return undefined
  const output = await outputOf(python,
    [
      '-c',
      `${SHIM}\nimport platform, TileStache\nfrom importlib.metadata import version\nprint(version("TileStache"), ` +
        `version("gunicorn"), platform.python_version())`
    ]).catch(() => '')
  const [, tilestache, gunicorn, version] = /^(\d\S*) (\d\S*) (\d\S*)$/m.exec(output) ?? []
  return version ? { python, tilestache, gunicorn, version } : undefined
}

/** `cache`: a folder of LAYER/z/x/y.png; `source`: URL of a server for tiles that are not in it. */
export const configuration = ({ cache, source }) => JSON.stringify({
  cache: { name: 'Disk', path: cache, dirs: 'portable' },
  layers: { [LAYER]: { provider: { name: 'proxy', url: `${source}/${LAYER}/{Z}/{X}/{Y}.png` } } }
})

export async function startTileStache ({ python, tilestache, gunicorn, version }, { cache, source, dir, probe }) {
  await mkdir(dir)
  const file = path.join(dir, 'tilestache.cfg')
  await writeFile(file, configuration({ cache, source }))
  const program = await startGunicorn('TileStache', { python, gunicorn }, {
    dir, code: `${SHIM}\nimport TileStache\napplication = TileStache.WSGITileServer(${JSON.stringify(file)})\n`, probe
  })
  return {
    ...program, version: tilestache, settings: `Python ${version}, ${program.settings}, Disk cache, dirs portable`
  }
}

/**
 * nginx in front of TileStache, as in the write-up of 2012: nginx serves cached tiles, TileStache all others.
 */
export const tryFilesConf = ({ cache, url }) => port => `  server {
    listen 127.0.0.1:${port};
    root ${cache};
    location / { add_header X-Static file; try_files $uri @tilestache; }
    location @tilestache { add_header X-Static miss; proxy_pass ${url}; }
  }`
