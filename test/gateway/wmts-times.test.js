// The times of the WMTS: capabilities as of a time, addresses below one, DescribeDomains, and regular series.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { withSeries } from '../../server/gateway/wmts/times.js'
import { dangling, violations } from './wmts/schema.js'
import { layers, startService, times } from './wmts/service.js'
import { all, childrenOf, parseXml, textOf } from './wmts/xml.js'

const CAPABILITIES = '/1.0.0/WMTSCapabilities.xml'
const TILE = { SERVICE: 'WMTS', REQUEST: 'GetTile', VERSION: '1.0.0', LAYER: 'osm', STYLE: 'default', FORMAT: 'image/png', TILEMATRIXSET: 'GoogleMapsCompatible', TILEMATRIX: '10', TILEROW: '412', TILECOL: '300' }
const kvp = parameters => `?${new URLSearchParams(parameters)}`
const timeAt = (...parts) => new Date(Date.UTC(...parts)).toISOString().replace('.000', '')
const layerOf = (root, name) => all(root, 'Layer').find(layer => textOf(layer, 'ows:Identifier') === name) ?? assert.fail(`no layer ${name}`)

describe('the times of the WMTS', () => {
  /** @type {Awaited<ReturnType<typeof startService>>} */
  let service

  before(async () => { service = await startService() })
  after(() => service.close())
  afterEach(() => assert.deepEqual(service.thrown, [], 'every error is a report'))

  const asked = { kind: 'tile', layer: 'osm', z: 10, x: 300, y: 412, ext: 'png' }
  const tile = async path => {
    const { status, text } = await service.get(path)
    assert.equal(status, 200, text)
    return JSON.parse(text)
  }

  /** The exception of a request: [status, code, locator]. */
  const refused = async (path, from = service) => {
    const { status, text } = await from.get(path)
    const report = parseXml(text)
    assert.deepEqual(violations(report), [])
    const [{ attributes }] = childrenOf(report, 'ows:Exception')
    return [status, attributes.exceptionCode, attributes.locator]
  }

  describe('of a tile', () => {
    it('takes a period for its end, since programs send the entries of a list as they are', async () => {
      const at = async Time => (await tile(kvp({ ...TILE, Time }))).time
      assert.equal(await at('2020-01-01T00:00:00Z/2024-01-01T00:00:00Z/P1Y'), '2024-01-01T00:00:00Z')
      assert.equal(await at('2020/2024'), '2024-12-31T23:59:59Z')
      const tail = 'GoogleMapsCompatible/10/412/300.png'
      const period = '2020-01-01T00:00:00Z/2024-01-01T00:00:00Z/P1Y'
      for (const written of [period, encodeURIComponent(period), '2020/2024-01-01T00:00:00Z']) {
        assert.deepEqual(await tile(`/osm/default/${written}/${tail}`), { ...asked, time: '2024-01-01T00:00:00Z' })
      }
      assert.deepEqual(await refused(`/osm/default/2020/2024/P1X/${tail}`), [400, 'InvalidParameterValue', 'Time'])
    })

    it('below an address with a time, is that time unless the request names another', async () => {
      const timeOf = async path => (await tile(path)).time
      const tail = 'GoogleMapsCompatible/10/412/300.png'
      const end = '2023-12-31T23:59:59Z'
      for (const time of ['', 'default/', '{Time}/', '%7Btime%7D/']) assert.equal(await timeOf(`@2023/osm/default/${time}${tail}`), end, time)
      assert.equal(await timeOf(`@2023/osm/default/2022/${tail}`), '2022-12-31T23:59:59Z')
      assert.equal(await timeOf(`@2023/osm/default/current/${tail}`), undefined)
      assert.equal(await timeOf(`@2023${kvp(TILE)}`), end)
      assert.equal(await timeOf(`@2023${kvp({ ...TILE, TIME: 'default' })}`), end)
      assert.equal(await timeOf(`@2023${kvp({ ...TILE, TIME: '2022' })}`), '2022-12-31T23:59:59Z')
      for (const time of ['yesterday', '2023-02-30', '']) {
        if (time) assert.deepEqual(await refused(`@${time}/osm/default/${tail}`), [400, 'InvalidParameterValue', 'Time'])
        else assert.equal(await timeOf(`@/osm/default/${tail}`), undefined)
      }
    })
  })

  describe('of the capabilities', () => {
    const at = async (path, from = service) => {
      const answer = await from.get(path)
      assert.equal(answer.status, 200, answer.text)
      const root = parseXml(answer.text)
      assert.deepEqual([violations(root), dangling(root)], [[], []])
      return root
    }
    const defaultOf = (root, name) => all(layerOf(root, name), 'Default').map(({ text: value }) => value)

    it('have the newest listed time up to then as the default of each layer', async () => {
      const root = await at(`@2023${CAPABILITIES}`)
      assert.deepEqual(['osm', 'alps', 'roads'].map(name => defaultOf(root, name)), [['2023-06-01T00:00:00Z'], ['2020-01-01T00:00:00Z'], []])
      assert.deepEqual(all(layerOf(root, 'osm'), 'Value').map(({ text: value }) => value), times.osm, 'the list is whole')
      assert.deepEqual(defaultOf(await at(`@2024-03${CAPABILITIES}`), 'osm'), ['2024-03-01T00:00:00Z'])
      assert.deepEqual(defaultOf(await at(`@2024-02${CAPABILITIES}`), 'osm'), ['2023-06-01T00:00:00Z'])
    })

    it('have the time itself where the layer has none up to then', async () => {
      assert.deepEqual(defaultOf(await at(`@2022${CAPABILITIES}`), 'osm'), ['2022-12-31T23:59:59Z'])
    })

    it('link to addresses of that time only, which programs without dimensions use', async () => {
      const root = await at(`@2023${CAPABILITIES}`)
      const own = `${service.url}wmts@2023-12-31T23:59:59Z`
      const links = [...all(root, 'ows:Get'), ...all(root, 'ServiceMetadataURL')].map(({ attributes }) => attributes['xlink:href'])
      const templates = all(root, 'ResourceURL').map(({ attributes }) => attributes.template)
      assert.equal(links.length + templates.length, 11)
      for (const link of [...links, ...templates]) assert.ok(link.startsWith(`${own}/`) || link === `${own}?`, link)
      // the address of a tile in which {Time} was left as it is
      const address = templates[0].replace('{TileMatrixSet}/{TileMatrix}/{TileRow}/{TileCol}', 'GoogleMapsCompatible/10/412/300')
      assert.equal((await (await fetch(address)).json()).time, '2023-12-31T23:59:59Z')
    })

    it('are the same by KVP, whose time counts more than that of the address', async () => {
      const textAt = async path => (await service.get(path)).text
      const query = '?SERVICE=WMTS&REQUEST=GetCapabilities'
      const expected = await textAt(`@2023${CAPABILITIES}`)
      for (const path of [`${query}&TIME=2023`, `${query}&time=2023-12-31T23:59:59Z`, `@2023${query}`, `@2020${query}&TIME=2023`, `@2020-12-31T23:59:59Z${query}&TIME=2019/2023`]) assert.equal(await textAt(path), expected, path)
      for (const path of [`${query}&TIME=current`, `${query}&TIME=`, `@2023${query}&TIME=current`, `@current${CAPABILITIES}`]) assert.equal(await textAt(path), await textAt(CAPABILITIES), path)
    })

    it('are refused for a time that is none', async () => {
      for (const path of ['?SERVICE=WMTS&REQUEST=GetCapabilities&TIME=2023-13', `@2023-13${CAPABILITIES}`, `@yesterday${CAPABILITIES}`, `@2023/2024${CAPABILITIES}`]) {
        const { status, text: report } = await service.get(path)
        assert.deepEqual(violations(parseXml(report)), [])
        assert.ok(status === 400 || status === 404, path)
      }
    })

    it('have an ETag of their own', async () => {
      const etags = await Promise.all([CAPABILITIES, `@2023${CAPABILITIES}`, `@2022${CAPABILITIES}`, `@2023-12${CAPABILITIES}`].map(async path => (await service.get(path)).headers.get('etag')))
      assert.equal(new Set(etags).size, 3)
      assert.equal((await service.get(`@2023${CAPABILITIES}`, { headers: { 'If-None-Match': etags[1] } })).status, 304)
    })
  })

  describe('in a list', () => {
    const valuesOf = async many => {
      const own = await startService({ layers: { osm: layers.osm }, times: { osm: many } })
      try {
        const root = parseXml((await own.get(CAPABILITIES)).text)
        assert.deepEqual(violations(root), [])
        return all(root, 'Value').map(({ text }) => text)
      } finally {
        await own.close()
      }
    }

    it('of more than a hundred are periods in the capabilities where they are regular', async () => {
      const hours = Array.from({ length: 100 }, (_, index) => timeAt(2020, 0, 1, index))
      assert.deepEqual(await valuesOf(hours), hours, 'few programs read periods')
      assert.deepEqual(await valuesOf([...hours, timeAt(2020, 5, 1), timeAt(2021, 5, 1)]), ['2020-01-01T00:00:00Z/2020-01-05T03:00:00Z/PT1H', '2020-06-01T00:00:00Z', '2021-06-01T00:00:00Z'])
    })

    it('are written with the largest unit that fits', () => {
      const series = (count, step) => withSeries(Array.from({ length: count }, (_, index) => step(index)))
      assert.deepEqual(series(6, index => timeAt(2020 + index, 1, 28)), ['2020-02-28T00:00:00Z/2025-02-28T00:00:00Z/P1Y'])
      assert.deepEqual(series(6, index => timeAt(2020, 3 * index, 1, 6, 30)), ['2020-01-01T06:30:00Z/2021-04-01T06:30:00Z/P3M'])
      assert.deepEqual(series(6, index => timeAt(2021, 0, 1 + 16 * index)), ['2021-01-01T00:00:00Z/2021-03-22T00:00:00Z/P16D'])
      assert.deepEqual(series(6, index => timeAt(2021, 0, 1, 0, 90 * index)), ['2021-01-01T00:00:00Z/2021-01-01T07:30:00Z/PT90M'])
      assert.deepEqual(series(6, index => timeAt(2021, 0, 1, 0, 0, index)), ['2021-01-01T00:00:00Z/2021-01-01T00:00:05Z/PT1S'])
    })

    it('are no series at the ends of months, which programs count differently', () => {
      const ends = Array.from({ length: 8 }, (_, index) => timeAt(2021, index, 31))
      assert.deepEqual(withSeries(ends), ends)
      assert.deepEqual(withSeries([]), [])
      assert.deepEqual(withSeries(ends.slice(0, 1)), ends.slice(0, 1))
    })

    it('are exactly those that a program works out of the periods', () => {
      const DAY = 86400000
      const list = fc.array(fc.constantFrom(DAY, DAY, DAY, 3600000, 31 * DAY, 365 * DAY, 1000, 'month', 'month', 'year'), { maxLength: 60 }).map(steps => {
        const date = new Date('2019-01-28T00:00:00Z')
        return steps.map(step => {
          if (step === 'month') date.setUTCMonth(date.getUTCMonth() + 1)
          else if (step === 'year') date.setUTCFullYear(date.getUTCFullYear() + 1)
          else date.setTime(date.getTime() + Number(step))
          return date.toISOString().replace('.000', '')
        })
      })
      fc.assert(fc.property(list, written => assert.deepEqual(withSeries(written).flatMap(expand), written)), { numRuns: 500 })
    })

    /** As programs do: one step after the other. */
    function expand (entry) {
      const [start, end, step] = entry.split('/')
      if (!end) return [start]
      const [, , count, unit] = /^P(T?)(\d+)([YMDHS])$/.exec(step) ?? assert.fail(step)
      const isClock = step.startsWith('PT')
      const found = []
      for (const date = new Date(start); date <= new Date(end);) {
        found.push(date.toISOString().replace('.000', ''))
        if (unit === 'Y') date.setUTCFullYear(date.getUTCFullYear() + +count)
        else if (unit === 'M' && !isClock) date.setUTCMonth(date.getUTCMonth() + +count)
        else date.setTime(date.getTime() + +count * { D: 86400000, H: 3600000, M: 60000, S: 1000 }[unit])
      }
      return found
    }
  })

  describe('DescribeDomains', () => {
    const YEARLY = Array.from({ length: 30 }, (_, index) => `${1990 + index}-01-01T00:00:00Z`)
    const EVENTS = ['2020-02-03T10:00:00Z', '2020-02-03T10:00:01Z', '2021-07-04T00:00:00Z']
    const MANY = Array.from({ length: 2500 }, (_, index) => new Date(Date.UTC(2000, 0, 1, index, index % 2 * 8)).toISOString().replace('.000', ''))
    const QUERY = { SERVICE: 'WMTS', REQUEST: 'DescribeDomains', VERSION: '1.0.0', LAYER: 'osm', TILEMATRIXSET: 'GoogleMapsCompatible_Level19' }
    let own

    before(async () => {
      own = await startService({ times: { osm: [...YEARLY, ...EVENTS], roads: [], alps: MANY, pacific: [] } })
    })
    after(() => own?.close())

    const domain = async path => {
      const { status, text } = await own.get(path)
      assert.equal(status, 200, text)
      const root = parseXml(text)
      assert.deepEqual(violations(root), [])
      const [dimension] = childrenOf(root, 'md:DimensionDomain')
      assert.equal(textOf(dimension, 'ows:Identifier'), 'Time')
      return [textOf(dimension, 'md:Domain'), +textOf(dimension, 'md:Size')]
    }
    const series = `${YEARLY[0]}/${YEARLY[29]}/P1Y`

    it('lists all times, regular series as one entry, and says how many they are', async () => {
      for (const path of [kvp(QUERY), kvp({ ...QUERY, TIME: 'all', BBOX: 'all' }), '/1.0.0/osm/default/GoogleMapsCompatible/all/all.xml', '@2023/1.0.0/osm/default/GoogleMapsCompatible/all/all.xml']) {
        assert.deepEqual(await domain(path), [[series, ...EVENTS].join(), 33], path)
      }
      assert.deepEqual(await domain(kvp({ ...QUERY, LAYER: 'roads', TILEMATRIXSET: '' })), ['', 0])
    })

    it('lists those of a range: either end may be missing, and one time is a start', async () => {
      const both = async (start, end, expected) => {
        const text = [start, end].join('/')
        assert.deepEqual(await domain(kvp({ ...QUERY, TIME: text })), expected, text)
        assert.deepEqual(await domain(`/1.0.0/osm/default/GoogleMapsCompatible/-20037508,-1e7,0,5.5/${[start, end].join('--')}.xml`), expected, text)
      }
      await both('2018', '2020', [[YEARLY[28], YEARLY[29], EVENTS[0], EVENTS[1]].join(), 4])
      await both('2018', '2019', [[YEARLY[28], YEARLY[29]].join(), 2])
      await both('', '1992', [YEARLY.slice(0, 3).join(), 3])
      await both('2020-02-03T10:00:01Z', '', [[EVENTS[1], EVENTS[2]].join(), 2])
      await both('', '1994', [`${YEARLY[0]}/${YEARLY[4]}/P1Y`, 5])
      await both('1900', '1901', ['', 0])
      assert.deepEqual(await domain(kvp({ ...QUERY, TIME: '2021' })), [EVENTS[2], 1])
    })

    it('answers with the first and the last of very many, and lists them by range', async () => {
      const query = { ...QUERY, LAYER: 'alps', TILEMATRIXSET: '' }
      assert.deepEqual(await domain(kvp(query)), [`${MANY[0]}--${MANY.at(-1)}`, 2500])
      const [list, size] = await domain(kvp({ ...query, TIME: `${MANY[10]}/${MANY[19]}` }))
      assert.deepEqual([list.split(','), size], [MANY.slice(10, 20), 10])
    })

    it('has the box of the layer, and an ETag', async () => {
      const { text, headers } = await own.get(kvp({ ...QUERY, LAYER: 'alps', TILEMATRIXSET: '' }))
      const [space] = childrenOf(parseXml(text), 'md:SpaceDomain')
      assert.deepEqual(childrenOf(space, 'md:BoundingBox')[0].attributes, { CRS: 'urn:ogc:def:crs:OGC:2:84', minx: '5.9', miny: '45.8', maxx: '10.5', maxy: '47.8' })
      const again = await own.get(kvp({ ...QUERY, LAYER: 'alps', TILEMATRIXSET: '' }), { headers: { 'If-None-Match': headers.get('etag') } })
      assert.deepEqual([again.status, again.text], [304, ''])
    })

    it('refuses what is wrong, naming it', async () => {
      const wrong = { VERSION: ['2.0'], LAYER: ['nothere', 'OSM'], TILEMATRIXSET: ['EPSG:4326'], TIME: ['yesterday', '2024/2020', '2020/2021/P1Y', '2020--2021', '2020,2021'], BBOX: ['1,2,3', 'a,b,c,d', '1,2,3,4,'] }
      const locators = { VERSION: 'version', LAYER: 'Layer', TILEMATRIXSET: 'TileMatrixSet', TIME: 'Time', BBOX: 'BBox' }
      for (const [name, values] of Object.entries(wrong)) {
        for (const value of values) assert.deepEqual(await refused(kvp({ ...QUERY, [name]: value }), own), [400, 'InvalidParameterValue', locators[name]], `${name}=${value}`)
      }
      assert.deepEqual(await refused('/1.0.0/osm/night/GoogleMapsCompatible/all/all.xml', own), [400, 'InvalidParameterValue', 'Style'])
      assert.deepEqual(await refused('/1.0.0/osm/default/GoogleMapsCompatible/all/2020----2021.xml', own), [400, 'InvalidParameterValue', 'Time'])
      assert.deepEqual(await refused(kvp({ ...QUERY, LAYER: '' }), own), [400, 'MissingParameterValue', 'Layer'])
      assert.deepEqual(await refused(kvp({ SERVICE: 'WMTS', REQUEST: 'DescribeDomains', LAYER: 'osm' }), own), [400, 'MissingParameterValue', 'version'])
    })
  })
})
