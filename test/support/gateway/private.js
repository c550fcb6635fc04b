// A store with an open and two private layers, whose every byte is known, and visitors of all kinds.
import { readToken, signToken } from '../../../loader/store/token.js'
import { put, request } from '../backends.js'
import { png } from '../tiles.js'

export const KEYS = { kold: 'o'.repeat(40), knew: 'n'.repeat(40) }
export const OPTIONS = { privateLayers: ['secret', 'draft-*'], accessKeys: KEYS }
export const [T1, T2] = ['2023-01-01T00:00:00Z', '2024-01-01T00:00:00Z']
export const PRIVATE = ['secret', 'draft-a']

const SEEDS = { open: 1, secret: 2, 'draft-a': 3 }
const SIDE = 2

/** The image of a version. Private and public images differ. */
export const image = (layer, x, y, time) => png(1000 * SEEDS[layer] + 100 * x + 10 * y + (time === T1 ? 1 : 2))

/** @param {import('../../../loader/index.js').Store} store */
export async function writePrivateLayers (store) {
  for (const layer of Object.keys(SEEDS)) {
    await store.defineLayer(layer,
      { name: `The layer ${layer}`, description: `words-of-${layer}`, minzoom: 3, maxzoom: 3 })
    for (const time of [T1, T2]) {
      const tiles = Array.from({ length: SIDE * SIDE }, (_, index) => [index % SIDE, Math.floor(index / SIDE)])
      await store.write(tiles.map(([x, y]) => ({ layer, z: 3, x, y, time, bytes: image(layer, x, y, time) })))
      await store.putEdition(layer, time, { title: `edition-of-${layer}` })
    }
    await store.putStyle(layer, {
      time: T1,
      digest: 'x',
      style: {
        version: 8, name: `words-of-${layer}`, sources: { own: { type: 'raster', url: `couch://${layer}` } }, layers: []
      },
      files: { 'sprite.json': { type: 'application/json', bytes: Buffer.from('{}') }, 'sprite.png': {
        type: 'image/png', bytes: image(layer, 1, 0, T1)
      }, 'glyphs/A/0-255.pbf': { type: 'application/x-protobuf', bytes: image(layer, 0, 0, T1) } }
    })
  }
}

/** Text in a database that no gateway may show. */
export const SECRET = 'nobody may ever read this'

/**
 * Creates a database beside the store, with a document of which no gateway may show anything.
 * @returns {Promise<string>} its URL
 */
export async function secretDatabase (backend) {
  const url = await backend.database()
  await request(url, { method: 'PUT' })
  await put(`${url}/secret`, { text: SECRET })
  return url
}

/** Every image of private layers. */
export const secrets = () =>
  PRIVATE.flatMap(layer => [T1, T2].flatMap(time => [0, 1].flatMap(x => [0, 1].map(y => image(layer, x, y, time)))))

const inAnHour = () => Math.floor(Date.now() / 1000) + 3600
export const token =
  (layers, { until = inAnHour(), key = 'knew', keys = KEYS } = {}) => signToken({ layers, until }, keys, key)

/** A token that has just expired. */
export const expired = layers => token(layers, { until: Math.floor(Date.now() / 1000) - 10 })

/** A token that is signed with a wrong key. */
export const forged = layers => token(layers, { keys: { knew: 'x'.repeat(40) } })

/** Whether a token is valid. */
export function isGood (text) {
  try {
    return Boolean(readToken(text, KEYS))
  } catch {
    return false
  }
}

/**
 * The ways in which a request can carry a token.
 * @type {Record<string, (path: string, text: string) => [string, Record<string, string>]>}
 */
export const ways = {
  address: (path, text) => [`${path}${path.includes('?') ? '&' : '?'}token=${text}`, {}],
  bearer: (path, text) => [path, { authorization: `Bearer ${text}` }],
  password: (path, text) => [path, { authorization: `Basic ${Buffer.from(`anybody:${text}`).toString('base64')}` }],
  cookie: (path, text) => [path, { cookie: `a=b; tilecouch=${text}; c=d` }]
}

