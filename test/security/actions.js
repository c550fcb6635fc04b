// Actions that can be tried on a store over HTTP, and who may do them. SECURITY.md prints this table, and table.test.js
// tries every cell of it.
import { png } from '../support/tiles.js'

const T1 = '2021-01-01T00:00:00Z'
const T2 = '2022-01-01T00:00:00Z'
const data = png(7).toString('base64')
const image = { tile: { content_type: 'image/png', data } }
const page =
  { 'page.html': { content_type: 'text/html', data: Buffer.from('<script>alert(1)</script>').toString('base64') } }

/** A head for each attempt, so that no attempt changes the tile of the next one. */
const head = x => ({
  _id: `osm:10:${x}:1`, type: 'tile', layer: 'osm', z: 10, x, y: 1,
  current: true, time: T2, stored: T2, _attachments: image
})
const past = x => ({ ...head(x), _id: `osm:10:${x}:1@${T1}`, current: false, time: T1 })
const layer = x => ({ _id: `layer:l${x}`, type: 'layer', layer: `l${x}` })
const edition = x => ({ _id: `edition:l${x}@${T1}`, type: 'edition', layer: `l${x}`, time: T1 })
const RUN = '20240301T101500123-4f9k'
const manifest = x => ({
  ...edition(x), _id: `manifest:l${x}@${T1}:${RUN}`, type: 'manifest', run: RUN,
  complete: true, tiles: 1, root: 'a', blocks: { '3:0:0': ['aaaaaaaaaaaa'] }
})
const style = x =>
  ({ ...edition(x), _id: `style:l${x}@${T1}`, type: 'style', style: { version: 8, sources: {}, layers: [] } })
const runOf = x => `20240301T101500123-${String(x).padStart(4, '0')}`
const work = (x, user) => ({
  _id: `work:${runOf(x)}`, type: 'work', command: 'load', state: 'running', started: T1, seen: T1,
  ...(user && { user })
})
const activity = (x, user) => ({
  _id: `activity:${runOf(x)}`, type: 'activity', what: 'layer', done: 'changed', layer: 'osm', at: T1,
  ...(user && { user })
})
const token = (x, user) => ({
  _id: `token:${String(x).padStart(12, '0')}`, type: 'token', hash: 'a1'.repeat(32), layers: ['osm'], created: T1,
  ...(user && { user })
})
const design = x => ({ _id: `_design/d${x}`, views: {} })
const workOfOther = x => work(x, 'somebody')

const pathOf = ({ _id }) => _id.startsWith('_design/') ? _id : encodeURIComponent(_id)
const put = doc => ({ method: 'PUT', path: pathOf(doc), body: doc })
const bulk = (docs, fields) => ({ method: 'POST', path: '_bulk_docs', body: { docs, ...fields } })
const post = (path, body = {}) => ({ method: 'POST', path, body })
const get = path => ({ method: 'GET', path })
const replicated = doc => bulk([{ _rev: '1-abc', ...doc }], { new_edits: false })

/** An action on a document that an admin writes before it. The action gets the document and its revision. */
const onDocument = (make, act) => ({ before: make, act: (x, rev, who, root) => act(make(x, root), rev, x) })
const remove = (doc, rev) => ({ method: 'DELETE', path: `${pathOf(doc)}?rev=${rev}` })
const change = fields => (doc, rev) => put({ ...doc, _rev: rev, ...fields })
const attach = (name, body, type) => (doc, rev) =>
  ({ method: 'PUT', path: `${pathOf(doc)}/${name}?rev=${rev}`, body, headers: { 'content-type': type } })

/** An action that the embedded store does not have, and refuses. */
const couchOnly = action => ({ ...asAction(action), couchOnly: true })
const asAction = action => typeof action === 'function' ? { act: action } : action

/**
 * The actions by level: readers of the store; its writers; its admins; admins of the server; nobody, not even an admin.
 * Each function gets the number of the attempt, the revision of the document written before, the name of the person who
 * tries, and the name of the server admin.
 */
