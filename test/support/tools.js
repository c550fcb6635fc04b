// Finds external programs that some tests use. If one is missing, its tests are skipped with a reason, except under CI.
import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import path from 'node:path'

function find (...names) {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin', '/usr/local/sbin']
  for (
    const file of names.flatMap(name => path.isAbsolute(name) ? [name] : folders.map(folder => path.join(folder, name)))
  ) {
    try {
      accessSync(file, constants.X_OK)
      return file
    } catch {
      // try the next file
    }
  }
}

export const chromium = () => find(...(process.env.CHROMIUM_BIN ? [process.env.CHROMIUM_BIN] : []),
  'chromium', 'chromium-browser', 'google-chrome', 'chrome')

/** The command line tools of GDAL. */
export const gdal = () => find('gdal_translate')
export const ogrinfo = () => find('ogrinfo')

/** A python that has OWSLib. */
export const owslib = () => process.env.OWSLIB_PYTHON

/**
 * A folder with the published schemas of the OGC, as schemas.opengis.net has them: wmts/1.0, ows/1.1.0, xlink, xml.xsd.
 */
export const ogcSchemas = () => process.env.OGC_SCHEMAS

/** A python that has the packages pmtiles and mbutil of PyPI; their commands are in the same folder. */
export const tilesPython = () => process.env.TILES_PYTHON

/** A python that has QGIS. @type {string | null | undefined} */
let qgis

export function qgisPython () {
  if (qgis === undefined) {
    // system packages belong to the python of the system, which may not be the first one
    const candidates = process.env.QGIS_PYTHON ? [process.env.QGIS_PYTHON] : [find('python3'), find('/usr/bin/python3')]
    const env = { ...process.env, QT_QPA_PLATFORM: 'offscreen' }
    const has = python => python && spawnSync(python, ['-c', 'import qgis.core'], { env }).status === 0
    qgis = candidates.find(has) ?? null
  }
  return qgis
}

/** needed: CI installs the program, so a missing one is a failure there. */
export const tools = () => [
  { name: 'chromium', found: chromium(), needed: true },
  { name: 'nginx', found: find('nginx'), needed: true },
  { name: 'memcached', found: find('memcached'), needed: true },
  { name: 'redis-server', found: find('redis-server'), needed: true },
  { name: 'MapProxy (MAPPROXY_PYTHON names a Python that has it)', found: process.env.MAPPROXY_PYTHON ||
    find('mapproxy-util'), needed: false },
  { name: 'GDAL (gdal_translate)', found: gdal(), needed: false },
  { name: 'OWSLib (OWSLIB_PYTHON names a Python that has it)', found: owslib(), needed: false },
  { name: 'the schemas of the OGC (OGC_SCHEMAS names their folder)', found: ogcSchemas(), needed: false },
  { name: 'QGIS (QGIS_PYTHON names a Python that has qgis.core)', found: qgisPython(), needed: false },
  { name: 'mbtiles of martin (MBTILES_BIN)', found: mbtilesTool(), needed: false },
  { name: 'pmtiles and mbutil (TILES_PYTHON names a Python that has them)', found: tilesPython(), needed: false }
]

/** The command `mbtiles` of martin. */
export const mbtilesTool = () => find(process.env.MBTILES_BIN || 'mbtiles')

/**
 * Skips the running test or suite and says why in the summary.
 * @param {Mocha.Context} context
 * @param {string} reason
 */
export function skip (context, reason) {
  const runnable = context.test ?? context.currentTest
  // a hook that skips also skips its whole suite
  const owner = runnable.type === 'hook' ? runnable.parent : runnable
  owner.skipReason = reason
  console.log(`    skipped: ${reason}`)
  context.skip()
}
