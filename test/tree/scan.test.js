// Comparing trees with a layer while somebody else sees to what changes.
import assert from 'node:assert/strict'
import path from 'node:path'
import { CHUNK, Comparison } from '../../loader/export/tree/comparison.js'
import { useFolder } from '../support/folder.js'

describe('comparing trees with a layer', () => {
  const folder = useFolder()

  /** @param {string[]} places of the store, z/x/y in the order of ids */
  function scan (places) {
    const told = { settled: /** @type {string[]} */ ([]), removed: /** @type {string[]} */ ([]), closed: false }
    const store = {
      async * listTiles () {
        try {
          for (const place of places) {
            const [z, x, y] = place.split('/').map(Number)
            yield { id: `osm:${z}:${x}:${y}`, z, x, y, versions: [] }
          }
        } finally {
          told.closed = true
        }
      }
    }
    const tree = { root: folder.dir, complete: true }
    const settler = {
      async update (tiles, trees, { names }) {
        for (const tile of tiles) {
          told.settled.push(
            `${tile.id} ${(await names(tree, tile)).map(file => path.relative(folder.dir, file))}`.trim()
          )
        }
        return []
      },
      removeUnknown: async file => told.removed.push(path.relative(folder.dir, file))
    }
    return { told, scan: new Comparison(/** @type {any} */ (store),
      'osm', /** @type {any} */ (settler), { trees: () => [tree], check: () => true }) }
  }

  it('finds the files of each tile with any extension, and removes files without a tile', async () => {
    folder.write(
      {
        '5/1/1.png': '', '5/1/1.jpg': '', '5/1/10.png': '', '5/2/1.png': '',
        '5/30/1.png': '', '3/0/0.png': '', '5/1/note': '', 'x/1/1.png': ''
      }
    )
    const { scan: one, told } = scan(['12/0/0', '5/1/1', '5/1/2', '5/2/1', '7/1/1'])
    assert.deepEqual(await one.step(), { done: true, again: [] })
    assert.deepEqual(told.settled,
      ['osm:12:0:0', 'osm:5:1:1 5/1/1.jpg,5/1/1.png', 'osm:5:1:2', 'osm:5:2:1 5/2/1.png', 'osm:7:1:1'])
    assert.deepEqual(told.removed.sort(), ['3/0/0.png', '5/1/10.png', '5/30/1.png'])
  })

  it('skips tiles that were written since it began', async () => {
    folder.write({ '5/1/1.png': '', '5/1/3.png': '', '5/9/9.png': '', '8/1/1.png': '' })
    const { scan: one, told } = scan(['5/1/1', '5/1/2'])
    for (const place of ['5:1:1', '5:1:3', '5:9:9', '8:1:1']) one.touched.add(`osm:${place}`)
    await one.step()
    assert.deepEqual([told.settled, told.removed], [['osm:5:1:2'], []])
  })

  it('continues in a column that is longer than a step, and can be closed', async () => {
    folder.write({ '14/1/5.png': '', [`14/1/${CHUNK + 5}.png`]: '', '14/1/9999.png': '' })
    const rows = Array.from({ length: CHUNK + 10 }, (_, y) => `${y}`).sort().map(y => `14/1/${y}`)
    const { scan: one, told } = scan(rows)
    assert.deepEqual([await one.step(), told.settled.length, told.removed], [{ done: false, again: [] }, CHUNK, []])
    assert.deepEqual([await one.step(), told.settled.length, told.removed],
      [{ done: true, again: [] }, CHUNK + 10, ['14/1/9999.png']])
    const { scan: other, told: less } = scan(rows)
    await other.step()
    await other.close()
    assert.ok(less.closed)
  })
})
