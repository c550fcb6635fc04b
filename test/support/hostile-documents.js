// Malicious documents of layers, the same ones for each seed: a good document with one wrong field or a wrong id. None
// of them is valid, and all of `goodDocuments` are.
import assert from 'node:assert/strict'
import { random } from '../../bench/tiles.js'

const T = '2022-06-01T00:00:00Z'
const RUN = '20220601T000000000-abcd'
const PLACE = '8:2:3'
const NAME = 'abcdefghijkl'

/** The parts that make the ids of documents distinct: time, run, and name of a block. @param {number} index */
const idPartsOf = index => ({
  time: new Date(Date.parse(T) + index * 1000).toISOString().slice(0, 19) + 'Z',
  run: `20220601T000000000-${index.toString(36).padStart(4, '0')}`,
  name: `abcdefgh${index.toString(36).padStart(4, '0')}`
})

const deep = depth => {
  let value = {}; for (let level = 0; level < depth; level++) value = level % 2 ? [value] : { a: value }; return value
}
const polluted = JSON.parse(
  '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":5,"valueOf":null}'
)
const list = (length, value) => Array.from({ length }, () => value)

/** Values that no field takes. */
const oddValues = ['NaN', '-Infinity', '4000000000', '<script>alert(1)</script>',
  '../../../etc/passwd', '__proto__', 'constructor', '\u0000', null, true, -1, 0.5, 1e308,
  -1e308, 4e9, [], {}, [[]], [null], [{}], polluted, deep(100), [deep(80)], list(1000, 4e9), list(50, 'x'.repeat(1000))]
/** Odd values for which no exception is true. */
const but = (...exceptions) => oddValues.filter(value => !exceptions.some(isException => isException(value)))
const isText = value => typeof value === 'string'
const isFlat = value => !String(JSON.stringify(value)).includes('[{"a":[{"a":[{"a":') &&
  !String(JSON.stringify(value)).includes('{"a":[{"a":[{"a":[')
const isObject = value => typeof value === 'object' && value !== null && !Array.isArray(value) && isFlat(value)
const isEmpty = value => Array.isArray(value) && !value.length
const isCount = value => value === 4e9

const zooms = [...oddValues, 31, 4e9]
const times = [...oddValues, '2022', '2022-02-30T00:00:00Z', '2022-06-01T00:00:00.000Z', `${T}\n`, '9'.repeat(300)]
const counts = but(isCount)
const areas = [...oddValues, { boxes: 5 }, { boxes: [] }, { boxes: [[1, 2, 3]] }, { boxes: [[0, 80, 10, 20]] }, {
  boxes: [[-500, 0, 500, 1]]
}, { boxes: list(5000, [0, 0, 1, 1]) }, { boxes: [{}] }, { boxes: ['0,0,1,1'] }, { boxes: [[0, 0, 1, 1]], polygon: 5 }]
const zoomRanges =
  [...oddValues, { min: 0 }, { min: 0, max: 4e9 }, { min: 5, max: 3 }, { min: -4e9, max: 30 }, { min: '0', max: '30' }]
const places =
  [...but(isEmpty), ['4000000000:0:0'], ['31:0:0'], ['8:4:0'], ['8:-1:0'], ['8:0'], ['8:0:0:0'], [PLACE, 5]]

