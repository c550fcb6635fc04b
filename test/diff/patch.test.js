// What changed, exported and loaded elsewhere: a store that was as the earlier side is then as the later one, byte by byte.
import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import Database from 'libsql'
import fc from 'fast-check'
import { diff } from '../../loader/diff/index.js'
import { exportLayer } from '../../loader/export/index.js'
import { load } from '../../loader/load.js'
import { openSource } from '../../loader/sources/index.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { mbtilesTool, skip } from '../support/tools.js'
import { TIMES, contents, histories, openStore, remember } from './helpers.js'

const [T1, T2, T3, T4] = TIMES

async function loadFrom (store, name, options, opening) {
  const source = await openSource(name, opening)
  try {
    return await load(store, source, options)
  } finally {
    await source.close()
  }
}

onEachStore('a diff that is exported', backend => {
  const folder = useFolder()
  let store
  let run = 0
  before(async () => { store = await openStore(backend) })

  const targets = { 'a folder': 'changes', 'MBTiles': 'changes.mbtiles', 'a folder whose rows count from the south': ['changes', 'tms'] }
  for (const [what, target] of Object.entries(targets)) {
    const [name, scheme] = [target].flat()
    it(`as ${what} changes any layer from any time to any other`, async function () {
      this.timeout(120000)
      await fc.assert(fc.asyncProperty(histories, fc.constantFrom([T1, T2], [T1, T4], [T2, T3], [T3, T3]), async (steps, [from, to]) => {
        const [one, two] = [`one${run}`, `two${run++}`]
        await remember(store, one, steps)
        await remember(store, two, steps.filter(({ time }) => time <= from))
        const file = path.join(folder.dir, `${run}`, name)
        const { tiles, export: exported } = await diff(store, `${one}@${from}`, `${one}@${to}`, { target: file, scheme })
        assert.deepEqual([exported.tiles, exported.gone], [tiles.added + tiles.changed, tiles.removed])

        const loaded = await loadFrom(store, file, { layer: two, time: to }, { scheme })
        assert.deepEqual([loaded.failed, loaded.unchanged], [0, 0])
        assert.deepEqual(await contents(store, two, to), await contents(store, one, to))
        assert.deepEqual(await contents(store, two, from), await contents(store, one, from), 'and what was is as it was')

        const again = await loadFrom(store, file, { layer: two, time: to }, { scheme })
        assert.deepEqual([again.failed, again.unchanged, again.created + again.advanced + again.backfilled], [0, again.tiles, 0], 'twice changes nothing')
      }), { numRuns: 8 })
    })
  }

  const seedOf = (x, y) => 1 + (x * 12 + y) % 50

  /** All that can happen to a tile, in 2022. */
  const STEPS = Array.from({ length: 144 }, (_, index) => ({ z: 4, x: Math.floor(index / 12), y: index % 12 })).flatMap(tile => [
    ...(tile.x < 9 ? [{ ...tile, time: T1, seed: seedOf(tile.x, tile.y) }] : []),
    ...(tile.x === 2 ? [{ ...tile, time: T2, seed: null }] : []),
    ...(tile.x === 3 || tile.x > 8 ? [{ ...tile, time: T2, seed: 60 + tile.y % 3 }] : [])
  ])
  const COUNTS = { added: 36, removed: 12, changed: 12, same: 84 }

  async function change (layer, doc = {}) {
    await remember(store, layer, STEPS)
    await store.defineLayer(layer, doc)
  }

  const rowsOf = (file, sql) => {
    const db = new Database(file)
    try { return db.prepare(sql).all() } finally { db.close() }
  }
  const TILES = 'SELECT zoom_level AS z, tile_column AS x, tile_row AS y, hex(tile_data) AS data FROM tiles WHERE tile_data IS NOT NULL ORDER BY 1, 2, 3'
  const metadataOf = file => Object.fromEntries(rowsOf(file, 'SELECT name, value FROM metadata').map(({ name, value }) => [name, value]))

  it('as MBTiles has the metadata of the whole layer, its time, and an unknown hash', async () => {
    const layer = `patch${run++}`
    await change(layer, { name: 'Town', bounds: [-180, 0, 90, 85], minzoom: 0, maxzoom: 9, attribution: 'me' })
    const target = path.join(folder.dir, 'p.mbtiles')
    const { export: exported } = await diff(store, `${layer}@2021`, layer, { target })
    assert.deepEqual([exported.tiles, exported.gone, exported.time, exported.missing], [COUNTS.added + COUNTS.changed, COUNTS.removed, T2, 0])
    const { format, type, agg_tiles_hash: own, ...metadata } = metadataOf(target)
    assert.match(own ?? '', /^[0-9A-F]{32}$/)
    assert.deepEqual(metadata, {
      name: 'Town', bounds: '-180,0,90,85', minzoom: '0', maxzoom: '9', attribution: 'me', 'tilecouch:time': T2, agg_tiles_hash_after_apply: null
    })
    const part = path.join(folder.dir, 'part.mbtiles')
    await diff(store, `${layer}@2021`, layer, { target: part, zooms: { min: 4, max: 4 } })
    assert.deepEqual(Object.keys(metadataOf(part)).sort(), ['agg_tiles_hash', 'agg_tiles_hash_after_apply', 'attribution', 'format', 'name', 'tilecouch:time', 'type'], 'of a part the bounds of the whole are not known')
  })

  it('has no time if time goes backwards, or between two layers: then it is loaded as of now', async () => {
    const [layer, other] = [`back${run++}`, `other${run++}`]
    await change(layer)
    await remember(store, other, [{ z: 0, x: 0, y: 0, time: T4, seed: 1 }])
    for (const [from, to] of [[layer, `${layer}@2021`], [other, `${layer}@2021`], [`${layer}@2021`, other]]) {
      const target = path.join(folder.dir, `${run++}.mbtiles`)
      const { export: exported } = await diff(store, from, to, { target })
      assert.deepEqual([exported.time, metadataOf(target)['tilecouch:time']], [undefined, undefined], `${from} to ${to}`)
      assert.ok(exported.tiles + exported.gone > 0)
    }
  })

  /** Exports of both sides and of the difference. */
  async function sides () {
    const layer = `martin${run++}`
    await change(layer, { name: 'Town' })
    const files = Object.fromEntries(['before', 'after', 'patch'].map(name => [name, path.join(folder.dir, `${name}.mbtiles`)]))
    await exportLayer(store, layer, files.before, { time: '2021' })
    await exportLayer(store, layer, files.after, { time: '2022' })
    await diff(store, `${layer}@2021`, `${layer}@2022`, { target: files.patch })
    return files
  }

  it('makes the later export of the earlier one, by the SQL in martin’s documentation', async () => {
    const { before: base, after, patch } = await sides()
    const flat = path.join(folder.dir, 'flat.mbtiles')
    const db = new Database(flat)
    db.exec('CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB, PRIMARY KEY (zoom_level, tile_column, tile_row))')
    db.exec(`ATTACH DATABASE '${base}' AS base; INSERT INTO tiles SELECT * FROM base.tiles; ATTACH DATABASE '${patch}' AS patch`)
    db.exec('DELETE FROM tiles WHERE (zoom_level, tile_column, tile_row) IN (SELECT zoom_level, tile_column, tile_row FROM patch.tiles WHERE tile_data ISNULL)')
    db.exec('INSERT OR REPLACE INTO tiles SELECT * FROM patch.tiles WHERE tile_data NOTNULL')
    db.close()
    assert.deepEqual(rowsOf(flat, TILES), rowsOf(after, TILES))
  })

  it('is applied by martin’s own tool, which leaves no wrong hash', async function () {
    const tool = mbtilesTool()
    if (!tool) return skip(this, 'the mbtiles tool of martin is not here (MBTILES_BIN names it)')
    const { before: base, after, patch } = await sides()
    const mbtiles = (...args) => {
      const { status, stderr } = spawnSync(tool, args)
      assert.equal(status, 0, `${args}: ${stderr}`)
    }
    for (const file of [base, patch]) mbtiles('validate', file)
    const copy = path.join(folder.dir, 'copy.mbtiles')
    copyFileSync(base, copy)
    mbtiles('apply-patch', '--force', copy, patch)
    assert.deepEqual(rowsOf(copy, TILES), rowsOf(after, TILES))
    const { agg_tiles_hash: hash, ...metadata } = metadataOf(copy)
    assert.equal(hash, null)
    assert.ok(!('agg_tiles_hash_after_apply' in metadata), 'what was patched is no diff')
    for (const file of [copy, after]) mbtiles('validate', '--agg-hash', 'update', file)
    assert.equal(metadataOf(copy).agg_tiles_hash, metadataOf(after).agg_tiles_hash)
  })

  for (const name of ['changes', 'changes.mbtiles']) {
    it(`to ${name} that was stopped is completed by the next run`, async () => {
      const layer = `stop${run++}`
      await change(layer)
      const target = path.join(folder.dir, name)
      const stop = new AbortController()
      let seen = 0
      const onTile = () => { if (++seen === 40) stop.abort() }
      const error = await diff(store, `${layer}@2021`, `${layer}@2022`, { target, signal: stop.signal, onTile }).catch(reason => reason)
      assert.equal(error.code, 'ABORTED')
      assert.ok(error.summary.export)
      if (name !== 'changes') assert.ok(!existsSync(target))
      else await assert.rejects(openSource(target), { code: 'ARCHIVE_INVALID', message: /run the export again/ }, 'what is gone is not known yet')

      const { export: exported } = await diff(store, `${layer}@2021`, `${layer}@2022`, { target })
      assert.deepEqual([exported.tiles, exported.gone], [COUNTS.added + COUNTS.changed, COUNTS.removed])
      assert.deepEqual(readdirSync(folder.dir), [name], 'nothing beside it')
      const source = await openSource(target)
      const tiles = []
      for await (const { z, x, y, gone } of source.tiles()) tiles.push([z, x, y, Boolean(gone)])
      await source.close()
      assert.deepEqual([tiles.length, tiles.filter(tile => tile[3]).length], [exported.tiles + exported.gone, exported.gone])
    })
  }

  it('into a folder is updated, and never mixed with another diff', async () => {
    const layer = `again${run++}`
    await change(layer)
    const target = path.join(folder.dir, 'changes')
    await diff(store, `${layer}@2021`, layer, { target })
    // one that was changed is gone now, one that was gone is back, one is as it was in 2021
    await remember(store, layer, [{ z: 4, x: 3, y: 0, time: T3, seed: null }, { z: 4, x: 2, y: 5, time: T3, seed: 99 }, { z: 4, x: 3, y: 1, time: T3, seed: seedOf(3, 1) }])
    const { tiles, export: exported } = await diff(store, `${layer}@2021`, layer, { target })
    assert.deepEqual([exported.tiles, exported.gone], [tiles.added + tiles.changed, tiles.removed])
    assert.ok(!readFileSync(path.join(target, 'gone.txt'), 'utf8').includes('4/2/5\n'))
    for (const gone of ['4/3/0', '4/3/1']) assert.ok(!existsSync(path.join(target, `${gone}.png`)), gone)
    const copy = `${layer}copy`
    await remember(store, copy, STEPS.filter(({ time }) => time === T1))
    await loadFrom(store, target, { layer: copy, time: T3 })
    assert.deepEqual(await contents(store, copy, T3), await contents(store, layer, T3))
    for (const [from, to] of [[`${layer}@2022`, layer], [layer, `${layer}@2021`], [`${layer}@2021`, `${layer}@2023`]]) {
      await assert.rejects(diff(store, from, to, { target }), { code: 'TARGET_EXISTS' })
    }
    await assert.rejects(exportLayer(store, layer, target), { code: 'TARGET_EXISTS' })
  })

  it('is refused if it could not list gone tiles, would overwrite, or is not allowed', async () => {
    const layer = `refused${run++}`
    await change(layer)
    const target = path.join(folder.dir, 'p.mbtiles')
    await diff(store, `${layer}@2021`, layer, { target })
    await assert.rejects(diff(store, `${layer}@2021`, layer, { target }), { code: 'TARGET_EXISTS' })
    await diff(store, layer, layer, { target, force: true })
    assert.deepEqual(rowsOf(target, 'SELECT * FROM tiles'), [], 'an empty one is one, too')
    await assert.rejects(diff(store, layer, layer, { target: path.join(folder.dir, 'p.pmtiles') }), { code: 'BAD_OPTION', message: /PMTiles cannot/ })
    mkdirSync(path.join(folder.dir, 'tiles'))
    await assert.rejects(diff(store, layer, path.join(folder.dir, 'tiles'), { target: `${target}2.mbtiles` }), { code: 'BAD_OPTION', message: /already/ })
    await store.defineLayer(layer, { upstream: { url: 'https://tile.openstreetmap.org/{z}/{x}/{y}.png', seed: false } })
    await assert.rejects(diff(store, `${layer}@2021`, layer, { target, force: true }), { code: 'EXPORT_FORBIDDEN' })
    await diff(store, `${layer}@2021`, layer, { target, force: true, permission: true })
  })
})