const levels = {
  reads: {
    'read a document': () => get('osm:10:0:1'),
    'read an attachment': () => get('osm:10:0:1/tile'),
    'read the list of documents': () => get('_all_docs?limit=1'),
    'read the feed of changes': () => get('_changes?limit=1'),
    'read by selector: `_find`': couchOnly(() => post('_find', { selector: { _id: 'layer:osm' } })),
    'read many: `_bulk_get`': () => post('_bulk_get', { docs: [{ id: 'osm:10:0:1' }] }),
    'compare revisions: `_revs_diff`': () => post('_revs_diff', { 'osm:10:0:1': ['1-a'] }),
    'read a view': () => get('_design/versions/_view/by_zoom'),
    'read a tile through `_rewrite`': () => get('_design/tiles/_rewrite/osm/10/0/1.png'),
    'read `_security`': () => get('_security'),
    'read `_local` documents': () => get('_local_docs'),
    'write a `_local` document': x => ({ method: 'PUT', path: `_local/n${x}`, body: { note: 1 } })
  },
  writes: {
    'write a tile: `PUT`': x => put(head(x)),
    'write a tile: `POST`': x => post('', head(x)),
    'write tiles: `_bulk_docs`': x => bulk([head(x), past(x)]),
    'write a revision: `_bulk_docs` with `new_edits: false`': x => replicated(head(x)),
    'write a revision: `PUT` with `new_edits=false`':
      x => ({ ...put({ ...head(x), _rev: '1-abc' }), path: `osm:10:${x}:1?new_edits=false` }),
    'write a tombstone of a new id': x => replicated({ _id: `osm:10:${x}:1`, _rev: '2-abc', _deleted: true }),
    'rewrite a head': onDocument(head, change({ expires: T2 })),
    'copy a document onto itself: `COPY`': couchOnly(onDocument(head,
      ({ _id }, rev) => ({ method: 'COPY', path: _id, headers: { destination: `${_id}?rev=${rev}` } }))),
    'write the attachment of a head alone: `PUT`': couchOnly(onDocument(head, attach('tile', png(8), 'image/png'))),
    'delete a head: `DELETE`': onDocument(head, remove),
    'delete a past version: `DELETE`': onDocument(past, remove),
    'delete a layer: `_bulk_docs`': onDocument(layer, ({ _id }, rev) => bulk([{ _id, _rev: rev, _deleted: true }])),
    'write a layer, an edition, a manifest': x => bulk([layer(x), edition(x), manifest(x)]),
    'write a style': x => put({ ...style(x), _attachments: { 'sprite.png': image.tile } }),
    'delete a style: `DELETE`': onDocument(style, remove),
    'record the work of a command, in one\'s own name': (x, rev, who) => put(work(x, who)),
    'delete the work of somebody else: `DELETE`': onDocument(workOfOther, remove),
    'record a change, in one\'s own name': (x, rev, who) => put(activity(x, who))
  },
  administers: {
    'delete a recorded change: `DELETE`': onDocument(activity, remove),
    'delete a recorded change: a tombstone of another revision':
      onDocument(activity, ({ _id }) => replicated({ _id, _rev: '2-abc', _deleted: true })),
    'make a token for private layers, in one\'s own name': (x, rev, who) => put(token(x, who)),
    'revoke the token of somebody': onDocument(token, change({ revoked: T2 })),
    'delete the token of somebody: `DELETE`': onDocument(token, remove),
    'write a design document: `PUT`': x => put(design(x)),
    'write a design document: `_bulk_docs`': x => bulk([design(x)]),
    'write a design document: `_bulk_docs` with `new_edits: false`': x => replicated(design(x)),
    'attach a file to a design document': couchOnly(onDocument(design, attach('a.js', '1', 'text/javascript'))),
    'delete a design document': onDocument(design, remove),
    'make an index: `_index`':
      couchOnly(x => post('_index', { index: { fields: [`f${x}`] }, ddoc: `i${x}`, type: 'json' })),
    'set `_security`': () => ({ method: 'PUT', path: '_security', body: 'security' }),
    'set `_revs_limit`': couchOnly(() => ({ method: 'PUT', path: '_revs_limit', body: '1000' })),
    'compact: `_compact`': () => post('_compact'),
    'remove old indexes: `_view_cleanup`': () => post('_view_cleanup')
  },
  serves: {
    'record the work of a command, in another\'s name': x => put(workOfOther(x)),
    'change the work of somebody else': onDocument(workOfOther, change({ state: 'done' })),
    'make a token in another\'s name': x => put(token(x, 'somebody')),
    'purge: `_purge`': couchOnly(onDocument(head, ({ _id }, rev) => post('_purge', { [_id]: [rev] }))),
    'set `_purged_infos_limit`': couchOnly(() => ({ method: 'PUT', path: '_purged_infos_limit', body: '1000' })),
    'make a database': x => ({ method: 'PUT', path: `made${x}`, server: true }),
    'delete the database': { before: () => null, act: x => ({ method: 'DELETE', path: `made${x}`, server: true }) },
    'list databases': () => ({ method: 'GET', path: '_all_dbs', server: true })
  },
  nobody: {
    'change a recorded change': onDocument(activity, change({ done: 'removed' })),
    'record a change in another\'s name': x => put(activity(x, 'somebody')),
    'record a change without a name': x => put(activity(x)),
    'change the layers of a token': onDocument(token, change({ layers: ['*'] })),
    'change the hash of a token': onDocument(token, change({ hash: 'b2'.repeat(32) })),
    'make a revoked token valid again':
      onDocument((x, root) => ({ ...token(x, root), revoked: T1 }), change({ revoked: undefined })),
    'change a past version': onDocument(past, change({ note: 'otherwise' })),
    'change the attachment of a past version: `PUT`': couchOnly(onDocument(past, attach('tile', png(8), 'image/png'))),
    'delete the attachment of a tile alone: `DELETE`':
      couchOnly(onDocument(head, ({ _id }, rev) => ({ method: 'DELETE', path: `${_id}/tile?rev=${rev}` }))),
    'attach a second file to a tile': couchOnly(onDocument(head, attach('page.html', '<p>', 'text/html'))),
    'write a page as the image of a tile': x => put({ ...head(x), _attachments: { tile: page['page.html'] } }),
    'attach a file to a layer, an edition': x => put({ ...layer(x), _attachments: page }),
    'change a style': onDocument(style, change({ style: { ...style(0).style, name: 'otherwise' } })),
    'attach a page to a style': x => put({ ...style(x), _attachments: page }),
    'attach an image to a tombstone': x => put({ _id: `osm:10:${x}:1`, _deleted: true, _attachments: image }),
    'write a tombstone with fields of more than 1 kB':
      x => put({ _id: `osm:10:${x}:1`, _deleted: true, note: 'x'.repeat(2000) }),
    'attach a file to a tombstone': x => put({ _id: `osm:10:${x}:1`, _deleted: true, _attachments: page }),
    'write an attachment without a document': couchOnly(x => (
      { method: 'PUT', path: `osm:10:${x}:1/tile`, body: png(8), headers: { 'content-type': 'image/png' } })),
    'copy a tile to another place: `COPY`': couchOnly(onDocument(head,
      ({ _id }, rev, x) => ({ method: 'COPY', path: _id, headers: { destination: `osm:10:${x}:2` } }))),
    'write a tile under another\'s id': x => put({ ...head(x), x: x + 1 }),
    'write any other document': x => put({ _id: `stray${x}`, hello: 'world' }),
    'write a layer with invalid zooms, bounds or format': x => put(
      { ...layer(x), ...[{ maxzoom: 4e9 }, { bounds: {} }, { format: '../../x' }, { minzoom: 5, maxzoom: 3 }][x % 4] }),
    'write an edition with invalid counts or times':
      x => put({ ...edition(x), ...[{ tiles: -1 }, { finished: 'soon' }][x % 2] }),
    'write a manifest with invalid blocks':
      x => put({ ...manifest(x), blocks: { '4000000000:0:0': ['aaaaaaaaaaaa'] } }),
    'write a layer with fields of more than 256 kB': x => put(
      { ...layer(x), attribution: 'x'.repeat(99_000), description: 'x'.repeat(99_000), legend: 'x'.repeat(99_000) }),
    'write work without a state, or under another id':
      (x, rev, who) => put({ ...work(x, who), ...[{ state: undefined }, { _id: `work:${x}` }][x % 2] }),
    'write a tile with fields of more than 16 kB': x => put({ ...head(x), note: 'x'.repeat(20000) })
  }
}

