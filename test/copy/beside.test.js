// A move during the work of other programs: at every few requests of one program, another one does all of its work.
import assert from 'node:assert/strict'
import { LayerStatements } from '../../core/store/statements.js'
import { load, moveLayer, removeTiles } from '../../loader/index.js'
import { everyTile, settleAll } from '../../loader/store/settle.js'
import { onEachStore } from '../support/backends.js'
import { memorySource } from '../support/memory-source.js'
import { runBeside } from '../support/removals.js'
import { useStore } from '../support/store.js'
import { png, seedOf } from '../support/tiles.js'

const T = year => `200${year}-01-01T00:00:00Z`
const YEARS = [1, 2, 3, 4, 5, 6, 7, 8, 9]
const [A, B, C] = [1, 2, 3]
// Number of requests between two places at which the other program works. Both stores get the same requests; CouchDB
// needs ten times as long to answer them.
const STEPS = { embedded: 7, CouchDB: 21 }

// Every move begins with a copy of these documents under another name: two loads would take as long as the move.
const TEMPLATE = 'layer-of-two-editions'

const isOf = (id, layer) => id.split(/[:@]/).slice(0, 2).includes(layer)

onEachStore('a move beside another program', backend => {
  let store, url, from, to, template
  const fill = async (...opened) => {
    [store, url] = opened
    await edition(1, { '1/0/0': A, '1/1/1': A }, { layer: TEMPLATE })
    await edition(3, { '1/0/0': B, '1/1/1': B }, { layer: TEMPLATE })
    const { rows } = await store.couch.request({ path: '_all_docs', qs: { include_docs: true, attachments: true } })
    template = JSON.stringify(rows.filter(({ id }) => isOf(id, TEMPLATE)).map(({ doc: { _rev, ...doc } }) => doc))
  }
  useStore(backend, { once: true, published: true, fill })

  const edition = (year, tiles, { into = store, layer = from, ...options } = {}) =>
    load(into, memorySource(tiles), { layer, time: T(year), ...options })
  const write = (year, image) => store.write([{ layer: from, z: 1, x: 0, y: 0, time: T(year), bytes: png(image) }])
  const shownAt = async (layer, year) => {
    const bytes = await store.at(layer, 1, 0, 0, T(year)).then(version => version.bytes, () => undefined)
    return bytes ? ' ABC'[seedOf(bytes)] : '-'
  }
  const shownYears = async layer => (await Promise.all(YEARS.map(year => shownAt(layer, year)))).join('')
  const isLayer = async layer => (await store.layers()).some(layerDoc => layerDoc.layer === layer)
  /** The ids of all documents of a layer. */
  const documentsOf = async layer => {
    const { rows } = await store.couch.request({ path: '_all_docs' })
    return rows.map(({ id }) => id).filter(id => isOf(id, layer))
  }
  /** Calls `run` for one place after the other, each with new layers, until `run` returns false. */
  const everywhere = async (first, run) => {
    for (let position = first, isDone = true; isDone; position += STEPS[backend.name]) {
      ;[from, to] = [`from${first}-${position}`, `to${first}-${position}`]
      const answers = await store.couch.bulk(JSON.parse(template.replaceAll(TEMPLATE, from)))
      assert.deepEqual(answers.filter(({ error }) => error), [])
      isDone = await run(position)
    }
  }
  /** Moves the layer until the move is done. */
  const moveAll = async () => {
    for (let times = 0; times < 3; times++) {
      const { done } = await moveLayer(store, from, to).catch(error => {
        if (!['LAYER_NOT_FOUND', 'LAYER_EXISTS'].includes(error.code)) throw error
        return { done: true } // already moved, and the other program then created a new layer
      })
      if (done) return
    }
    assert.fail('a move that does not end')
  }

  const otherWork = {
    'an edition that finds every tile unchanged': [() => edition(5, { '1/0/0': B }), 'AABABBBBB'],
    'a complete edition without the tile': [() => edition(5, { '1/1/1': A }, { complete: true }), 'AABA-----'],
    'a single write that finds the tile unchanged': [() => write(5, B), 'AABABBBBB'],
    'a removal': [() => removeTiles(store, from, { since: T(3), until: T(3) }), 'AAAAAAAAA']
  }
  for (const [index, [title, [other, expected]]] of Object.entries(otherWork).entries()) {
    it(`moves ${title} too`, async function () {
      this.timeout(600000)
      await everywhere(index, async position => {
        const about = `request ${position}`
        let refused
        const note = error => { refused = error.code }
        const isDone = await runBeside(url, position, target => moveLayer(target, from, to), () => other().catch(note))
        await moveAll()
        // the other program wrote after the move, or found no layer
        if (!isDone || refused || (await documentsOf(from)).length) return isDone
        await edition(4, { '1/0/0': A }, { layer: to })
        assert.equal(await shownYears(to), expected, about)
        await settleAll(store.couch, to, everyTile(store.couch, new LayerStatements(store.couch, to)))
        assert.equal(await shownYears(to), expected, `${about}, settled`)
        return isDone
      })
    })
  }

  it('moves the edition of a load that runs meanwhile, or the load fails with LAYER_GONE', async function () {
    this.timeout(600000)
    await everywhere(4, async position => {
      const about = `request ${position}`
      const tiles = { '1/0/0': B, '1/1/1': C }
      let refused
      const note = error => { refused = error.code }
      const run = target => edition(5, tiles, { into: target }).catch(note)
      const isDone = await runBeside(url, position, run, () => moveLayer(store, from, to))
      if (!isDone) return false
      assert.ok([undefined, 'LAYER_GONE'].includes(refused), refused)
      if (refused) {
        assert.equal(await isLayer(from), false, about)
        await edition(5, tiles, { layer: to })
      }
      // unless it was refused, the load ended before the move, or began after it
      const layer = refused || !await isLayer(from) ? to : from
      if (layer === to) await edition(4, { '1/0/0': A }, { layer })
      assert.equal((await shownYears(layer)).slice(3), layer === to ? 'ABBBBB' : '-BBBBB', about)
      return isDone
    })
  })
})
