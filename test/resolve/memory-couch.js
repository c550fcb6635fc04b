// A database in memory that answers as CouchDB does, as far as loads and resolving need: revision trees, attachments,
// the validation function, the view of conflicts. Tests run thousands of histories on it, replicate single documents in
// any order, and stop it after a number of writes.
import { hash } from 'node:crypto'
import { TilecouchError, compareIds } from '../../core/index.js'
import { Couch } from '../../loader/store/couch.js'
import { digestOf } from '../../loader/store/tile.js'
import { compareRevs } from '../../core/mirror/index.js'
import { readValidation } from '../../loader/store/design-source.js'
import { canonical } from '../../core/values.js'

/** @typedef {{rev: string, parent: string | null, doc: any}} Node */

const source = await readValidation()
const validate = (0, eval)(source)
const generation = rev => Number.parseInt(rev, 10)

export class MemoryCouch extends Couch {
  /** @type {Map<string, Map<string, Node>>} */
  docs_ = new Map()
  /** The number of writes until it dies. */
  lives = Infinity
  /** @type {(id: string) => boolean} */
  refuses = () => false
  /**
   * Whether documents are validated. A store may contain documents from before its validation function.
   */
  validates = true
  /** Documents that are not replicated. @type {Map<string, any>} */
  local = new Map()
  /**
   * A task of another writer, which runs after this number of requests to write.
   * @type {{writes: number, run: () => Promise<void>} | undefined}
   */
  meanwhile

  /** @param {string} name also makes its revisions differ from those of other databases */
  constructor (name) {
    super(`http://memory/${name}`, { retries: 0 })
    this.name = name
  }

  /** @returns {Promise<any>} */
  async request ({ method = 'GET', path, qs = {}, body, parse }) {
    const request = typeof body === 'string' || Buffer.isBuffer(body)
      ? JSON.parse(body.toString()) : structuredClone(body)
    if (path === '') return { doc_del_count: 1 }
    if (path === '_bulk_docs') {
      await this.#runMeanwhile()
      return this.#write(request)
    }
    if (path === '_bulk_get') {
      const answer = { results: request.docs.map(({ id, rev }) => ({ id, docs: this.#readRevisions(id, rev, qs) })) }
      return parse ? parse(Buffer.from(JSON.stringify(answer))) : answer
    }
    if (path === '_all_docs/queries') return { results: request.queries.map(query => this.#rows(query)) }
    if (path === '_all_docs') return this.#rows(qs)
    if (path === '_design/versions/_view/conflicts/queries') {
      return { results: request.queries.map(query => this.#conflicts(query)) }
    }
    if (path.startsWith('_local/')) {
      return method === 'PUT' ? this.#writeLocal(path, request) : this.local.get(path) ?? throwMissing()
    }
    if (method === 'GET') return this.#document(decodeURIComponent(path), qs)
    throw new Error(`${method} ${path} is not known here`)
  }

  #writeLocal (path, doc) {
    if (this.lives-- <= 0) throw new TilecouchError('ABORTED')
    this.local.set(path, JSON.parse(JSON.stringify(doc)))
    return { ok: true }
  }

  #document (id, { rev, attachments, revs }) {
    const node = rev ? this.docs_.get(id)?.get(rev) : this.living(id)[0]
    if (!node) return throwMissing()
    const doc = shownDoc(node.doc, attachments)
    for (const attachment of Object.values(doc._attachments ?? {})) {
      if (attachment.data) attachment.data = Buffer.from(attachment.data, 'base64').toString('base64')
    }
    return {
      ...doc,
      ...(
        revs &&
          { _revisions: {
            start: generation(node.rev), ids: this.#ancestry(id, node).map(one => one.slice(one.indexOf('-') + 1))
          } }
      )
    }
  }

  /** A revision and its ancestors. */
  #ancestry (id, node) {
    const line = []
    for (let ancestor = node; ancestor; ancestor = this.docs_.get(id)?.get(ancestor.parent)) line.push(ancestor.rev)
    return line
  }

  async #runMeanwhile () {
    if (!this.meanwhile || this.meanwhile.writes-- > 0) return
    const { run } = this.meanwhile
    this.meanwhile = undefined
    await run()
  }

  /** @returns {Node[]} best first */
  leavesAt (id) {
    const nodes = [...this.docs_.get(id)?.values() ?? []]
    const parents = new Set(nodes.map(({ parent }) => parent))
    return nodes.filter(({ rev }) => !parents.has(rev))
      .sort((a, b) => Number(Boolean(a.doc._deleted)) - Number(Boolean(b.doc._deleted)) || compareRevs(b.rev, a.rev))
  }

  living (id) {
    return this.leavesAt(id).filter(({ doc }) => !doc._deleted)
  }

  get ids () {
    return [...this.docs_.keys()].sort(compareIds)
  }

  /** Copies documents of another database, as replication does. */
  take (other, ids) {
    for (const id of ids) {
      const revisions = this.docs_.get(id) ?? new Map()
      for (const [rev, node] of other.docs_.get(id) ?? []) if (!revisions.has(rev)) revisions.set(rev, node)
      if (revisions.size) this.docs_.set(id, revisions)
    }
  }

  #readRevisions (id, rev, { latest, attachments }) {
    const revisions = this.docs_.get(id)
    const isUnder = leaf => {
      for (let node = leaf; node; node = revisions?.get(node.parent)) if (node.rev === rev) return true
      return false
    }
    const leaves = this.leavesAt(id).filter(leaf => !rev || (latest ? isUnder(leaf) : leaf.rev === rev))
    if (!leaves.length) return [{ error: { id, rev, error: 'not_found', reason: 'missing' } }]
    return leaves.map(({ doc }) => ({ ok: shownDoc(doc, attachments) }))
  }

  #rows ({ keys, startkey = '', endkey = '~', descending, limit = Infinity, include_docs: docs, conflicts }) {
    const [from, to] = descending ? [endkey, startkey] : [startkey, endkey]
    const ids = keys ?? this.ids.filter(id => id >= from && id <= to)
    if (descending) ids.reverse()
    const rows = ids.filter(id => this.living(id).length).slice(0, limit)
    return {
      rows: rows.map(
        id => ({ id, key: id, value: { rev: this.living(id)[0].rev }, doc: docs && this.#winner(id, conflicts) })
      )
    }
  }

  #winner (id, conflicts) {
    const [{ doc }, ...losers] = this.living(id)
    return { ...shownDoc(doc), ...(conflicts && losers.length && { _conflicts: losers.map(({ rev }) => rev) }) }
  }

  #conflicts ({ limit, startkey_docid: after = '', startkey, endkey }) {
    const rows = this.ids.filter(id => this.living(id).length > 1)
      .map(
        id => (
          { id, key: [this.living(id)[0].doc.layer ?? null, this.living(id)[0].doc.type ?? null], value: this.living(id)
            .slice(1).map(({ rev }) => rev) }
        )
      )
      .filter(({ key }) => !endkey || key[0] === endkey[0])
      .sort((a, b) => compareIds(canonical(a.key), canonical(b.key)) || compareIds(a.id, b.id))
    const start = after
      ? rows.findIndex(({ id, key }) => compareIds(canonical(key), canonical(startkey)) > 0 ||
        (canonical(key) === canonical(startkey) && id >= after)) : 0
    return { rows: start < 0 ? [] : rows.slice(start, start + limit) }
  }

  #write ({ docs, new_edits: newEdits = true }) {
    const answers = docs.map(doc => {
      if (this.lives-- <= 0) throw new TilecouchError('ABORTED')
      return newEdits ? this.#update(doc) : this.#replicate(doc)
    })
    return newEdits ? answers : answers.filter(Boolean)
  }

  #update ({ _rev: givenRev, ...doc }) {
    const leaves = this.leavesAt(doc._id)
    const parent = givenRev ? leaves.find(({ rev }) => rev === givenRev) : leaves[0]
    if (givenRev ? !parent : parent && !parent.doc._deleted) {
      return { id: doc._id, error: 'conflict', reason: 'Document update conflict.' }
    }
    const rev =
      `${parent ? generation(parent.rev) + 1 : 1}-${hash('md5', `${this.name} ${parent?.rev} ${canonical(doc)}`)}`
    return this.#add(doc, rev, parent) ?? { id: doc._id, ok: true, rev }
  }