export const actions = Object.fromEntries(Object.entries(levels).flatMap(([level, group]) => Object.entries(group)
  .map(([name, action]) => [name, { level, ...asAction(action) }])))

/** The people who try the actions. `other` writes into another store of the server. */
export const people = {
  nobody: 'without a name', reader: 'reader', writer: 'writer',
  other: 'writer of another store', boss: 'database admin', root: 'server admin'
}

const WHO = {
  reads: ['nobody', 'reader', 'other', 'writer', 'boss', 'root'],
  writes: ['writer', 'boss', 'root'],
  administers: ['boss', 'root'],
  serves: ['root'],
  nobody: []
}

/**
 * @param {keyof typeof levels} level
 * @param {string} who
 * @param {'open' | 'closed'} store closed: strangers and writers of other stores get no access at all
 */
export const may = (level, who, store) => WHO[level].includes(who) &&
  !(store === 'closed' && ['nobody', 'other'].includes(who))

const WHOEVER = {
  reads: 'everyone who may read the store: in a public store also without a name, in a closed one its readers, ' +
    'writers and admins',
  writes: 'its writers and admins, but no writer of another store',
  administers: 'admins of the database and of the server',
  serves: 'admins of the server',
  nobody: 'nobody, not even an admin'
}

/** The table, as SECURITY.md prints it. */
export function table () {
  const rows = Object.entries(WHOEVER).map(([level, who]) => `| ${who} | ${namesOf(level).join('; ')} |`)
  return ['| who | may |', '|---|---|', ...rows].join('\n')
}

/** The actions of a level. The ways of one action (`write a tile: PUT`, `write a tile: POST`) are in brackets. */
function namesOf (level) {
  const waysByName = new Map()
  for (const action of Object.keys(levels[level])) {
    const [name, ...ways] = action.split(/: (.*)/).filter(Boolean)
    waysByName.set(name, [...waysByName.get(name) ?? [], ...ways])
  }
  return [...waysByName].map(([name, ways]) => ways.length ? `${name} (${ways.join(', ')})` : name)
}
