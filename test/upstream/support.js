// Shared by the tests of upstreams: a server for each suite, and upstreams that are closed after each test.
import assert from 'node:assert/strict'
import { openUpstream } from '../../loader/load/upstream/index.js'
import { LOOPBACK, startUpstream } from '../support/upstream-server.js'

/**
 * Starts a server for the suite, resets it before each test, and opens upstreams that use it.
 * @param {Parameters<typeof startUpstream>[0]} [options]
 */
export function useUpstream (options) {
  const suite = { open }
  const upstreams = []

  /**
   * @param {Record<string, any>} [settings]
   * @param {Record<string, any>} [layer]
   * @param {import('../../loader/load/upstream/index.js').UpstreamOptions} [more]
   */
  function open (settings = {}, layer = {}, more = {}) {
    const { url } = suite.server
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
    upstreams.push(upstream)
    return upstream
  }

  before(async () => { suite.server = await startUpstream(options) })
  beforeEach(() => {
    suite.server.behave()
    suite.server.requests.length = 0
    suite.server.epoch = 0
    suite.server.mostInFlight = 0
  })
  afterEach(() => Promise.all(upstreams.splice(0).map(upstream => upstream.close())))
  after(() => suite.server.close())
  return suite
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
