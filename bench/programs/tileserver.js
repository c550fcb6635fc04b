// Runs TileServer GL light on MBTiles of the same tiles.
import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { freePort } from '../wait.js'
import { LAYER, writeMbtiles } from '../block.js'
import { findProgram, startProgram } from './program.js'

export const MISSING =
  'not installed: npm install tileserver-gl-light somewhere else, and TILESERVER_BIN=…/node_modules/.bin/tileserver-gl'

export const findTileServer = (env = process.env) => findProgram(env.TILESERVER_BIN, 'tileserver-gl', env)

/** @param {import('../block.js').Place[]} places @param {import('../block.js').TileOf} [tileOf] */
export async function startTileServer (bin, dir, places, tileOf) {
  await mkdir(dir)
  writeMbtiles(path.join(dir, 'tiles.mbtiles'), places, tileOf)
  const config = path.join(dir, 'config.json')
  await writeFile(config,
    JSON.stringify(
      { options: { paths: { root: dir, mbtiles: dir, styles: dir, fonts: dir, sprites: dir } }, styles: {}, data: {
        [LAYER]: { mbtiles: 'tiles.mbtiles' }
      } }
    ))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const pathOf = ({ z, x, y }) => `/data/${LAYER}/${z}/${x}/${y}.png`
  const program =
    await startProgram('TileServer GL light', bin,
      ['--config', config, '--bind', '127.0.0.1', '--port', port, '--silent'], {
    cwd: dir, ready: url + pathOf(places[0]), env: { NODE_ENV: 'production' }
  })
  return {
    ...program, url, pathOf, version: await versionOf(bin), settings: 'MBTiles of the same tiles, one process, --silent'
  }
}

/** The version of the package that an executable belongs to. */
async function versionOf (bin) {
  for (let dir = path.dirname(await realpath(bin)); dir !== path.dirname(dir); dir = path.dirname(dir)) {
    const manifest = await readFile(path.join(dir, 'package.json'), 'utf8').catch(() => null)
    if (manifest && JSON.parse(manifest).name?.startsWith('tileserver-gl')) return JSON.parse(manifest).version
  }
  return 'unknown'
}
