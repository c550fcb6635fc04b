import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { exportLayer } from '../../loader/export/index.js'
import { exportHistory } from '../../loader/export/history.js'
import { load } from '../../loader/load/index.js'
import { publish } from '../../loader/couchapp/publish.js'
import { openSource } from '../../loader/load/sources/index.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import {
  EDITIONS, MOMENTS, assertSame, contentsOf, expected, query, shownAt, useLayer, withStore
} from '../support/exports.js'
import { checkArchive } from './pmtiles-archive.js'

const TARGETS = ['out', 'out.mbtiles', 'out.pmtiles']

/** What an archive says that it is called. */
function titleOf (target) {
  if (target.endsWith('.mbtiles')) return query(target, "SELECT value FROM metadata WHERE name = 'name'")[0].value
  if (target.endsWith('.pmtiles')) return checkArchive(target).metadata.name
  return JSON.parse(readFileSync(path.join(target, 'metadata.json'), 'utf8')).name
}

onEachStore('a layer that is exported and loaded again', backend => {
  const folder = useFolder()
  const context = useLayer(backend)
  const at = name => path.join(folder.dir, name)

  async function loadInto (store, target, { scheme = undefined, ...options } = {}) {
    const source = await openSource(target, { scheme })
    try {
      if (options.time) assert.equal(source.time, options.time, 'it says when the map looked like this')
      return await load(store, source, { layer: 'osm', ...options })
    } finally {
      await source.close()
    }
  }

  for (const target of TARGETS) {
    it(`has the right tiles in an export of every time: ${target}`, async function () {
      this.timeout(60000)
      for (const [index, time] of MOMENTS.entries()) {
        const name = at(`${index}${target}`)
        const wanted = expected(time)
        const summary = await exportLayer(context.store, 'osm', name, { time })
        assertSame(await contentsOf(name), wanted, `${target} as of ${time}`)
        assert.equal(titleOf(name), time ? `Streets, ${time.slice(0, 10)}` : 'Streets')
        assert.deepEqual([summary.tiles, summary.written, summary.kept, summary.missing],
          [wanted.size, wanted.size, 0, 0])
        assert.equal(summary.bytes, [...wanted.values()].reduce((sum, bytes) => sum + bytes.length, 0))
        assert.deepEqual(summary.types, { 'image/png': wanted.size })
      }
    })

    it(`has the same history after its exported editions were loaded: ${target}`, async function () {
      this.timeout(60000)
      const summary = await exportHistory(context.store, 'osm', at(target))
      assert.deepEqual(summary.exports.map(({ time }) => time), EDITIONS)
      await withStore(backend, async copy => {
        for (const [index, { target: name }] of summary.exports.entries()) {
          await loadInto(copy, name, { time: EDITIONS[index], complete: true })
        }
        await publish(copy, {})
        for (const time of EDITIONS) {
          const found = new Map()
          for await (const tile of copy.fetch(copy.list('osm', { time }))) {
            found.set(`${tile.z}/${tile.x}/${tile.y}`, tile)
          }
          assertSame(new Map([...found].map(([key, { bytes }]) => [key, bytes])),
            expected(time), `the copy as of ${time}`)
          for (const [key, { time: since }] of shownAt(time)) {
            assert.equal(found.get(key).time, since, `${key} as of ${time}`)
          }
        }
        const { name, attribution, format, tileSize, encoding } = await copy.layer('osm')
        assert.deepEqual([name, attribution, format, tileSize, encoding],
          ['Streets', '© nobody', 'png', 512, 'terrarium'])
      })
    })
  }

  it('is read correctly when rows count from the south in export and load', async () => {
    await exportLayer(context.store, 'osm', at('tms'), { scheme: 'tms' })
    assertSame(await contentsOf(at('tms'), { tms: true }), expected())
    await withStore(backend, async copy => {
      await loadInto(copy, at('tms'), { scheme: 'tms' })
      assert.deepEqual((await copy.head('osm', 3, 0, 1)).bytes, expected().get('3/0/1'))
    })
  })

  it('leaves no files beside the requested targets', async () => {
    for (const target of TARGETS) await exportLayer(context.store, 'osm', at(target))
    assert.deepEqual(readdirSync(folder.dir).sort(), [...TARGETS].sort())
    assert.deepEqual(readdirSync(at('out')).sort(), ['.tilecouch.json', '1', '2', '3', '5', 'metadata.json'])
    assert.ok(!existsSync(at('out.part-lock')))
  })
})