/** Kind -> makes a good document of a layer; and invalid values for each field. */
const kinds = {
  layer: {
    make: layer => ({
      _id: `layer:${layer}`, type: 'layer', layer, name: 'x', minzoom: 0,
      maxzoom: 5, bounds: [-10, -10, 10, 10], center: [0, 0, 3], format: 'png', ttl: 60, tileSize: 256,
      vector_layers: [{ id: 'roads', fields: { name: 'String' } }],
      upstream: { url: 'http://127.0.0.1:1/{z}/{x}/{y}.png' }, retention: { last: 3 },
      offline: true, pruned: T, encoding: 'mapbox', same: 'pixels:3', later: 'small'
    }),
    bad: {
      name: [...but(isText), 'x'.repeat(200_000)],
      attribution: [...but(isText), '<b>'.repeat(100_000)],
      description: but(isText),
      legend: but(isText),
      version: but(isText),
      minzoom: [...zooms, 6],
      maxzoom: zooms,
      fillzoom: zooms,
      bounds: [...oddValues, [10, 10, -10], [0, 80, 10, 20], [-500, -10, 500, 10], [0, -91, 1, 91],
        ['0', '0', '1', '1'], [null, null, null, null], [1e308, -1e308, 1e308, 1e308], list(100_000, 1)],
      center: [...oddValues, [0, 0], [0, 0, 3, 4], [0, 0, 4e9], [1e308, 0, 0], ['0', '0', '0']],
      format: [...oddValues, 'html', 'exe', '../../x', 'png/../../x', 'png"><script>', 'PNG', 'p'.repeat(100_000)],
      ttl: [...but(isCount), 0, 1e300],
      tileSize: [...oddValues, 0, 1, 63, 4097, 1e9, 256.5],
      vector_layers: [...but(isEmpty, value => JSON.stringify(value) === '[{}]'), list(100_000, {}), [5], ['x']],
      upstream: [...but(isObject), 'http://user:secret@127.0.0.1/{z}/{x}/{y}.png'],
      retention: but(isObject),
      offline: but(value => value === true),
      dropped: [...but(value => Array.isArray(value) && !value.length),
        [['2020-01-01T00:00:00Z']], [['2020', '2021']], ['2020-01-01T00:00:00Z', '2021-01-01T00:00:00Z'],
        list(5000, ['2020-01-01T00:00:00Z', '2021-01-01T00:00:00Z', RUN])],
      pruned: times,
      same: [...oddValues, 'bytes', 'pixels:1000', 'features\n', 'f'.repeat(5000)],
      encoding: [...oddValues, 'mlt', 'Mapbox', 'mapbox\n', 'm'.repeat(5000)],
      renaming: [...but(value => isText(value) && /^[a-z0-9]+$/.test(value)),
        'layer', 'edition', 'Osm', 'a'.repeat(64), 'SELF'],
      retina: [...but(value => isText(value) && /^[a-z0-9]+$/.test(value)), 'layer', 'Osm', 'a'.repeat(64), 'SELF'],
      later: ['x'.repeat(5000), list(5000, 1), deep(100)]
    }
  },
  edition: {
    make: (layer, { time, run }) => ({
      _id: `edition:${layer}@${time}`, type: 'edition', layer, time,
      title: 'x', source: 'y', run, root: 'a'.repeat(32), complete: true, started: T, finished: T, tiles: 4, created: 4,
      advanced: 0, backfilled: 0, unchanged: 0, failed: 0, gone: 0, bytes: 100, blocks: 1,
      baseline: { runs: [RUN], differing: [`${layer}:3:0:0`], since: '5-x', identity: 'z' }, from: { since: 5 }
    }),
    bad: {
      time: [...times, undefined],
      title: [...but(isText), 'x'.repeat(200_000)],
      source: but(isText),
      run: oddValues,
      root: [...but(isText), 'a'.repeat(5000)],
      complete: but(value => value === true),
      started: times,
      finished: times,
      ...Object.fromEntries(['tiles', 'created', 'advanced', 'backfilled',
        'unchanged', 'failed', 'gone', 'bytes', 'blocks'].map(field => [field, counts])),
      baseline: [...oddValues, { runs: [RUN] }, { runs: 'all', differing: [] }, { runs: [RUN], differing: [5] },
        { runs: [RUN], differing: ['osm:31:0:0'] }, { runs: [RUN], differing: ['osm:2:4:0'] }],
      from: but(isObject)
    }
  },
  style: {
    make: (layer, { time }) => (
      {
        _id: `style:${layer}@${time}`, type: 'style', layer, time, stored: T,
        digest: 'x',
        style: { version: 8, sources: { a: { type: 'vector', url: `couch://${layer}` } }, layers: [
          { id: 'b', type: 'background' }
        ] }
      }
    ),
    bad: {
      time: [...times, undefined],
      stored: times,
      digest: [...but(isText), 'x'.repeat(101)],
      style: [...oddValues, undefined, { version: 7, sources: {}, layers: [] },
        { version: 8, sources: [], layers: [] }, { version: 8, sources: {}, layers: {} },
        { version: 8, sources: {}, layers: [5] }, { version: 8, layers: [] },
        { version: 8, sources: {}, layers: [], name: 'x'.repeat(1_100_000) }]
    }
  },
  manifest: {
    make: (layer, { time, run }) => ({
      _id: `manifest:${layer}@${time}:${run}`, type: 'manifest', layer, time,
      run, complete: true, tiles: 4, root: 'a'.repeat(32), area: { boxes: [[0, 0, 10, 10]] }, zooms: { min: 0, max: 8 },
      blocks: { [PLACE]: [NAME] }
    }),
    bad: {
      time: [...times, undefined],
      run: [...oddValues, undefined],
      part: but(isCount),
      complete: but(value => value === true),
      tiles: counts,
      root: but(isText),
      area: areas,
      zooms: zoomRanges,
      blocks: [...but(value => JSON.stringify(value) === '{}'), undefined,
        { '4000000000:0:0': [NAME] }, { '31:0:0': [NAME] }, { '8:4:0': [NAME] }, { [PLACE]: 4e9 }, { [PLACE]: NAME },
        { [PLACE]: { length: 4e9 } }, { [PLACE]: [5] }, { [PLACE]: ['short'] }, { __proto__x: [NAME] }],
      parts: [...places, [PLACE]] // not allowed beside blocks
    }
  },
  removed: {
    make: (layer, { run }) => (
      { _id: `removed:${layer}:${run}`, type: 'removed', layer, run, since: T, until: T, area: {
        boxes: [[0, 0, 10, 10]]
      }, zooms: { min: 0, max: 8 }, tiles: [`${layer}:3:0:0`], runs: [RUN], finished: T }
    ),
    bad: {
      run: [...oddValues, undefined],
      since: times,
      until: times,
      finished: times,
      area: areas,
      zooms: zoomRanges,
      tiles: [...but(isEmpty), ['osm:31:0:0'], ['osm:2:4:0'], ['osm:03:0:0'],
        ['layer:3:0:0'], ['osm:3:0:0@2022'], [`${'o'.repeat(64)}:3:0:0`]],
      runs: [...but(isEmpty), ['20220601T000000000-ABCD']]
    }
  },
  limits: {
    make: layer => ({
      _id: `limits:${layer}`, type: 'limits', layer,
      parts: [{ area: { boxes: [[0, 0, 10, 10]] }, zooms: { min: 0, max: 8 }, since: T }], own: true
    }),
    bad: {
      parts: [...but(isEmpty, value => JSON.stringify(value) === '[{}]'), undefined, ...areas.map(area => [{ area }]),
        ...zoomRanges.map(zoomRange => [{ zooms: zoomRange }]), ...times.map(since => [{ since }])],
      own: but(value => value === true)
    }
  },
  work: {
    make: (layer, { run }) => ({
      _id: `work:${run}`, type: 'work', layer, command: 'load', args: ['load'],
      edition: T, state: 'running', started: T, seen: T, finished: T, every: 5, unit: 'tiles', done: 4, total: 4,
      rate: 0.5, failed: 1, failures: [`${layer}:3:0:0: 404`], user: 'w',
      host: 'maps1', about: { bytes: 4 }, error: { code: 'X' }
    }),
    bad: {
      command: [...but(value => value === 'constructor'), undefined, 'Load', 'a'.repeat(31)],
      args: [...but(isEmpty), ['x'.repeat(1001)]],
      edition: times,
      state: [...oddValues, undefined, 'interrupted'],
      started: [...times, undefined],
      seen: [...times, undefined],
      finished: times,
      every: [...oddValues, 0],
      unit: [...but(isText), 'x'.repeat(101)],
      done: counts,
      total: counts,
      rate: but(value => typeof value === 'number' && value >= 0),
      failed: counts,
      failures: [...but(isEmpty), [5], ['x'.repeat(1001)]],
      host: [...but(isText), 'x'.repeat(301)],
      about: [...but(isObject), { long: 'x'.repeat(17_000) }],
      error: but(isObject),
      later: ['x'.repeat(5000)]
    }
  },
  activity: {
    make: (layer, { run }) => ({
      _id: `activity:${run}`, type: 'activity', layer, user: 'w', at: T, via: 'page',
      what: 'edition', done: 'changed', edition: T, name: 'anna', fields: { title: { before: 'x', after: 'y' } }
    }),
    bad: {
      user: [...but(isText), undefined, '', 'w'.repeat(301)],
      at: [...times, undefined],
      via: [...but(isText), 'x'.repeat(301)],
      what: [...oddValues, undefined, 'tile', 'layer\n'],
      done: [...oddValues, undefined, 'read', 'Created'],
      edition: times,
      name: [...but(isText), 'x'.repeat(301)],
      fields: [...but(isObject), { long: 'x'.repeat(17_000) }],
      later: ['x'.repeat(5000)]
    }
  },
  token: {
    make: (layer, { run }) => ({
      _id: `token:${`${run}`.toLowerCase().replace(/[^a-z0-9]/g, '').slice(-12)}`,
      type: 'token', layer, title: 'For the press', hash: 'a1'.repeat(32),
      layers: ['survey', 'draft-*', '!draft-x'], until: T, created: T, user: 'w'
    }),
    bad: {
      title: [...but(isText), 'x'.repeat(201)],
      hash: [...oddValues, undefined, 'a1'.repeat(31), 'A1'.repeat(32)],
      layers: [...but(isEmpty), undefined, [], [5], ['../x'], ['layer'], ['*a*b*c*d*e'], ['!'], Array(51).fill('osm')],
      until: times,
      created: [...times, undefined],
      user: [...but(isText), undefined, '', 'w'.repeat(301)],
      revoked: times,
      later: ['x'.repeat(5000)]
    }
  },
  block: {
    make: (layer, { name }) => ({
      _id: `block:${layer}:${PLACE}:${name}`, type: 'block', layer,
      z: 8, x: 2, y: 3, _attachments: { digests: { content_type: 'application/octet-stream', data: 'AAAAAAA=' } }
    }),
    bad: {
      z: [...zooms, undefined, 2], x: [...oddValues, undefined, 4], y: [...oddValues, undefined, 4],
      later: ['x'.repeat(5000)]
    }
  }
}

