// Damage to one tile, made on purpose: documents as other programs, scripts and replicas write them.
import { document, image, tile } from '../support/sample-tiles.js'
import { Couch } from '../../loader/store/couch.js'
import { BY_TILE } from '../../loader/store/reader.js'

const [T1, T2, T3] = ['2021-06-01T00:00:00Z', '2022-06-01T00:00:00Z', '2023-06-01T12:30:00Z']

/** A leaf of a document, in conflict with others. */
const leaf = (doc, letter) =>
  ({ ...doc, _rev: `1-${letter.repeat(32)}`, _revisions: { start: 1, ids: [letter.repeat(32)] } })

const past = (id, time, fields = {}, bytes = tile(2)) => document(`${id}@${time}`, fields, bytes)
const withAttachments = change => doc => ({ ...doc, _attachments: change(doc._attachments) })

/**
 * Kind of damage -> the documents of a tile, and the findings. Documents with a revision are written as replicators
 * write. after: the versions after the repair, oldest first, as a time, or as `TIME of` the time of the load.
 * @type {Record<string, {docs: (id: string) => Promise<any>[], found: string[], after: string[], keeps?: number}>}
 */
export const damage = {
  'a head older than its past': {
    docs: id => [document(id, { time: T1 }), past(id, T2), past(id, T3, {}, tile(3))],
    found: ['head-too-old'], after: [T1, T2, T3]
  },
  'two images at one time': {
    docs: id => [document(id), past(id, T2, { stored: T2 })],
    found: ['two-at-one-time'], after: [`2022-05-31T23:59:59Z of ${T2}`, T2]
  },
  'a past without a head': {
    docs: id => [document(`${id}@${T1}`), past(id, T2)], found: ['no-head'], after: [T1, T2]
  },
  'a past without a head, gone at last': {
    docs: id => [document(`${id}@${T1}`), past(id, T2, { gone: true }, null)], found: ['no-head'], after: [T1, T2]
  },
  'a past version in two places': {
    docs: id => [document(id), past(id, T1), past(id, '2021-05-31T23:59:59Z', { contested: T1 })],
    found: ['version-twice'], after: [`2021-05-31T23:59:59Z of ${T1}`, T2]
  },
  'heads of two masters': {
    docs: id => [document(id, {}, tile(2)).then(doc => leaf(doc, 'a')),
      document(id, { time: T3 }, tile(3)).then(doc => leaf(doc, 'b'))], found: ['conflict'], after: [T2, T3]
  }
}

const TEXT = { content_type: 'text/plain', data: '' }
/** Kind of fault -> the findings, and the documents. */
const wrong = {
  'a head that lies elsewhere by its fields': ['fields-disagree', id => [document(id, { x: 7, layer: 'relief' })]],
  'a head that says that it is past': ['wrong-current', id => [document(id, { current: false })]],
  'a past version that says that it is the head':
    ['wrong-current', id => [document(id), past(id, T1, { current: true })]],
  'a past version that lies elsewhere by its fields':
    ['fields-disagree', id => [document(id), past(id, T1, { y: 3 })]],
  'a past version of another time than its id':
    ['time-disagrees', id => [document(id), past(id, T1, { time: '2020-01-01T00:00:00Z' })]],
  'a time of another zone, with a fraction': ['bad-time bad-time',
    id => [document(id, { time: '2022-06-01T02:00:00.250+02:00', expires: '2030-01-01T00:00:00.000Z' })]],
  'a run and a confirmation that no removal can withdraw': ['bad-run bad-run',
    id => [document(id, { run: 'zzzz', seen: [[T3, 'zzzz']] })]],
  'a document without a type': ['not-a-tile', id => [document(id, { type: undefined })]],
  'a head that is not of the type it says': ['wrong-type', id => [document(id, {}, image('webp'))]],
  'a past version that is not of the type it says':
    ['wrong-type', id => [document(id), past(id, T1, {}, image('jpeg'))]],
  'an image that is said to be text': ['wrong-type', id => [document(id, {})
    .then(withAttachments(old => ({ tile: { ...old.tile, content_type: 'text/plain' } })))]],
  'an attachment beside the tile': ['stray-attachment', id => [past(id, T1)
    .then(withAttachments(old => ({ ...old, thumb: { content_type: 'text/plain', data: 'AAAA' } }))), document(id)]],
  'a tile that is called otherwise': ['no-bytes stray-attachment',
    id => [document(id).then(withAttachments(old => ({ 'tile.png': old.tile })))]],
  'heads of two masters, one of them with wrong fields': ['conflict fields-disagree',
    id => [document(id, { z: 9 }, tile(2)).then(doc => leaf(doc, 'b')),
      document(id, { time: T3 }, tile(3)).then(doc => leaf(doc, 'a'))]],
  'past versions of two masters, both with wrong fields': ['conflict wrong-current',
    id => [document(id, { time: T3 }, tile(4)), past(id, T1, { current: true }).then(doc => leaf(doc, 'a')),
      past(id, T1, { current: true }, tile(3)).then(doc => leaf(doc, 'b'))]],
  'everything at once': [
    'fields-disagree fields-disagree head-too-old not-a-tile stray-attachment wrong-current wrong-type',
    id => [document(id, { time: T1, current: false, x: 2 }, image('webp')),
      past(id, T2, { current: true, type: undefined }, image('jpeg')),
      past(id, T3, { layer: 'b' }, tile(3)).then(withAttachments(old => ({ ...old, a: TEXT })))]
  ]
}

