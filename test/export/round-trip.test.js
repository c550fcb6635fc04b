import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { exportLayer } from '../../loader/export/index.js'
import { exportHistory } from '../../loader/export/history.js'
import { load } from '../../loader/load.js'
import { publish } from '../../loader/publish.js'
import { openSource } from '../../loader/sources/index.js'
import { Store } from '../../loader/store/index.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { skip, tilesPython } from '../support/tools.js'
import { EDITIONS, MOMENTS, assertSame, contentsOf, expected, shownAt, useLayer } from './helpers.js'

const TARGETS = ['out', 'out.mbtiles', 'out.pmtiles', 'out.zip']

onEachStore('a layer goes out and comes in again', backend => {
  const folder = useFolder()
  const context = useLayer(backend)
  const at = name => path.join(folder.dir, name)

  async function loadInto (store, target, options) {
    const source = await openSource(target, options)
    try {
      return await load(store, source, { layer: 'osm', time: options?.time })
    } finally {
      await source.close()
    }
  }

  for (const target of TARGETS) {
    it(`every byte of every time: ${target}`, async function () {
      this.timeout(60000)
      for (const [index, time] of MOMENTS.entries()) {
        const name = at(`${index}${target}`)
        const wanted = expected(time)
        const summary = await exportLayer(context.store, 'osm', name, { time })
        assertSame(await contentsOf(name), wanted, `${target} as of ${time}`)
        assert.deepEqual([summary.tiles, summary.written, summary.kept, summary.missing], [wanted.size, wanted.size, 0, 0])
        assert.equal(summary.bytes, [...wanted.values()].reduce((sum, bytes) => sum + bytes.length, 0))
        assert.deepEqual(summary.types, { 'image/png': wanted.size })
      }
    })

    it(`a whole history in order, which then is the same history: ${target}`, async function () {
      this.timeout(60000)
      const summary = await exportHistory(context.store, 'osm', at(target))
      assert.deepEqual(summary.exports.map(({ time }) => time), EDITIONS)
      const copy = await Store.create(await backend.database())
      try {
        for (const [index, { target: name }] of summary.exports.entries()) {
          const source = await openSource(name)
          assert.equal(source.time, EDITIONS[index], 'it says when the map looked like this')
          try {
            await load(copy, source, { layer: 'osm', time: source.time, complete: true })
          } finally {
            await source.close()
          }
        }
        await publish(copy, {})
        for (const time of EDITIONS) {
          const found = new Map()
          for await (const tile of copy.fetch(copy.list('osm', { time }))) found.set(`${tile.z}/${tile.x}/${tile.y}`, tile)
          assertSame(new Map([...found].map(([key, { bytes }]) => [key, bytes])), expected(time), `the copy as of ${time}`)
          for (const [key, { time: since }] of shownAt(time)) assert.equal(found.get(key).time, since, `${key} as of ${time}`)
        }
        const { name, attribution, format, tileSize } = await copy.layer('osm')
        assert.deepEqual([name, attribution, format, tileSize], ['Streets', '© nobody', 'png', 512])
      } finally {
        await copy.destroy()
      }
    })
  }

  it('rows from the south are read with the same scheme', async () => {
    for (const target of ['tms', 'tms.zip']) {
      await exportLayer(context.store, 'osm', at(target), { scheme: 'tms' })
      assertSame(await contentsOf(at(target), { tms: true }), expected())
      const copy = await Store.create(await backend.database())
      try {
        await loadInto(copy, at(target), { scheme: 'tms' })
        const head = await copy.head('osm', 3, 0, 1)
        assert.deepEqual(head.bytes, expected().get('3/0/1'))
      } finally {
        await copy.destroy()
      }
    }
  })

  it('mbutil reads the MBTiles, and makes of our folder an MBTiles file of the same tiles', async function () {
    this.timeout(60000)
    const python = tilesPython()
    if (!python) skip(this, 'TILES_PYTHON names no Python with mbutil')
    const mbutil = path.join(path.dirname(python), 'mb-util')
    await exportLayer(context.store, 'osm', at('a.mbtiles'))
    await exportLayer(context.store, 'osm', at('b'))
    const run = (...args) => {
      const { status, stderr } = spawnSync(python, [mbutil, '--silent', '--image_format=png', '--scheme=xyz', ...args], { encoding: 'utf8' })
      assert.equal(status, 0, stderr)
    }
    run(at('a.mbtiles'), at('from-mbtiles'))
    assertSame(await contentsOf(at('from-mbtiles')), expected())
    const metadata = name => JSON.parse(readFileSync(at(`${name}/metadata.json`), 'utf8'))
    const { agg_tiles_hash: hash, ...said } = metadata('from-mbtiles')
    // mbutil makes texts of all
    assert.deepEqual(said, Object.fromEntries(Object.entries(metadata('b')).map(([name, value]) => [name, String(value)])), 'a folder of ours says the same')
    assert.ok(hash)
    run(at('b'), at('from-folder.mbtiles'))
    assertSame(await contentsOf(at('from-folder.mbtiles')), expected())
  })

  it('leaves nothing beside what was asked for', async () => {
    for (const target of TARGETS) await exportLayer(context.store, 'osm', at(target))
    assert.deepEqual(readdirSync(folder.dir).sort(), [...TARGETS].sort())
    assert.deepEqual(readdirSync(at('out')).sort(), ['.tilecouch.json', '1', '2', '3', '5', 'metadata.json'])
    assert.ok(!existsSync(at('out.part-lock')))
  })
})
