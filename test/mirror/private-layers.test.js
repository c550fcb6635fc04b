// A mirror through a gateway with private layers: it copies every kind of document of the layers that its token allows,
// and no document of other layers.
import assert from 'node:assert/strict'
import { LAYER_KINDS, isTileId, parseDocumentId } from '../../core/index.js'
import { load } from '../../loader/load/index.js'
import { mirror } from '../../loader/maintain/mirror/index.js'
import { publish } from '../../loader/couchapp/publish.js'
import { removeEdition } from '../../loader/maintain/remove/index.js'
import { OPTIONS, token } from '../support/gateway/private.js'
import { openGateway } from '../support/gateway/stand.js'
import { ask } from '../support/gateway/wire.js'
import { json, onEachStore, request } from '../support/backends.js'
import { memorySource } from '../support/memory-source.js'
import { useStore } from '../support/store.js'
import { png } from '../support/tiles.js'
import { differences } from './compare.js'

const [T1, T2, T3] = [1, 2, 3].map(year => `202${year}-01-01T00:00:00Z`)
const STYLE = { version: 8, sources: {}, layers: [] }

onEachStore('a mirror through a gateway with private layers', backend => {
  const origin = useStore(backend, {
    once: true,
    async fill (store) {
      await publish(store)
      for (const layer of ['open', 'secret', '3']) {
        for (const [index, time] of [T1, T2, T3].entries()) {
          await load(store, memorySource({ '3/1/0': 1, '3/1/1': index }), { layer, time })
        }
        await removeEdition(store, layer, T2)
        await store.putStyle(layer, { time: T1, digest: 'x', style: STYLE, files: {} })
      }
      // older stores may have layers with the names of document kinds
      await store.write(LAYER_KINDS.slice(2).map(layer => ({ layer, z: 3, x: 1, y: 0, time: T1, bytes: png(1) })))
    }
  })
  let gateway
  before(async () => {
    gateway = await openGateway(origin.url, { ...OPTIONS, privateLayers: ['secret', '3', 'block'] })
  })
  after(() => gateway?.close())

  const layerOf = id => parseDocumentId(id)?.layer ?? (isTileId(id) ? id.split(':', 1)[0] : undefined)

  for (const [who, tokenOf, hidden] of /** @type {[string, () => string | undefined, string[]][]} */ ([
    ['no token', () => undefined, ['secret', '3', 'block']],
    ['a token for one private layer', () => token(['secret']), ['3', 'block']],
    ['a token for all layers', () => token(['*']), []]
  ])) {
    it(`with ${who} has all documents of the visible layers, and follows later changes`, async () => {
      const tokenText = tokenOf()
      const source = new URL(`${gateway.url}/db`)
      if (tokenText) Object.assign(source, { username: 'mirror', password: tokenText })
      const target = await backend.database()
      const selects = id => !hidden.includes(layerOf(id))
      try {
        await mirror(source.href, target)
        assert.deepEqual(await differences(origin.url, target, { selects, revpos: false }), [])
        const { rows } = await json(`${target}/_all_docs`)
        const kinds = new Set(rows.map(({ id }) => parseDocumentId(id)?.kind))
        for (const kind of LAYER_KINDS) {
          assert.equal(kinds.has(kind), kind !== 'limits', `${kind}: limits belong to one store`)
        }
        const time = `202${4 + hidden.length}-01-01T00:00:00Z`
        for (const layer of ['open', 'secret']) await load(origin.store, memorySource({ '3/1/1': 7 }), { layer, time })
        await mirror(source.href, target)
        assert.deepEqual(await differences(origin.url, target, { selects, revpos: false }), [])
      } finally {
        await request(target, { method: 'DELETE' })
      }
    }).timeout(60000)
  }

  it('is refused ranges of documents that include private layers', async () => {
    for (const kind of LAYER_KINDS.slice(1)) {
      for (
        const range of [[`${kind}:`, `${kind};`], [`${kind}:secret`, `${kind}:secret~`], [`${kind}:3:`, `${kind}:3;`]]
      ) {
        const [start, end] = range.map(key => encodeURIComponent(JSON.stringify(key)))
        const answer = await ask(gateway.url, `/db/_all_docs?include_docs=true&startkey=${start}&endkey=${end}`)
        assert.ok([401, 403].includes(answer.status), `${range}: ${answer.status} ${answer.text}`)
      }
    }
  })
})
