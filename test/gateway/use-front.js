// The HTTP side of a gateway without a store. Each test opens it with its own stand-ins.
import { entryOf, openFront } from '../support/gateway/stand.js'
import { ask, closeConnections } from '../support/gateway/wire.js'

/**
 * @param {Record<string, any>} [kept] entries in memory, unless a test has its own ones
 * @returns the fields of openFront, which `open` replaces, and a function that sends requests
 */
export function useFront (kept = { 'osm:1:0:0': entryOf() }) {
  const front = {
    /** @param {Parameters<typeof openFront>[0]} [setup] */
    open: async setup => { Object.assign(front, await openFront({ kept, ...setup })) },
    get: (path, headers = {}, method = 'GET', body = undefined) => ask(front.url, path, { headers, method, body })
  }
  afterEach(async () => {
    closeConnections()
    await front.close?.(0)
  })
  return front
}
