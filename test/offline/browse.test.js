/* global BrowseCache, T, at, blob, raw, text, version -- of the page, in functions that run there */
// What was looked at, kept in the browser.
import assert from 'node:assert/strict'
import { BrowseCache as InNode } from '../../client/offline/browse-cache.js'
import { onBrowsing } from './support/browsing.js'

describe('what was looked at', function () {
  this.timeout(20000)
  const stage = onBrowsing()

  it('is there again after a reload, with its type, and nothing else is', async () => {
    await stage.page.evaluate(async () => {
      const cache = new BrowseCache('b')
      await cache.put(version(1), blob('one', 'image/webp'))
    })
    await stage.reload()
    const found = await stage.page.evaluate(async () => {
      const cache = new BrowseCache('b')
      const one = await cache.get(version(1))
      const others = [version(2), version(1, { y: 8 }), version(1, { z: 10 }), version(1, { layer: 'os' }), version(1, { time: T(2023) }), version(1, { rev: '1-b' })]
      return [await text(one), one.type, ...await Promise.all(others.map(other => cache.get(other)))]
    })
    assert.deepEqual(found, ['one', 'image/webp', ...Array(6).fill(undefined)])
  })

  it('is there before it is written', async () => {
    const found = await stage.page.evaluate(async () => {
      const cache = new BrowseCache('b')
      const writing = Promise.all([cache.put(version(1), blob('one')), cache.put(version(2), blob('two')), cache.put(version(1), blob('uno'))])
      await 0
      const early = await Promise.all([cache.get(version(1)), cache.head('osm', 9, 2, 7)].map(async one => text(await one)))
      await writing
      return [early, await text(await cache.get(version(1))), (await cache.usage()).tiles]
    })
    assert.deepEqual(found[0].filter(Boolean).sort(), ['two', 'uno'])
    assert.deepEqual(found.slice(1), ['uno', 2])
  })

  it('is the same image when the head of then went to the past', async () => {
    const found = await stage.page.evaluate(async () => {
      const cache = new BrowseCache('b')
      await cache.put(version(1, { rev: '3-head', bytes: 10 }), blob('0123456789'))
      const asked = [{ rev: '1-past', current: false }, { rev: '1-past', content: '3-head', current: false }, { rev: '4-head' }, { rev: '1-past', current: false, bytes: 11 }]
      return Promise.all(asked.map(async more => text(await cache.get(version(1, { bytes: 10, ...more })))))
    })
    assert.deepEqual(found, ['0123456789', '0123456789', undefined, undefined], 'not another head, nor other bytes')
  })

  it('is the image of a digest, where that is known, and not another one of the same time and length', async () => {
    const found = await stage.page.evaluate(async () => {
      const cache = new BrowseCache('b')
      const [right, other] = ['md5-eB5eJF1ptWaXm4bijSPyxw==', 'md5-AAAAAAAAAAAAAAAAAAAAAA==']
      await cache.put(version(1, { rev: '3-head', digest: right }), blob('0123456789'))
      // by an earlier library, which compared nothing
      await cache.put(version(2, { rev: '3-head' }), blob('9876543210'))
      const past = { rev: '1-past', current: false }
      const asked = [version(1, { ...past, digest: right }), version(1, { rev: '5-head', digest: right }), version(1, { ...past, digest: other }), version(1, { rev: '3-head', digest: other })]
      return Promise.all([...asked, version(2, { rev: '3-head', digest: right })].map(async one => text(await cache.get(one))))
    })
    assert.deepEqual(found, ['0123456789', '0123456789', undefined, undefined, undefined])
  })

  it('has the newest image of a place', async () => {
    const heads = await stage.page.evaluate(async () => {
      const cache = new BrowseCache('b')
      const head = async x => {
        const found = await cache.head('osm', 9, x, 7)
        return found && [await text(found), found.version?.time ?? null]
      }
      at(1000)
      await cache.put(version(1, { time: T(2022), current: false }), blob('old'))
      await cache.put(version(1, { time: T(2023) }), blob('newer'))
      await cache.putHead('osm', 9, 2, 7, blob('plain'))
      await cache.put(version(2, { time: T(2024) }), blob('as head before'))
      await cache.putHead('osm', 9, 3, 7, blob('plain'))
      at(2000)
      await cache.putHead('osm', 9, 2, 7, blob('plain again'))
      await cache.put(version(3, { time: T(2021), current: false }), blob('past, looked at later'))
      const first = [await head(1), await head(2), await head(3), await head(4)]
      at(3000)
      await cache.put(version(3, { time: T(2025) }), blob('head'))
      return [...first, await head(3)]
    })
    assert.deepEqual(heads, [['newer', '2023-01-01T00:00:00Z'], ['plain again', null], ['plain', null], undefined, ['head', '2025-01-01T00:00:00Z']])
  })

  it('goes when there is too much, what was not used for longest first', async () => {
    const [kept, usage] = await stage.page.evaluate(async () => {
      const cache = new BrowseCache('b', { size: 10000 })
      for (let x = 0; x < 10; x++) {
        at(1000 + x)
        await cache.put(version(x), blob('x'.repeat(1000)))
      }
      at(2000)
      for (const x of [0, 3]) await cache.get(version(x))
      await cache.put(version(10), blob('x'.repeat(1000)))
      return [(await Promise.all([...Array(11).keys()].map(async x => [x, await cache.get(version(x))]))).filter(([, found]) => found).map(([x]) => x), await cache.usage()]
    })
    assert.deepEqual(kept, [0, 3, 4, 5, 6, 7, 8, 9, 10].slice(kept.length === 9 ? 0 : 1))
    assert.deepEqual(usage, { bytes: 9000, tiles: 9, size: 10000, layers: { osm: { bytes: 9000, tiles: 9 } } })
  })

  it('remembers over a reload what was used', async () => {
    await stage.page.evaluate(async () => {
      const cache = new BrowseCache('b', { size: 3000 })
      at(1000)
      await cache.put(version(1), blob('x'.repeat(1000)))
      at(2000)
      await cache.put(version(2), blob('x'.repeat(1000)))
      at(3000)
      await cache.get(version(1))
      await cache.close()
    })
    await stage.reload()
    const kept = await stage.page.evaluate(async () => {
      const cache = new BrowseCache('b', { size: 3000 })
      await cache.put(version(3), blob('x'.repeat(1500)))
      return Promise.all([1, 2, 3].map(async x => Boolean(await cache.get(version(x)))))
    })
    assert.deepEqual(kept, [true, false, true])
  })

  it('counts right with several tabs, and leaves out what is larger than all of it', async () => {
    const tabs = [stage.page, await stage.visit(), await stage.visit()]
    await Promise.all(tabs.map((tab, from) => tab.evaluate(async start => {
      const cache = new BrowseCache('b', { size: 20000 })
      await Promise.all([...Array(30).keys()].map(async x => {
        if (x % 7 === 3) await new Promise(resolve => { setTimeout(resolve) }) // some in transactions of their own
        await cache.put(version(x % 2 ? x : x + 100 * start), blob('x'.repeat(1000)))
      }))
      await cache.put(version(99), blob('x'.repeat(20001)))
    }, from)))
    const [{ bytes, tiles }, stored] = await stage.page.evaluate(async () => {
      const usage = await new BrowseCache('b').usage()
      return [usage, await raw('b', db => new Promise(resolve => {
        const request = db.transaction('entries').objectStore('entries').getAll()
        request.onsuccess = () => { resolve(request.result.map(entry => entry.bytes)) }
      }))]
    })
    assert.deepEqual([bytes, tiles], [stored.reduce((sum, each) => sum + each, 0), stored.length])
    assert.ok(bytes <= 20000 && bytes > 10000, `${bytes}`)
  })

  it('knows which versions there were, where they were asked for', async () => {
    const found = await stage.page.evaluate(async () => {
      const cache = new BrowseCache('b')
      const list = (z, x, rows) => rows.map(y => ({ ...version(x), z, y, content: 'noted by a layer' }))
      await cache.putVersions('osm', [{ z: 9, x: 1, y0: 4, y1: 11 }, { z: 1, x: 0, y0: 0, y1: 1 }, { z: 9, x: 2, y0: 4, y1: 6 }],
        [list(9, 1, [4, 4, 7, 9]), list(1, 0, [1]), list(9, 2, [5])])
      await cache.putVersions('osm', [{ z: 9, x: 1, y0: 8, y1: 11 }], [list(9, 1, [10])])
      const answers = await cache.versions('osm', [{ z: 9, x: 1, y0: 5, y1: 11 }, { z: 1, x: 0, y0: 0, y1: 1 }, { z: 9, x: 2, y0: 4, y1: 7 }, { z: 9, x: 3, y0: 0, y1: 3 }])
      return [answers.map(rows => rows.map(({ y }) => y)), Object.keys(answers[0][0]), (await cache.usage()).tiles]
    })
    assert.deepEqual(found[0], [[7, 10], [1], [], []], 'a block that is not whole is not known')
    assert.deepEqual(found[1], ['layer', 'z', 'x', 'y', 'time', 'rev', 'bytes', 'gone', 'current', 'expires'])
    assert.equal(found[2], 0)
  })

  it('is told by rows and by layers, and is forgotten layer by layer', async () => {
    const found = await stage.page.evaluate(async () => {
      const cache = new BrowseCache('b')
      for (const y of [3, 11, 12, 2, 100]) await cache.put(version(1, { y }), blob('x'))
      await cache.put(version(1, { y: 3, time: T(2020) }), blob('x'))
      await cache.putHead('topo', 9, 1, 4, blob('xyz'))
      await cache.putFact('topo', 'layer', { name: 'Topo' })
      const column = { z: 9, x: 1, y0: 3, y1: 12 }
      const before = [await cache.places('osm', column), await cache.places('topo', column), await cache.layers(), (await cache.usage()).layers]
      await cache.clear('osm')
      const after = [await cache.places('osm', column), await cache.layers(), await cache.fact('topo', 'layer'), (await cache.usage()).tiles]
      await cache.clear()
      return [before, after, await cache.usage(), await cache.head('topo', 9, 1, 4)]
    })
    assert.deepEqual(found[0], [[3, 11, 12], [4], ['osm', 'topo'], { osm: { bytes: 6, tiles: 6 }, topo: { bytes: 18, tiles: 1 } }])
    assert.deepEqual(found[1], [[], ['topo'], { name: 'Topo' }, 1])
    assert.deepEqual(found.slice(2), [{ bytes: 0, tiles: 0, size: 50 * 1024 * 1024, layers: {} }, undefined])
  })

  it('keeps what is known of a layer as long as its tiles, also when those are forgotten and looked at again', async () => {
    const found = await stage.page.evaluate(async () => {
      const cache = new BrowseCache('b', { size: 5000 })
      at(1000)
      await cache.putFact('osm', 'layer', { name: 'OSM' })
      at(2000)
      for (let x = 0; x < 20; x++) await cache.put(version(x), blob('x'.repeat(1000)))
      const kept = await cache.fact('osm', 'layer')
      await cache.clear()
      const gone = [await cache.fact('osm', 'layer'), await cache.layers()]
      await cache.put(version(1), blob('x'))
      return [kept, ...gone, await cache.fact('osm', 'layer'), (await cache.usage()).tiles]
    })
    assert.deepEqual(found, [{ name: 'OSM' }, undefined, [], { name: 'OSM' }, 1])
  })

  it('is nothing of a layer that may not be kept', async () => {
    const found = await stage.page.evaluate(async () => {
      const cache = new BrowseCache('b')
      await cache.put(version(1), blob('x'))
      await cache.putFact('osm', 'layer', { name: 'OSM', offline: false })
      const gone = await cache.get(version(1))
      await cache.put(version(1), blob('x'))
      await cache.putVersions('osm', [{ z: 1, x: 0, y0: 0, y1: 1 }], [[]])
      const forbidden = [gone, await cache.get(version(1)), await cache.layers()]
      await cache.putFact('osm', 'layer', { name: 'OSM' })
      await cache.put(version(1), blob('x'))
      return [forbidden, await text(await cache.get(version(1)))]
    })
    assert.deepEqual(found, [[undefined, undefined, []], 'x'])
  })

  it('is not in Node, and says so; nor with a size that is none', async () => {
    assert.throws(() => new InNode('b'), { code: 'BAD_OPTION', message: /only browsers have/ })
    for (const size of [0, -1, Infinity, NaN, 'much']) assert.throws(() => new InNode('b', { size: /** @type {any} */ (size) }), { code: 'BAD_OPTION', message: /bytes/ })
  })
})
