// The parts of tree exports: operations on files, the plan of trees and links, the comparison with a layer, and
// following from a stored position.
import assert from 'node:assert/strict'
import { linkSync, mkdirSync, readFileSync, readdirSync, readlinkSync,
  rmSync, statSync, symlinkSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { canContinue, feedPosition } from '../../core/feed-position.js'
import { parseArea } from '../../loader/index.js'
import { Follower } from '../../loader/store/follow.js'
import { Changes, readChanges } from '../../loader/export/tree/changes.js'
import { CHUNK, Comparison } from '../../loader/export/tree/comparison.js'
import { Files, prune } from '../../loader/export/tree/files.js'
import { readColumn } from '../../loader/formats/names.js'
import { Paths } from '../../loader/export/tree/paths.js'
import { isWrongAfter, periodsOf, treeTimes } from '../../loader/export/tree/trees.js'
import { readState, selectionOf, writeState } from '../../loader/export/tree/state.js'
import { until } from '../../bench/wait.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { useStore } from '../support/store.js'
import { tile } from '../support/trees.js'

describe('files of trees', () => {
  const folder = useFolder()
  let files
  beforeEach(() => {
    mkdirSync(folder.path('tmp'))
    files = new Files(folder.path('tmp'), folder.dir)
  })
  it('are not written, linked or removed through symbolic links', async () => {
    for (const [link, target] of [['osm', 'osm/3/1/1.png'], ['osm/3', 'osm/3/1/1.png'], ['osm/3/1', 'osm/3/1/1.png']]) {
      files = new Files(folder.path('tmp'), folder.dir)
      const otherFiles = ['theirs/3/1/1.png', 'theirs/1/1.png', 'theirs/1.png']
      folder.write({ ...Object.fromEntries(otherFiles.map(name => [name, 'theirs'])), 'osm@2024/3/1/1.png': '' })
      mkdirSync(path.dirname(folder.path(link)), { recursive: true })
      symlinkSync(folder.path('theirs'), folder.path(link))
      const rejects = action => assert.rejects(action, { code: 'TARGET_UNWRITABLE', message: /it is a link/ }, link)
      const file = await files.write(Buffer.from('ours'), '2024-01-01T00:00:00Z')
      await rejects(files.move(file, folder.path(target)))
      await rejects(files.link(file, folder.path(target)))
      await rejects(files.remove(folder.path(target), folder.path('osm')))
      for (const name of otherFiles) assert.equal(readFileSync(folder.path(name), 'utf8'), 'theirs')
      rmSync(folder.path('osm'), { recursive: true })
      unlinkSync(file)
    }
    nothingLeft()
  })
  const nothingLeft = () => assert.deepEqual(readdirSync(folder.path('tmp')), [])

  it('are written to a temporary folder and moved into place, with the time of their version', async () => {
    for (const time of ['1935-05-05T00:00:00Z', '1970-01-01T00:00:00Z', '2024-03-01T00:00:00Z',
      '2099-01-01T00:00:00Z']) {
      const file = await files.write(Buffer.from(time), time)
      assert.equal(path.dirname(file), folder.path('tmp'))
      await files.move(file, folder.path('a/5/1/1.png'))
      assert.equal(readFileSync(folder.path('a/5/1/1.png'), 'utf8'), time)
      assert.equal(statSync(folder.path('a/5/1/1.png')).mtimeMs, Date.parse(time))
      assert.equal(statSync(folder.path('a/5/1/1.png')).mode & 0o777, 0o644 & ~process.umask())
    }
    nothingLeft()
  })

  it('are linked to a new place, over another file, where they are linked already, and over a link', async () => {
    folder.write({ 'a/1.png': 'one', 'b/1.png': 'two' })
    for (const target of ['c/5/1/1.png', 'b/1.png', 'b/1.png', 'a/1.png']) {
      assert.equal(await files.link(folder.path('a/1.png'), folder.path(target)), true)
      assert.equal(statSync(folder.path(target)).ino, statSync(folder.path('a/1.png')).ino)
    }
    nothingLeft()
    for (const to of ['one', 'two', 'two']) {
      await files.symlink(to, folder.path('link'))
      assert.equal(readlinkSync(folder.path('link')), to)
    }
    nothingLeft()
  })

  it('are copied, with their time, when a file has too many links', async () => {
    folder.write({ 'a/1.png': 'one' })
    utimesSync(folder.path('a/1.png'), new Date('2024-03-01T00:00:00Z'), new Date('2024-03-01T00:00:00Z'))
    mkdirSync(folder.path('many'))
    let links = 1
    try {
      for (; links < 70000; links++) linkSync(folder.path('a/1.png'), folder.path(`many/${links}`))
    } catch (error) {
      assert.equal(error.code, 'EMLINK')
    }
    if (links === 70000) return // this file system has no such limit
    assert.equal(await files.link(folder.path('a/1.png'), folder.path('b/1.png')), false)
    assert.equal(readFileSync(folder.path('b/1.png'), 'utf8'), 'one')
    assert.equal(statSync(folder.path('b/1.png')).mtimeMs, Date.parse('2024-03-01T00:00:00Z'))
    nothingLeft()
  }).timeout(60000)

  it('are removed together with the folders that become empty', async () => {
    folder.write({ 'a/5/1/1.png': '', 'a/5/2/1.png': '', 'a/5/2/note': '' })
    await files.remove(folder.path('a/5/1/1.png'), folder.path('a'))
    await files.remove(folder.path('a/5/2/1.png'), folder.path('a'))
    await files.remove(folder.path('a/5/2/1.png'), folder.path('a'))
    assert.deepEqual(readdirSync(folder.path('a/5')), ['2'])
    await files.remove(folder.path('a/5/2/note'), folder.path('a'))
    assert.deepEqual(readdirSync(folder.path('a')), [])
    await prune(folder.path('a'), folder.path('a'))
    assert.deepEqual(readdirSync(folder.path('a')), [])
  })

  it('arrive in a folder that is emptied at the same time', async () => {
    for (let round = 0; round < 50; round++) {
      const file = await files.write(Buffer.from('x'), '2024-03-01T00:00:00Z')
      folder.write({ 'a/5/1/0.png': '' })
      const [tree, moved, removed] = ['a', 'a/5/1/1.png', 'a/5/1/0.png'].map(name => folder.path(name))
      await Promise.all([files.move(file, moved), files.remove(removed, tree)])
      assert.deepEqual(readdirSync(folder.path('a/5/1')), ['1.png'])
      await files.remove(moved, tree)
    }
  })
})

describe('the plan of trees', () => {
  const [A, B, C] = ['2023-03-01T00:00:00Z', '2023-03-01T12:00:00Z', '2024-01-01T00:00:00Z']

  it('has a tree for each finished edition, and keeps the existing trees of editions', () => {
    const editions = [{ time: C, finished: C }, { time: A }, { time: B, finished: B }]
    assert.deepEqual(treeTimes(editions, []), [B, C])
    assert.deepEqual(treeTimes(editions, [A, '2000-01-01T00:00:00Z']), [A, B, C])
  })

  it('links each period to its last edition', () => {
    assert.deepEqual(Object.fromEntries(periodsOf([A, B, C]).map(({ name, time }) => [name, time])), {
      2023: B, '2023-03': B, '2023-03-01': B, 2024: C, '2024-01': C, '2024-01-01': C
    })
  })

  it('unlinks a period after a later change in it', () => {
    const [period] = periodsOf([A])
    assert.deepEqual([A, '2023-03-01T00:00:01Z', '2023-12-31T23:59:59Z', '2024-01-01T00:00:00Z',
      '2022-12-31T00:00:00Z'].map(time => isWrongAfter(time, period)), [false, true, true, false, false])
  })
})

describe('the state of trees', () => {
  const folder = useFolder()

  it('is read as it was written, ignored when it is damaged, and distinguishes selections', async () => {
    const file = folder.path('osm.json')
    const state = { place: { since: '5-x', identity: '1' }, whole: true, selection: 'all', store: '', boot: 'b' }
    assert.equal(await readState(file), undefined)
    await writeState(file, state, folder.dir)
    assert.deepEqual(await readState(file), state)
    for (const text of ['', '{', 'null', '{}', '{"place":null}', '[]', '{"place":{"since":"1"}}']) {
      writeFileSync(file, text)
      assert.equal(await readState(file), undefined, text)
    }
    const triangle =
      east => parseArea({ polygon: { type: 'Polygon', coordinates: [[[0, 0], [east, 0], [0, 10], [0, 0]]] } })
    const texts = [{}, { zooms: { min: 0, max: 5 } }, { area: triangle(10) }, { area: triangle(11) },
      { area: parseArea({ bbox: '0,0,10,10' }) }].map(selection => selectionOf({ ...selection, editions: true }))
    assert.equal(new Set(texts).size, texts.length)
    assert.equal(selectionOf({ area: triangle(10), editions: true }), texts[2])
  })

  it('includes only the trees and tile files of its layer', async () => {
    folder.write({
      'osm/5/1/1.png': '', 'osm@2024-01-01T00:00:00Z/x': '', 'osm-x/5': '',
      'osm@backup/x': '', 'osmose@2024-01-01T00:00:00Z/x': ''
    })
    assert.deepEqual(await new Paths(folder.dir, 'osm').look(),
      { present: true, trees: ['2024-01-01T00:00:00Z'], links: [] })
    const names = ['1.png', '1.jpg', '01.png', '2.PNG', '3.png.bak', '.png', '4.txt', '12.pbf']
    folder.write(Object.fromEntries(names.map(name => [`osm/6/1/${name}`, ''])))
    const column = folder.path('osm/6/1')
    assert.deepEqual(await readColumn(column), new Map([
      [1, [path.join(column, '1.jpg'), path.join(column, '1.png')]], [12, [path.join(column, '12.pbf')]]
    ]))
  })

  it('remembers a limited number of changed tiles, and that there were more', () => {
    const changes = new Changes('osm', { selected: z => z === 5, most: 3 })
    for (const id of ['osm:5:1:1', 'osm:5:1:1@2024-01-01T00:00:00Z',
      'osm:6:1:1', 'other:5:1:1', 'osm:5:1:x', 'layer:osm', 'edition:other@2024-01-01T00:00:00Z']) changes.add(id)
    assert.deepEqual([...changes.tiles], [['osm:5:1:1', { times: ['2024-01-01T00:00:00Z'], deleted: false }]])
    assert.ok(!changes.editions && !changes.overflow)
    changes.add('osm:5:1:1', true)
    for (const id of ['osm:5:1:2', 'osm:5:1:3', 'osm:5:1:4', 'edition:osm@2024-01-01T00:00:00Z']) changes.add(id)
    const taken = changes.take()
    assert.deepEqual([taken.tiles.size, taken.overflow, taken.editions,
      taken.tiles.get('osm:5:1:1').deleted, changes.any], [3, true, true, true, false])
    changes.restore(taken)
    assert.ok(changes.any && changes.overflow && changes.editions)
  })
})

describe('comparing trees with a layer', () => {
  const folder = useFolder()

  /** @param {string[]} places tiles of the store, z/x/y in the order of ids */
  function scan (places) {
    const log = { settled: [], removed: [], closed: false }
    const store = {
      async * listTiles () {
        try {
          for (const place of places) {
            const [z, x, y] = place.split('/').map(Number)
            yield { id: `osm:${z}:${x}:${y}`, z, x, y, versions: [] }
          }
        } finally {
          log.closed = true
        }
      }
    }
    const tree = { root: folder.dir, complete: true }
    const settler = {
      async update (tiles, trees, { names }) {
        for (const entry of tiles) {
          const files = (await names(tree, entry)).map(file => path.relative(folder.dir, file))
          log.settled.push(`${entry.id} ${files}`.trim())
        }
        return []
      },
      removeUnknown: async file => log.removed.push(path.relative(folder.dir, file))
    }
    return { told: log, scan: new Comparison(store, 'osm', settler, { trees: () => [tree], check: () => true }) }
  }

  it('finds the files of each tile with any extension, and removes files without a tile', async () => {
    folder.write({
      '5/1/1.png': '', '5/1/1.jpg': '', '5/1/10.png': '', '5/2/1.png': '',
      '5/30/1.png': '', '3/0/0.png': '', '5/1/note': '', 'x/1/1.png': ''
    })
    const { scan: comparison, told: log } = scan(['12/0/0', '5/1/1', '5/1/2', '5/2/1', '7/1/1'])
    assert.deepEqual(await comparison.step(), { done: true, again: [] })
    assert.deepEqual(log.settled,
      ['osm:12:0:0', 'osm:5:1:1 5/1/1.jpg,5/1/1.png', 'osm:5:1:2', 'osm:5:2:1 5/2/1.png', 'osm:7:1:1'])
    assert.deepEqual(log.removed.sort(), ['3/0/0.png', '5/1/10.png', '5/30/1.png'])
  })

  it('skips tiles that were written since it began', async () => {
    folder.write({ '5/1/1.png': '', '5/1/3.png': '', '5/9/9.png': '', '8/1/1.png': '' })
    const { scan: comparison, told: log } = scan(['5/1/1', '5/1/2'])
    for (const place of ['5:1:1', '5:1:3', '5:9:9', '8:1:1']) comparison.touched.add(`osm:${place}`)
    await comparison.step()
    assert.deepEqual([log.settled, log.removed], [['osm:5:1:2'], []])
  })

  it('continues in a column that is longer than a step, and can be closed', async () => {
    folder.write({ '14/1/5.png': '', [`14/1/${CHUNK + 5}.png`]: '', '14/1/9999.png': '' })
    const rows = Array.from({ length: CHUNK + 10 }, (_, y) => `${y}`).sort().map(y => `14/1/${y}`)
    const { scan: comparison, told: log } = scan(rows)
    assert.deepEqual([await comparison.step(), log.settled.length, log.removed],
      [{ done: false, again: [] }, CHUNK, []])
    assert.deepEqual([await comparison.step(), log.settled.length, log.removed],
      [{ done: true, again: [] }, CHUNK + 10, ['14/1/9999.png']])
    const { scan: otherComparison, told: otherLog } = scan(rows)
    await otherComparison.step()
    await otherComparison.close()
    assert.ok(otherLog.closed)
  })
})

const T = '2022-03-01T00:00:00Z'

onEachStore('a position in the change feed', backend => {
  let store, follower, events
  const follow = async position => {
    events = { ids: [], resets: [] }
    follower = new Follower(store, {
      position, onChange: ({ id }) => events.ids.push(id), onReset: () => events.resets.push(follower.isAnchored)
    })
    await follower.start()
    await until(() => follower.state.up)
  }
  const untilHeard = id => until(() => events.ids.includes(id))
  const currentPosition = async () => feedPosition(await store.info())

  afterEach(() => follower?.close())
  useStore(backend, { fill: openedStore => { store = openedStore; return store.write([tile(1, 1, T, 1)]) } })

  it('is continued with the changes since then only, without a reset', async () => {
    const position = await currentPosition()
    await store.write([tile(2, 2, T, 2)])
    await follow(position)
    await untilHeard('osm:5:2:2')
    assert.deepEqual([events.ids, events.resets], [['osm:5:2:2'], []])
    const laterPosition = follower.position
    assert.ok(canContinue(position, laterPosition) && !canContinue(laterPosition, position))
    await follower.close()
    await store.write([tile(3, 3, T, 3)])
    await follow(laterPosition)
    await untilHeard('osm:5:3:3')
    assert.deepEqual(events.ids, ['osm:5:3:3'])
  })

  it('leads to a reset if it is of another database or ahead, and can be used without following', async () => {
    const position = await currentPosition()
    for (const badPosition of [{ ...position, identity: 'another' }, { ...position, since: '999999999-x' }]) {
      await follow(badPosition)
      assert.deepEqual(events.resets, [false, true])
      assert.equal(follower.position.identity, position.identity)
      await follower.close()
    }
    await store.write([tile(2, 2, T, 2), tile(3, 3, T, 3)])
    const ids = []
    const since = await readChanges(store.couch, position.since, { onChange: id => ids.push(id) })
    assert.deepEqual(ids.sort(), ['osm:5:2:2', 'osm:5:3:3'])
    await readChanges(store.couch, since, { onChange: id => ids.push(id) })
    assert.equal(ids.length, 2)
  })
})
