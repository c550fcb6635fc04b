// Selections as CouchDB's replicator is told them: held against the selections themselves, id by id.
import assert from 'node:assert/strict'
import { parseArea } from '../../core/index.js'
import { Selection } from '../../core/mirror/index.js'
import { digitsBetween } from '../../loader/mirror/digits.js'
import { mangoOf } from '../../loader/mirror/selector.js'
import { compileSelector } from '../../server/embedded/selector.js'
import { Couch } from '../../loader/store/couch.js'
import { changesAfter } from '../../loader/mirror/scheduler.js'
import { onEachStore, request } from '../support/backends.js'
import { seeded } from '../loader/helpers.js'

const PAST = '@2023-06-01T00:00:00Z'
const OTHERS = [
  'tilecouch', 'tilecouch2', 'layer:osm', 'layer:osm2', 'layer:sat', 'edition:osm@2023-06-01T00:00:00Z', 'edition:sat@2023-06-01T00:00:00Z', 'edition:osm2@2023-06-01T00:00:00Z',
  '_design/tiles', '_design/osm:1:0:0', 'foreign', 'osm', 'osm:', 'osm:1', 'osm:1:0', 'osm:1:0:0:0', 'osm:1:0:0@', 'osm:1:0:0@2023', 'osm:01:0:0', 'osm:1:00:0', 'Osm:1:0:0', 'layer:1:0:0', 'edition:1:0:0', 'osm2:1:0:0', 'xosm:1:0:0', 'osm:1:0:0 ', 'osm:31:0:0'
]

/** Ids of tiles around everything a selection could have an edge at. */
function tiles (random) {
  const ids = []
  for (const layer of ['osm', 'sat', 'osm2']) {
    for (let count = 0; count < 100; count++) {
      const z = Math.floor(random() * 14)
      const id = `${layer}:${z}:${Math.floor(random() * 2 ** z)}:${Math.floor(random() * 2 ** z)}`
      ids.push(id, `${id}${PAST}`)
    }
  }
  return ids
}

describe('digits of a range', () => {
  it('stand for the numbers of the range and for no other', () => {
    const ends = [0, 1, 2, 8, 9, 10, 11, 19, 20, 55, 98, 99, 100, 101, 109, 110, 199, 200, 555, 999, 1000, 1001]
    for (const low of ends) {
      for (const high of ends.filter(end => end >= low)) {
        const whole = new RegExp(`^${digitsBetween(low, high)}$`)
        for (let number = 0; number <= 1100; number++) assert.equal(whole.test(`${number}`), number >= low && number <= high, `${number} in ${low} to ${high}: ${whole}`)
      }
    }
  })

  it('stay short where numbers are long', () => {
    const text = digitsBetween(123456789, 987654321)
    assert.ok(text.length < 300, `${text.length}`)
    const whole = new RegExp(`^${text}$`)
    for (const [number, inside] of [[123456788, false], [123456789, true], [500000000, true], [987654321, true], [987654322, false], [12345678, false], [1234567890, false]]) assert.equal(whole.test(`${number}`), inside, `${number}`)
  })
})

describe('a selection as a selector', () => {
  const choices = {
    layers: [undefined, ['osm'], ['osm', 'sat'], ['osm2']],
    bbox: [undefined, '5.9,45.8,10.5,47.8', '-180,-90,180,90', '170,-20,-170,20', '-0.1,-0.1,0.1,0.1'],
    zooms: [undefined, { min: 0, max: 0 }, { min: 3, max: 11 }, { min: 12, max: 30 }],
    current: [undefined, true]
  }

  it('takes what the selection takes, whatever that is', () => {
    const random = seeded(7)
    const ids = [...OTHERS, ...tiles(random)]
    for (const layers of choices.layers) {
      for (const bbox of choices.bbox) {
        for (const zooms of choices.zooms) {
          for (const current of choices.current) {
            const selection = new Selection({ layers, area: bbox ? parseArea({ bbox }) : undefined, zooms, current })
            const takes = compileSelector(mangoOf(selection))
            const wrong = ids.filter(_id => takes({ _id }) !== selection.has(_id))
            assert.deepEqual(wrong, [], selection.key)
          }
        }
      }
    }
  })

  it('refuses what a selector cannot tell, and says what can', () => {
    const polygon = { type: 'Polygon', coordinates: [[[6, 46], [10, 46], [8, 47], [6, 46]]] }
    const refuses = (wanted, why) => assert.throws(() => mangoOf(new Selection(wanted)), error => {
      assert.equal(error.code, 'REPLICATOR_CANNOT')
      assert.match(error.message, why)
      assert.match(error.advice, /Leave out --replicator/)
      return true
    })
    refuses({ area: parseArea({ polygon }) }, /cannot take a polygon/)
    refuses({ since: '2023' }, /cannot leave out the past before a time/)
    refuses({ layers: Array.from({ length: 1000 }, (_, index) => `layer-number-${index}`) }, /cannot select so much/)
  })
})

onEachStore('the selector', backend => {
  it('lets deletions of what is selected pass, which one of fields would drop', async () => {
    const url = await backend.database()
    await request(url, { method: 'PUT' })
    const couch = new Couch(url)
    const docs = ['osm:5:1:1', 'osm:5:30:1', 'sat:5:1:1'].map(_id => ({ _id, layer: _id.slice(0, 3), z: 5 }))
    for (const doc of docs) await couch.put(doc)
    const selector = mangoOf(new Selection({ layers: ['osm'], area: parseArea({ bbox: '-180,-85,-100,85' }), zooms: { min: 5, max: 5 } }))
    const idsWith = async wanted => (await couch.request({ method: 'POST', path: '_changes', qs: { filter: '_selector', style: 'all_docs' }, body: { selector: wanted } })).results.map(({ id }) => id)
    assert.deepEqual(await idsWith(selector), ['osm:5:1:1'])
    for (const { _id } of docs) {
      const { _rev } = await couch.get(_id)
      await couch.request({ method: 'DELETE', path: _id, qs: { rev: _rev } })
    }
    assert.deepEqual(await idsWith(selector), ['osm:5:1:1'])
    assert.deepEqual(await idsWith({ layer: 'osm', z: 5 }), [], 'of a deleted document there is nothing but its id')
    const { since } = await changesAfter(couch, { selector: { _id: 'no such id' } })
    assert.deepEqual([(await changesAfter(couch, { selector })).pending > 0, (await changesAfter(couch, { since, selector })).pending], [true, 0])
    await request(url, { method: 'DELETE' })
  })
})
