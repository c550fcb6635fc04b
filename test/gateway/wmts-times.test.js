// Tests of the times of the WMTS: capabilities as of a time, and regular series of times. Tiles as of a time are
// in wmts.test.js.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { withSeries } from '../../server/gateway/wmts/times.js'
import { violations } from './wmts/schema.js'
import { CAPABILITIES, capabilitiesOf, layerOf, layers, startService, times } from './wmts/service.js'
import { all, parseXml } from './wmts/xml.js'

const timeAt = (...parts) => new Date(Date.UTC(...parts)).toISOString().replace('.000', '')

describe('the times of the WMTS', () => {
  let service

  before(async () => { service = await startService() })
  after(() => service.close())
  afterEach(() => assert.deepEqual(service.thrown, [], 'every error is a report'))

  describe('of the capabilities', () => {
    const capabilitiesAt = path => capabilitiesOf(service, path)
    const defaultOf = (root, name) => all(layerOf(root, name), 'Default').map(({ text: value }) => value)

    it('have the newest listed time up to theirs as the default of each layer', async () => {
      const root = await capabilitiesAt(`@2023${CAPABILITIES}`)
      assert.deepEqual(['osm', 'alps', 'roads'].map(name => defaultOf(root, name)),
        [['2023-06-01T00:00:00Z'], ['2020-01-01T00:00:00Z'], []])
      assert.deepEqual(all(layerOf(root, 'osm'), 'Value').map(({ text: value }) => value),
        times.osm, 'the list is whole')
      assert.deepEqual(defaultOf(await capabilitiesAt(`@2024-03${CAPABILITIES}`), 'osm'), ['2024-03-01T00:00:00Z'])
      assert.deepEqual(defaultOf(await capabilitiesAt(`@2024-02${CAPABILITIES}`), 'osm'), ['2023-06-01T00:00:00Z'])
    })

    it('have their own time as the default when a layer has no time before it', async () => {
      assert.deepEqual(defaultOf(await capabilitiesAt(`@2022${CAPABILITIES}`), 'osm'), ['2022-12-31T23:59:59Z'])
    })

    it('link only to addresses of their time', async () => {
      const root = await capabilitiesAt(`@2023${CAPABILITIES}`)
      const base = `${service.url}wmts@2023-12-31T23:59:59Z`
      const links =
        [...all(root, 'ows:Get'), ...all(root, 'ServiceMetadataURL')].map(({ attributes }) => attributes['xlink:href'])
      const templates = all(root, 'ResourceURL').map(({ attributes }) => attributes.template)
      assert.equal(links.length + templates.length, 9)
      for (const link of [...links, ...templates]) assert.ok(link.startsWith(`${base}/`) || link === `${base}?`, link)
      // an address of a tile that still contains {Time}
      const address =
        templates[0].replace('{TileMatrixSet}/{TileMatrix}/{TileRow}/{TileCol}', 'GoogleMapsCompatible/10/412/300')
      assert.equal((await (await fetch(address)).json()).time, '2023-12-31T23:59:59Z')
    })

    it('are the same by KVP, and prefer its TIME to the time of the address', async () => {
      const textAt = async path => (await service.get(path)).text
      const query = '?SERVICE=WMTS&REQUEST=GetCapabilities'
      const expected = await textAt(`@2023${CAPABILITIES}`)
      for (const path of [`${query}&TIME=2023`, `${query}&time=2023-12-31T23:59:59Z`, `@2023${query}`,
        `@2020${query}&TIME=2023`, `@2020-12-31T23:59:59Z${query}&TIME=2019/2023`]) {
        assert.equal(await textAt(path), expected, path)
      }
      for (const path of [`${query}&TIME=current`, `${query}&TIME=`, `@2023${query}&TIME=current`,
        `@current${CAPABILITIES}`]) assert.equal(await textAt(path), await textAt(CAPABILITIES), path)
    })

    it('are refused for an invalid time', async () => {
      for (const path of ['?SERVICE=WMTS&REQUEST=GetCapabilities&TIME=2023-13',
        `@2023-13${CAPABILITIES}`, `@yesterday${CAPABILITIES}`, `@2023/2024${CAPABILITIES}`]) {
        const { status, text: report } = await service.get(path)
        assert.deepEqual(violations(parseXml(report)), [])
        assert.ok(status === 400 || status === 404, path)
      }
    })

    it('have an ETag for each time', async () => {
      const etags = await Promise.all([CAPABILITIES, `@2023${CAPABILITIES}`, `@2022${CAPABILITIES}`,
        `@2023-12${CAPABILITIES}`].map(async path => (await service.get(path)).headers.get('etag')))
      assert.equal(new Set(etags).size, 3)
      assert.equal((await service.get(`@2023${CAPABILITIES}`, { headers: { 'If-None-Match': etags[1] } })).status, 304)
    })
  })

  describe('in a list', () => {
    const valuesOf = async listed => {
      const listService = await startService({ layers: { osm: layers.osm }, times: { osm: listed } })
      try {
        return all(await capabilitiesOf(listService), 'Value').map(({ text }) => text)
      } finally {
        await listService.close()
      }
    }

    it('become periods when more than a hundred are listed and they are regular', async () => {
      const hours = Array.from({ length: 100 }, (_, index) => timeAt(2020, 0, 1, index))
      assert.deepEqual(await valuesOf(hours), hours, 'few programs read periods')
      assert.deepEqual(await valuesOf([...hours, timeAt(2020, 5, 1), timeAt(2021, 5, 1)]),
        ['2020-01-01T00:00:00Z/2020-01-05T03:00:00Z/PT1H', '2020-06-01T00:00:00Z', '2021-06-01T00:00:00Z'])
    })

    it('are written with the largest unit that fits', () => {
      const series = (count, step) => withSeries(Array.from({ length: count }, (_, index) => step(index)))
      assert.deepEqual(series(6, index => timeAt(2020 + index, 1, 28)),
        ['2020-02-28T00:00:00Z/2025-02-28T00:00:00Z/P1Y'])
      assert.deepEqual(series(6, index => timeAt(2020, 3 * index, 1, 6, 30)),
        ['2020-01-01T06:30:00Z/2021-04-01T06:30:00Z/P3M'])
      assert.deepEqual(series(6, index => timeAt(2021, 0, 1 + 16 * index)),
        ['2021-01-01T00:00:00Z/2021-03-22T00:00:00Z/P16D'])
      assert.deepEqual(series(6, index => timeAt(2021, 0, 1, 0, 90 * index)),
        ['2021-01-01T00:00:00Z/2021-01-01T07:30:00Z/PT90M'])
      assert.deepEqual(series(6, index => timeAt(2021, 0, 1, 0, 0, index)),
        ['2021-01-01T00:00:00Z/2021-01-01T00:00:05Z/PT1S'])
    })

    it('do not become a period at the ends of months', () => {
      const ends = Array.from({ length: 8 }, (_, index) => timeAt(2021, index, 31))
      assert.deepEqual(withSeries(ends), ends)
      assert.deepEqual(withSeries([]), [])
      assert.deepEqual(withSeries(ends.slice(0, 1)), ends.slice(0, 1))
    })

    it('are the same after a program has expanded the periods', () => {
      const DAY = 86400000
      const list = fc.array(
        fc.constantFrom(DAY, DAY, DAY, 3600000, 31 * DAY, 365 * DAY, 1000, 'month', 'month', 'year'), { maxLength: 60 }
      ).map(steps => {
        const date = new Date('2019-01-28T00:00:00Z')
        return steps.map(step => {
          if (step === 'month') date.setUTCMonth(date.getUTCMonth() + 1)
          else if (step === 'year') date.setUTCFullYear(date.getUTCFullYear() + 1)
          else date.setTime(date.getTime() + Number(step))
          return date.toISOString().replace('.000', '')
        })
      })
      fc.assert(fc.property(list, written => assert.deepEqual(withSeries(written).flatMap(expand), written)),
        { numRuns: 500 })
    })

    /** Expands a period into its times, as client programs do. */
    function expand (entry) {
      const [start, end, step] = entry.split('/')
      if (!end) return [start]
      const [, , count, unit] = /^P(T?)(\d+)([YMDHS])$/.exec(step) ?? assert.fail(step)
      const isClock = step.startsWith('PT')
      const expanded = []
      for (const date = new Date(start); date <= new Date(end);) {
        expanded.push(date.toISOString().replace('.000', ''))
        if (unit === 'Y') date.setUTCFullYear(date.getUTCFullYear() + +count)
        else if (unit === 'M' && !isClock) date.setUTCMonth(date.getUTCMonth() + +count)
        else date.setTime(date.getTime() + +count * { D: 86400000, H: 3600000, M: 60000, S: 1000 }[unit])
      }
      return expanded
    }
  })
})