/** Addresses about one layer, of every kind that the router knows. @param {string} layer */
export const addresses = layer => [
  `/${layer}/3/1/0.png`, `/${layer}@2023/3/1/0.png`, `/${layer}@${T1}/3/1/0.png`, `//${layer}/3/1/0.png`,
  `/%${layer.charCodeAt(0).toString(16)}${layer.slice(1)}/3/1/0.png`, `http://h/${layer}/3/1/0.png`,
  `/tms/1.0.0/${layer}/3/1/7.png`, `/tms/1.0.0/${layer}@2023/3/1/7.png`,
  `/quadkey/${layer}/001.png`, `/quadkey/${layer}@2023/001.png`,
  `/${layer}.json`, `/${layer}@2023.json`, `/${layer}/3/1/0.json`,
  `/${layer}@2023/3/1/0.json`, `/${layer}/times.json`, `/${layer}/times.json?bbox=-180,-85,180,85&z=3`,
  `/${layer}.qlr`, `/${layer}@2023.qlr`, `/${layer}/gdal.xml`,
  `/${layer}@2023/gdal.xml`, `/wmts@2023/${layer}/default/GoogleMapsCompatible/3/0/1.png`,
  `/${layer}/style.json`, `/${layer}@2023/style.json?theme=dark`,
  `/styles/${layer}@${T1}/sprite.png`, `/styles/${layer}@${T1}/glyphs/A,B/0-255.pbf`,
  `/ogc/collections/${layer}`, `/ogc/collections/${layer}/map/tiles`,
  `/ogc/collections/${layer}/map/tiles/WebMercatorQuad?datetime=2023`,
  `/ogc/collections/${layer}/map/tiles/WebMercatorQuad/3/0/1`,
  `/wmts/${layer}/default/GoogleMapsCompatible/3/0/1.png`,
  `/wmts/${layer}/default/${T1}/GoogleMapsCompatible/3/0/1.png`,
  `/wmts?service=WMTS&request=GetTile&version=1.0.0&layer=${layer}&style=default&format=image/png&` +
    `tilematrixset=GoogleMapsCompatible&tilematrix=3&tilerow=0&tilecol=1`,
  `/db/${layer}:3:1:0`, `/db/${layer}:3:1:0?attachments=true`,
  `/db/${layer}:3:1:0/tile`, `/db/${layer}%3A3%3A1%3A0@${T1}/tile`,
  `/db/layer:${layer}`, `/db/edition:${layer}@${T1}`, `/db/style:${layer}@${T1}`, `/db/style:${layer}@${T1}/sprite.png`,
  `/db/_all_docs?startkey="style:${layer}@"&endkey="style:${layer}@~"&include_docs=true`,
  `/db/_design/versions/_view/styles?startkey=["${layer}"]&endkey=["${layer}",{}]`,
  `/db/_all_docs?include_docs=true&startkey="${layer}:"&endkey="${layer}%3B"`,
  `/db/_all_docs?keys=["${layer}:3:1:0"]&include_docs=true&attachments=true`, `/db/_all_docs?key="layer:${layer}"`,
  `/db/_all_docs?descending=true&startkey="edition:${layer}@~"&endkey="edition:${layer}@"&include_docs=true`,
  `/db/_design/versions/_view/by_tile?reduce=false&startkey=["${layer}",3]&endkey=["${layer}",3,{}]`,
  `/db/_design/versions/_view/by_area?startkey=["${layer}"]&endkey=["${layer}",{}]`,
  `/db/_design/versions/_view/by_zoom?group=true&startkey=["${layer}"]&endkey=["${layer}",{}]`
].map(path => path.replace(/["[\]{}]/g, encodeURIComponent))

/** POST requests about one layer: path and body. @param {string} layer @returns {[string, any][]} */
export const questions = layer => [
  ['/db/_all_docs', { keys: [`${layer}:3:1:0`] }],
  ['/db/_all_docs?include_docs=true&attachments=true', { keys: [`${layer}:3:1:0`] }],
  ['/db/_all_docs/queries',
    { queries: [{ keys: [`${layer}:3:1:0`], include_docs: true, attachments: true },
      { startkey: `${layer}:3:1:0@~`, endkey: `${layer}:3:1:0@`, descending: true, limit: 5, include_docs: true }] }],
  ['/db/_bulk_get?attachments=true', { docs: [{ id: `${layer}:3:1:0` }] }],
  ['/db/_design/versions/_view/by_tile/queries',
    { queries: [{ reduce: false, startkey: [layer, 3, 1, 0], endkey: [layer, 3, 1, 1, {}] }] }],
  ['/db/_design/versions/_view/by_time/queries',
    { queries: [{ reduce: false, limit: 1, startkey: [layer], endkey: [layer, '\ufff0'] }] }],
  ['/db/_design/versions/_view/by_tile', { keys: [[layer, 3, 1, 0, T1]], reduce: false }],
  ['/db/_changes?filter=_doc_ids', { doc_ids: [`${layer}:3:1:0`, `layer:${layer}`] }]
]
