// A move beside other programs: at every few requests of one of them, another does all of its work at once.
import assert from 'node:assert/strict'
import { LayerStatements } from '../../core/store/statements.js'
import { Store, load, moveLayer, removeTiles } from '../../loader/index.js'
import { Couch } from '../../loader/store/couch.js'
import { everyTile, settleAll } from '../../loader/store/settle.js'
import { onEachStore } from '../support/backends.js'
import { memorySource } from '../support/memory-source.js'
import { useStore } from '../support/store.js'
import { png } from '../support/tiles.js'

const T = year => `200${year}-01-01T00:00:00Z`
const YEARS = [1, 2, 3, 4, 5, 6, 7, 8, 9]
const [A, B, C] = [1, 2, 3]
// Requests from one place at which the other program works to the next. The programs send the same requests to both
// stores; CouchDB takes ten times as long to answer them.
const STEPS = { embedded: 7, CouchDB: 21 }

// Every move begins with a layer of these documents under another name: two loads would take as long as the move.
const TEMPLATE = 'layer-of-two-editions'

const isOf = (id, layer) => id.split(/[:@]/).slice(0, 2).includes(layer)

/** A store as one program sees it; `before` is called before each request. */
class Watched extends Couch {
  /** @param {string} url @param {() => Promise<void>} before */
  constructor (url, before) {
    super(url)
    this.before = before
  }

  async request (request) {
    await this.before()
    return super.request(request)
  }
}

onEachStore('a move beside another program', backend => {
  let store, url, from, to, template
  const fill = async (...own) => {
    [store, url] = own
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
    const bytes = await store.at(layer, 1, 0, 0, T(year)).then(found => found.bytes, () => undefined)
    return bytes ? 'ABC'[[A, B, C].findIndex(image => png(image).equals(bytes))] : '-'
  }
  const shown = async layer => (await Promise.all(YEARS.map(year => shownAt(layer, year)))).join('')
  const isLayer = async layer => (await store.layers()).some(found => found.layer === layer)
  /** Documents of a layer, of every kind. */
  const documentsOf = async layer => {
    const { rows } = await store.couch.request({ path: '_all_docs' })
    return rows.map(({ id }) => id).filter(id => isOf(id, layer))
  }
  /** Runs something; `other` is done before the request of that number. Answers false if there are fewer. */
  const beside = async (at, run, other) => {
    let count = 0
    await run(new Store(new Watched(url, async () => {
      if (count++ === at) await other()
    })))
    return count > at
  }
  /** Calls `run` for one place after the other, each with layers of its own, until `run` answers false. */
  const everywhere = async (first, run) => {
    for (let at = first, isDone = true; isDone; at += STEPS[backend.name]) {
      ;[from, to] = [`from${first}-${at}`, `to${first}-${at}`]
      const answers = await store.couch.bulk(JSON.parse(template.replaceAll(TEMPLATE, from)))
      assert.deepEqual(answers.filter(({ error }) => error), [])
      isDone = await run(at)
    }
  }
  /** Moves the layer until that is done. */
  const moveAll = async () => {
    for (let times = 0; times < 3; times++) {
      const { done } = await moveLayer(store, from, to).catch(error => {
        if (!['LAYER_NOT_FOUND', 'LAYER_EXISTS'].includes(error.code)) throw error
        return { done: true } // before, and a layer of its own came after that
      })
      if (done) return
    }
    assert.fail('a move that does not end')
  }

  const others = {
    'an edition that finds every tile unchanged': [() => edition(5, { '1/0/0': B }), 'AABABBBBB'],
    'a complete edition without the tile': [() => edition(5, { '1/1/1': A }, { complete: true }), 'AABA-----'],
    'a single write that finds the tile unchanged': [() => write(5, B), 'AABABBBBB'],
    'a removal': [() => removeTiles(store, from, { since: T(3), until: T(3) }), 'AAAAAAAAA']
  }
  for (const [index, [title, [other, expected]]] of Object.entries(others).entries()) {
    it(`moves ${title} too`, async function () {
      this.timeout(600000)
      await everywhere(index, async at => {
        const about = `request ${at}`
        let refused
        const note = error => { refused = error.code }
        const isDone = await beside(at, one => moveLayer(one, from, to), () => other().catch(note))
        await moveAll()
        // something was written, or found nothing, after the move
        if (!isDone || refused || (await documentsOf(from)).length) return isDone
        await edition(4, { '1/0/0': A }, { layer: to })
        assert.equal(await shown(to), expected, about)
        await settleAll(store.couch, to, everyTile(store.couch, new LayerStatements(store.couch, to)))
        assert.equal(await shown(to), expected, `${about}, settled`)
        return isDone
      })
    })
  }

  it('moves the edition of a load that runs meanwhile, or the load fails with LAYER_GONE', async function () {
    this.timeout(600000)
    await everywhere(4, async at => {
      const about = `request ${at}`
      const tiles = { '1/0/0': B, '1/1/1': C }
      let refused
      const note = error => { refused = error.code }
      const run = one => edition(5, tiles, { into: one }).catch(note)
      const isDone = await beside(at, run, () => moveLayer(store, from, to))
      if (!isDone) return false
      assert.ok([undefined, 'LAYER_GONE'].includes(refused), refused)
      if (refused) {
        assert.equal(await isLayer(from), false, about)
        await edition(5, tiles, { layer: to })
      }
      // unless it was refused, the load was over before the move, or began after it
      const layer = refused || !await isLayer(from) ? to : from
      if (layer === to) await edition(4, { '1/0/0': A }, { layer })
      assert.equal((await shown(layer)).slice(3), layer === to ? 'ABBBBB' : '-BBBBB', about)
      return isDone
    })
  })
})