  #replicate ({ _rev: rev, _revisions: { start, ids }, ...doc }) {
    const parent = ids.length > 1 ? `${start - 1}-${ids[1]}` : null
    const revisions = this.docs_.get(doc._id)
    if (revisions?.has(rev)) return undefined
    return this.#add(doc, rev, parent && revisions?.get(parent))
  }

  #add (doc, rev, parent) {
    for (const [name, attachment] of Object.entries(doc._attachments ?? {})) {
      if (attachment.stub) doc._attachments[name] = parent?.doc._attachments[name]
    }
    for (const attachment of Object.values(doc._attachments ?? {})) {
      Object.assign(attachment, {
        digest: digestOf(Buffer.from(attachment.data, 'base64')), length: Buffer.from(attachment.data, 'base64').length
      })
    }
    try {
      if (this.refuses(doc._id)) throw { forbidden: 'not this one' }
      if (this.validates) validate(doc, parent?.doc ?? null, { name: 'admin', roles: ['_admin'] }, {})
    } catch (error) {
      return { id: doc._id, error: 'forbidden', reason: error.forbidden }
    }
    if (!this.docs_.has(doc._id)) this.docs_.set(doc._id, new Map())
    this.docs_.get(doc._id)?.set(rev, { rev, parent: parent?.rev ?? null, doc: { ...doc, _rev: rev } })
    return undefined
  }
}

function shownDoc ({ _attachments: attachments, ...doc }, bytes = false) {
  if (!attachments) return { ...doc }
  return { ...doc, _attachments: Object.fromEntries(Object.entries(attachments)
    .map(([name, { data, ...fields }]) => [name, bytes ? { ...fields, data } : { ...fields, stub: true }])) }
}

function throwMissing () {
  throw new TilecouchError('COUCHDB_ERROR', { status: 404, reason: 'missing' })
}
