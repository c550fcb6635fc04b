import assert from 'node:assert/strict'
import fc from 'fast-check'
import { IdTemplate, MAPPROXY_TEMPLATE } from '../../loader/load/sources/id-template.js'

/** What Python makes of `template % names`, and what we make of {name}. */
const fill =
  (template, names) => template.replace(/%\((\w+)\)(0?)(\d*)[sdi]|%%|\{(\w+)\}/g, (match, python, zero, width, own) => (
  match === '%%' ? '%' : `${names[python ?? own]}`.padStart(+width || 0, zero ? '0' : ' ')
))

describe('templates of ids', () => {
  const templates = [
    MAPPROXY_TEMPLATE, '%(grid_name)s-%(z)d-%(x)d-%(y)d', '%(z)s/%(x)s/%(y)s',
    '{z}/{x}/{y}', 'osm:{z}:{x}:{y}', '{grid}.{z}.{y}.{x}.png',
    'tiles/%(z)02d/%(x)06d/%(y)06d', '%(couch_url)s/%(grid_name)s:%(z)s:%(x)s:%(y)s',
    '100%%-{z}-{x}-{y}', 'a+b(c)[d]-{z}_{x}_{y}', '{z}-{x}-{y}@{when}'
  ]

  for (const text of templates) {
    it(`read the ids that ${text} makes`, () => {
      const template = new IdTemplate(text)
      fc.assert(fc.property(fc.integer({ min: 0, max: 30 }), fc.nat(), fc.nat(), (z, column, row) => {
        const [x, y] = [column % 2 ** z, row % 2 ** z]
        const names = { z, x, y, grid_name: 'webmercator-2', grid: 'g.1', when: '2024' }
        const id = fill(text.replace('%(couch_url)s/', ''), names)
        assert.deepEqual(template.read(id), { z, x, y, names: template.names.map(name => names[name]) })
        assert.ok(id.startsWith(template.prefix))
      }))
    })
  }

  it('know the prefix of all their ids', () => {
    assert.deepEqual(['osm:{z}:{x}:{y}', '{z}/{x}/{y}', '100%%-{z}-{x}-{y}',
      '%(couch_url)s/t-%(z)s-%(x)s-%(y)s'].map(text => new IdTemplate(text).prefix), ['osm:', '', '100%-', 't-'])
  })

  it('read no id that does not match exactly', () => {
    const template = new IdTemplate('osm:{z}:{x}:{y}')
    for (const id of ['osm:3:1:2@2020-01-01T00:00:00Z', 'osm:3:1',
      'osm:3:1:8', 'osm:31:0:0', 'osm:3:-1:0', 'osm:3:a:0', 'xosm:3:1:2', 'osm:3:1:2\n', 'osm:3:12345678901:0', '']) {
      assert.equal(template.read(id), undefined, id)
    }
    assert.equal(new IdTemplate('a.b-{z}-{x}-{y}').read('axb-1-0-0'), undefined, 'a dot is a dot')
  })

  it('read an id with a repeated name only when both values are equal', () => {
    const template = new IdTemplate('{z}/{x}/{y}/{z}')
    assert.deepEqual(template.read('3/1/2/3'), { z: 3, x: 1, y: 2, names: [] })
    assert.equal(template.read('3/1/2/4'), undefined)
  })

  it('are refused when no tile can be read from them, with the reason', () => {
    const why = text => {
      try {
        new IdTemplate(text)
      } catch (error) {
        assert.equal(error.code, 'BAD_OPTION')
        return error.details.why
      }
      assert.fail(`${text} was taken`)
    }
    assert.equal(why('{z}/{x}'), 'it lacks {y}')
    assert.equal(why('%(grid_name)s'), 'it lacks {z} and {x} and {y}')
    assert.match(why('{z}{x}/{y}'), /something between/)
    assert.match(why('%(z)s%(x)s/%(y)s'), /something between/)
    assert.match(why('{z}/{x}/{y}/%(time)f'), /neither/)
    assert.match(why('{z}/{x}/{y}/{'), /neither/)
  })
})