/**
 * Tiles whose documents have wrong fields or bytes. They are found, and not repaired.
 * @type {Record<string, {docs: (id: string) => Promise<any>[], found: string[]}>}
 */
export const broken = Object.fromEntries(Object.entries(wrong)
  .map(([what, [findings, docs]]) => [what, { found: findings.split(' '), docs }]))

/** The bytes of all images of documents, as before a repair. */
export const imagesOf = docs => docs.flatMap(({ _attachments: attachments = {} }) => Object.entries(attachments)
  .filter(([name]) => name.startsWith('tile')).map(([, { data }]) => data))

/**
 * @param {import('../../loader/store/index.js').Store} store
 * @param {any[]} docs those with revisions are written as replicators write
 */
export async function plant ({ couch }, docs) {
  const [grafts, plain] = [docs.filter(({ _rev }) => _rev), docs.filter(({ _rev }) => !_rev)]
  for (const body of [{ docs: plain }, { docs: grafts, new_edits: false }]) {
    if (!body.docs.length) continue
    const answers = await couch.request({ method: 'POST', path: '_bulk_docs', body })
    const refused = answers.filter(({ error }) => error)
    if (refused.length) throw new Error(JSON.stringify(refused))
  }
}

// An index with wrong rows until it is rebuilt. A damaged index on the disk cannot be made over HTTP.

/**
 * @param {import('../../loader/store/index.js').Store} store
 * @param {string} lacks id of a document that the index lacks; it has a layer `ocean` instead
 */
export function rebuiltWhile (store, lacks) {
  const maps = new Set()
  let cleaned = 0
  store.couch.request = async request => {
    const answer = await Couch.prototype.request.call(store.couch, request)
    if (request.method === 'PUT' && request.path === '_design/versions') maps.add(request.body.views.by_tile.map)
    if (request.path === '_view_cleanup') cleaned++
    if (cleaned === 2 || request.path !== `${BY_TILE}/queries`) return answer
    for (const { rows } of answer.results) {
      const index = rows.findIndex(({ id }) => id === lacks)
      if (index >= 0) rows.splice(index, 1)
    }
    const [{ group_level: level, startkey }] = request.body.queries
    if (level === 1 && !startkey) answer.results[0].rows.push({ key: ['ocean'], value: 3 })
    return answer
  }
  return {
    isWhole: () => maps.size === 2 && cleaned === 2,
    /** Runs a task, and counts the rows that the view returns to another reader meanwhile. */
    async during (task) {
      const reader = new Couch(store.url)
      reader.request = Couch.prototype.request.bind(store.couch)
      const served = []
      let isOver = false
      const reading = (async () => {
        while (!isOver) {
          const rows = await reader.view(BY_TILE, { startkey: ['osm', 3], endkey: ['osm', 3, {}], reduce: false })
          served.push(rows.length)
        }
      })()
      const { report } = await task().finally(() => { isOver = true })
      await reading
      return { served, report }
    }
  }
}
