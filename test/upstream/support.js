// What the tests of upstreams share: a server for each suite, and upstreams of it that are closed after each test.
import assert from 'node:assert/strict'
import { openUpstream } from '../../loader/load/upstream/index.js'
import { LOOPBACK, startUpstream } from '../support/upstream-server.js'

/**
 * A server for the suite, well again before each test, and upstreams of it.
 * @param {Parameters<typeof startUpstream>[0]} [options]
 */
export function useUpstream (options) {
  const given = { open }
  const opened = []

  /**
   * @param {Record<string, any>} [settings]
   * @param {Record<string, any>} [layer]
   * @param {import('../../loader/load/upstream/index.js').UpstreamOptions} [more]
   */
  function open (settings = {}, layer = {}, more = {}) {
    const { url } = given.server
    const addresses = {
      xyz: `${url}/xyz/{z}/{x}/{y}.png`, tms: `${url}/tms/{z}/{x}/{y}.png`,
      wms: `${url}/wms`, wmts: `${url}/wmts/{Layer}/{Style}/{TileMatrixSet}/{TileMatrix}/{TileRow}/{TileCol}.png`
    }
    const type = settings.type ?? 'xyz'
    const upstream = openUpstream({
      layer: 'osm', ...layer,
      upstream: {
        url: addresses[type], ...(type === 'wms' || type === 'wmts' ? { layers: 'map' } : {}), timeout: 5, ...settings
      }
    }, { networks: LOOPBACK, ...more })
    opened.push(upstream)
    return upstream
  }

  before(async () => { given.server = await startUpstream(options) })
  beforeEach(() => {
    given.server.behave()
    given.server.requests.length = 0
    given.server.epoch = 0
    given.server.mostInFlight = 0
  })
  afterEach(() => Promise.all(opened.splice(0).map(upstream => upstream.close())))
  after(() => given.server.close())
  return given
}

/** The code of the error a promise rejects with; anything that is not from the catalogue fails the test. */
export async function codeOf (promise) {
  try {
    await promise
  } catch (error) {
    assert.equal(error.name, 'TilecouchError', error.stack)
    return error.code
  }
  return undefined
}
