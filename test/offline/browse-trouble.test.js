/* global BrowseCache, IDBDatabase, IDBFactory, IDBObjectStore, blob, at, indexedDB, raw, text, version -- of the page, in functions that run there */
// A cache is never more important than the map: whatever happens to it, the map goes on.
import assert from 'node:assert/strict'
import { onBrowsing } from './support/browsing.js'

describe('what was looked at, in trouble', function () {
  this.timeout(20000)
  const stage = onBrowsing()

  it('makes room on a full device, and leaves that alone when it does not help', async () => {
    const found = await stage.page.evaluate(async () => {
      const cache = new BrowseCache('b')
      for (let x = 0; x < 10; x++) {
        at(1000 + x)
        await cache.put(version(x), blob('x'.repeat(1000)))
      }
      let room = 6500
      let refused = 0
      const { put } = IDBObjectStore.prototype
      IDBObjectStore.prototype.put = function (value, key) {
        if (this.name === 'contents' && (room -= value.data.byteLength) < 0) {
          refused++
          throw new DOMException('full', 'QuotaExceededError')
        }
        return put.call(this, value, key)
      }
      room = 500
      const { delete: remove } = IDBObjectStore.prototype
      IDBObjectStore.prototype.delete = function (key) {
        if (this.name === 'contents') room += 1000
        return remove.call(this, key)
      }
      await cache.put(version(10), blob('x'.repeat(1000)))
      const first = [(await cache.usage()).tiles, Boolean(await cache.get(version(10))), refused]
      room = -1e9
      for (const x of [11, 12, 13]) await cache.put(version(x), blob('x'.repeat(1000)))
      return [first, refused, Boolean(await cache.get(version(10)))]
    })
    assert.deepEqual(found, [[6, true, 1], 3, true], 'half of it goes, once; then nothing is tried for a minute')
  })

  for (const [what, spoil] of Object.entries({
    'that another version made': () => raw('b', db => db.close(), 7),
    'with other things in it': () => raw('b', db => db.close(), 1),
    'that does not open': () => { IDBFactory.prototype.open = function () { throw new DOMException('damaged', 'UnknownError') } },
    'that never answers': () => { IDBFactory.prototype.open = () => /** @type {any} */ ({}) },
    'that is not allowed': () => { Object.defineProperty(globalThis, 'indexedDB', { get () { throw new DOMException('no', 'SecurityError') } }) },
    'that fails whatever it is asked': () => { IDBDatabase.prototype.transaction = () => { throw new DOMException('damaged', 'UnknownError') } },
    'that loses every transaction': () => {
      const { transaction } = IDBDatabase.prototype
      IDBDatabase.prototype.transaction = function (...args) {
        const made = transaction.apply(this, args)
        setTimeout(() => { try { made.abort() } catch { /* it is over */ } })
        return made
      }
    }
  })) {
    it(`may be in a database ${what}: the map goes on`, async () => {
      const found = await stage.page.evaluate(async script => {
        await (0, eval)(`(${script})`)()
        const start = performance.now()
        const cache = new BrowseCache('b')
        await Promise.race([cache.put(version(1), blob('x')), new Promise(resolve => { setTimeout(resolve, 5000) })])
        const isKept = Boolean(await cache.get(version(1)))
        const answers = await Promise.all([cache.head('osm', 9, 5, 7), cache.versions('osm', [{ z: 1, x: 0, y0: 0, y1: 1 }]), cache.fact('osm', 'layer'), cache.places('osm', { z: 9, x: 5, y0: 0, y1: 9 }), cache.usage()])
        await cache.clear()
        await cache.close()
        return [answers.slice(0, 4), answers[4].size, isKept, performance.now() - start]
      }, `${spoil}`)
      assert.deepEqual(found.slice(0, 3), [[undefined, [[]], undefined, []], 50 * 1024 * 1024, what === 'with other things in it'], 'what is of no use is made anew')
      assert.ok(found[3] < 4000, `${found[3]} ms`)
    })
  }

  it('works on after another tab removed it, and is gone when it is destroyed', async () => {
    const other = await stage.visit()
    const found = await stage.page.evaluate(async () => {
      globalThis.cache = new BrowseCache('b')
      await globalThis.cache.put(version(1), blob('x'))
      return text(await globalThis.cache.get(version(1)))
    })
    await other.evaluate(() => new BrowseCache('b').destroy())
    const after = await stage.page.evaluate(async () => {
      const gone = await globalThis.cache.get(version(1)) ?? await globalThis.cache.get(version(1))
      await globalThis.cache.put(version(2), blob('y'))
      const kept = await text(await globalThis.cache.get(version(2)))
      await globalThis.cache.destroy()
      return [gone, kept, await globalThis.cache.get(version(2)), (await indexedDB.databases()).length]
    })
    assert.deepEqual([found, ...after], ['x', undefined, 'y', undefined, 0])
  })
})