/** @param {string} layer */
export const goodDocuments = layer => Object.values(kinds).map(({ make }) => make(layer, idPartsOf(0)))

/** Values that are no name of a layer. */
const badNames = ['../../x', 'Osm', 'layer', '', '__proto__', 'a'.repeat(64), 'osm:3', 'osm/..', null, 5, {}, ['osm']]

/**
 * A document with each invalid value of each field of each kind, in an order that depends on the seed: `count` of them,
 * or all.
 * @param {number} seed
 * @param {{count?: number, layer?: string, kinds?: string[]}} [options] layer: of all documents; by default each has
 *   its own
 * @returns {any[]}
 */
export function hostileDocuments (seed, { count = Infinity, layer, kinds: kindNames = Object.keys(kinds) } = {}) {
  const docs = []
  const name = () => layer ?? `h${docs.length}`
  for (const kind of kindNames) {
    const { bad } = kinds[kind]
    const make = layerName => kinds[kind].make(layerName, idPartsOf(docs.length))
    for (const [field, values] of Object.entries(bad)) {
      for (const value of values) docs.push({ ...make(name()), [field]: value === 'SELF' ? name() : value })
    }
    for (const value of badNames) docs.push({ ...make(name()), layer: value })
    docs.push({ ...make(name()), [`f${'x'.repeat(5000)}`]: 1 })
    docs.push(
      {
        ...make(name()),
        ...Object.fromEntries(
          list(100, 0)
            .map((_, index) => [`field${index}`,
              { at: 'x'.repeat(['manifest', 'removed', 'limits', 'style'].includes(kind) ? 11_000 : 4000) }])
        )
      }
    )
  }
  const next = random(seed)
  const order = docs.map(doc => ({ doc, at: next() })).sort((a, b) => a.at - b.at).map(({ doc }) => doc)
  return order.slice(0, count)
}

/**
 * Stores documents without validation.
 * @param {import('../../loader/store/index.js').Store} store whose validation is removed
 * @param {any[]} docs
 */
export async function plant (store, docs) {
  await store.couch.update('_design/tiles', ({ validate_doc_update: _, ...design }) => design)
  let batch = []
  for (const [index, doc] of docs.entries()) {
    batch.push(JSON.stringify(doc))
    if (batch.join().length < 2e6 && index + 1 < docs.length) continue
    const rows = await store.couch.request({ method: 'POST', path: '_bulk_docs', body: `{"docs":[${batch}]}` })
    assert.deepEqual(rows.filter(({ error }) => error), [])
    batch = []
  }
}
