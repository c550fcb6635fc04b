import assert from 'node:assert/strict'
import vm from 'node:vm'
import { clientClasses } from '../../docs/client-tables.js'
import { loadGlobal } from '../types/leaflet.js'

describe('the reference of the client library', () => {
  const paths = {
    Clock: 'Couch.Clock', Player: 'Couch.Player', CouchLayer: 'TileLayer.Couch',
    HistoryLayer: 'TileLayer.Couch.History', CoverageLayer: 'TileLayer.Couch.Coverage',
    TimelineControl: 'Control.Timeline', CompareControl: 'Control.Compare'
  }
  let L

  /** Classes that are not Leaflet's have their options on each object. */
  const made = { Clock: () => L.couch.clock(), Player: () => L.couch.player(L.couch.clock(), []) }

  before(async () => { L = (await loadGlobal()).L })

  it('describes every class of the map library', () => {
    assert.deepEqual(clientClasses().map(({ name }) => name), Object.keys(paths).sort())
  })

  for (const { name, options, methods, properties, meaning, events } of clientClasses()) {
    const find = () => paths[name].split('.').reduce((place, part) => place[part], L)

    it(`lists the actual defaults of ${name}`, () => {
      const written = Object.fromEntries(options.map(option => [option.name, vm.runInNewContext(`(${option.value})`)]))
      assert.equal(JSON.stringify({ ...written }),
        JSON.stringify({ ...(made[name]?.() ?? Object.getPrototypeOf(find().prototype)).options }))
    })

    it(`explains each option, method, property and event of ${name}`, () => {
      for (const told of [{ name, meaning }, ...options, ...methods, ...properties, ...events]) {
        assert.ok(told.meaning, `${name}: ${told.name}`)
      }
    })

    it(`lists only methods that ${name} has`, () => {
      for (const method of methods) assert.equal(typeof find().prototype[method.name], 'function', method.name)
    })
  }
})
