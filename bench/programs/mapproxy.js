// Runs MapProxy behind gunicorn, as its manual recommends. It reads the same documents through its CouchDB cache
// (docs/mapproxy.md), and the same files through its file cache.
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { LAYER } from '../block.js'
import { startGunicorn } from './gunicorn.js'
import { outputOf } from './program.js'

export const MISSING =
  'not installed: pip install MapProxy requests gunicorn into a virtual environment, and MAPPROXY_PYTHON=…/bin/python'

/** The versions of MapProxy and gunicorn of a Python, or undefined. */
export async function findMapProxy (env = process.env) {
  const python = env.MAPPROXY_PYTHON
  if (!python) return undefined
  const output = await outputOf(python,
    [
      '-c',
      'from importlib.metadata import version; import requests; print(version("MapProxy"), version("gunicorn"), ' +
        'version("Pillow"))'
    ]).catch(() => '')
  const [, mapproxy, gunicorn] = /^(\d\S*) (\d\S*) \d\S*$/m.exec(output) ?? []
  return mapproxy ? { python, mapproxy, gunicorn } : undefined
}

/** @param {{server: string, db: string, tree: string, dir: string}} where tree: a folder of LAYER/z/x/y.png */
export const configuration = ({ server, db, tree, dir }) => `
services:
  wmts:
grids:
  xyz:
    base: GLOBAL_WEBMERCATOR
    origin: nw
layers:
  - {name: couch, title: CouchDB cache, sources: [couch]}
  - {name: files, title: file cache, sources: [files]}
caches:
  couch:
    grids: [xyz]
    sources: []
    format: image/png
    cache: {type: couchdb, url: "${server}", db_name: "${db}", tile_id: "%(couch_url)s/${LAYER}:%(z)s:%(x)s:%(y)s"}
  files:
    grids: [xyz]
    sources: []
    format: image/png
    cache: {type: file, directory: "${path.join(tree, LAYER)}", directory_layout: tms}
globals:
  cache: {base_dir: "${dir}/cache", lock_dir: "${dir}/locks"}
`

export async function startMapProxy ({ python, mapproxy, gunicorn }, { server, db, tree, dir, place }) {
  await mkdir(dir)
  await writeFile(path.join(dir, 'mapproxy.yaml'), configuration({ server, db, tree, dir }))
  const program = await startGunicorn('MapProxy', { python, gunicorn }, {
    dir,
    code: `from mapproxy.wsgiapp import make_wsgi_app\napplication = ` +
      `make_wsgi_app(${JSON.stringify(path.join(dir, 'mapproxy.yaml'))})\n`, probe: pathOf('files')(place)
  })
  return { ...program, pathOf, version: mapproxy }
}

const pathOf = layer => ({ z, x, y }) => `/wmts/${layer}/xyz/${z}/${x}/${y}.png`
