// A database in memory that answers as CouchDB does, as far as loading and resolving ask: revision trees, attachments,
// the store's own validation, the view of conflicts. Thousands of histories can be tried on it, documents can be handed
// on one by one in any order, and it dies when it is told to.
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
  /** Writes until it dies. */
  lives = Infinity
  /** @type {(id: string) => boolean} */
  refuses = () => false
  /**
   * Whether what is written has to be valid: a store that was filled before its validation function came was not asked.
   */
  validates = true
  /** Documents that are not replicated. @type {Map<string, any>} */
  local = new Map()
  /**
   * What somebody else does after so many requests to write.
   * @type {{writes: number, run: () => Promise<void>} | undefined}
   */
  meanwhile

  /** @param {string} name also of its own way to make revisions */
  constructor (name) {
    super(`http://memory/${name}`, { retries: 0 })
    this.name = name
  }

  /** @returns {Promise<any>} */
  async request ({ method = 'GET', path, qs = {}, body, parse }) {
    const question = typeof body === 'string' || Buffer.isBuffer(body)
      ? JSON.parse(body.toString()) : structuredClone(body)
    if (path === '') return { doc_del_count: 1 }
    if (path === '_bulk_docs') {
      await this.#others()
      return this.#write(question)
    }
    if (path === '_bulk_get') {
      const answer = { results: question.docs.map(({ id, rev }) => ({ id, docs: this.#open(id, rev, qs) })) }
      return parse ? parse(Buffer.from(JSON.stringify(answer))) : answer
    }
    if (path === '_all_docs/queries') return { results: question.queries.map(query => this.#all(query)) }
    if (path === '_all_docs') return this.#all(qs)
    if (path === '_design/versions/_view/conflicts/queries') {
      return { results: question.queries.map(query => this.#conflicts(query)) }
    }
    if (path.startsWith('_local/')) {
      return method === 'PUT' ? this.#note(path, question) : this.local.get(path) ?? missing()
    }
    if (method === 'GET') return this.#one(decodeURIComponent(path), qs)
    throw new Error(`${method} ${path} is not known here`)
  }

  #note (path, doc) {
    if (this.lives-- <= 0) throw new TilecouchError('ABORTED')
    this.local.set(path, JSON.parse(JSON.stringify(doc)))
    return { ok: true }
  }

  #one (id, { rev, attachments, revs }) {
    const node = rev ? this.docs_.get(id)?.get(rev) : this.living(id)[0]
    if (!node) return missing()
    const doc = shown(node.doc, attachments)
    for (const attachment of Object.values(doc._attachments ?? {})) {
      if (attachment.data) attachment.data = Buffer.from(attachment.data, 'base64').toString('base64')
    }
    return {
      ...doc,
      ...(
        revs &&
          { _revisions: {
            start: generation(node.rev), ids: this.#line(id, node).map(one => one.slice(one.indexOf('-') + 1))
          } }
      )
    }
  }

  /** A revision and those before it. */
  #line (id, node) {
    const line = []
    for (let at = node; at; at = this.docs_.get(id)?.get(at.parent)) line.push(at.rev)
    return line
  }

  async #others () {
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

  /** Takes over what another one has of some documents, as replication does. */
  take (other, ids) {
    for (const id of ids) {
      const own = this.docs_.get(id) ?? new Map()
      for (const [rev, node] of other.docs_.get(id) ?? []) if (!own.has(rev)) own.set(rev, node)
      if (own.size) this.docs_.set(id, own)
    }
  }

  #open (id, rev, { latest, attachments }) {
    const all = this.docs_.get(id)
    const under = leaf => {
      for (let at = leaf; at; at = all?.get(at.parent)) if (at.rev === rev) return true
      return false
    }
    const wanted = this.leavesAt(id).filter(leaf => !rev || (latest ? under(leaf) : leaf.rev === rev))
    if (!wanted.length) return [{ error: { id, rev, error: 'not_found', reason: 'missing' } }]
    return wanted.map(({ doc }) => ({ ok: shown(doc, attachments) }))
  }

  #all ({ keys, startkey = '', endkey = '~', descending, limit = Infinity, include_docs: docs, conflicts }) {
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
    const [{ doc }, ...others] = this.living(id)
    return { ...shown(doc), ...(conflicts && others.length && { _conflicts: others.map(({ rev }) => rev) }) }
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
    const at = after
      ? rows.findIndex(({ id, key }) => compareIds(canonical(key), canonical(startkey)) > 0 ||
        (canonical(key) === canonical(startkey) && id >= after)) : 0
    return { rows: at < 0 ? [] : rows.slice(at, at + limit) }
  }

  #write ({ docs, new_edits: newEdits = true }) {
    const answers = docs.map(doc => {
      if (this.lives-- <= 0) throw new TilecouchError('ABORTED')
      return newEdits ? this.#edit(doc) : this.#keep(doc)
    })
    return newEdits ? answers : answers.filter(Boolean)
  }

  #edit ({ _rev: given, ...doc }) {
    const leaves = this.leavesAt(doc._id)
    const parent = given ? leaves.find(({ rev }) => rev === given) : leaves[0]
    if (given ? !parent : parent && !parent.doc._deleted) {
      return { id: doc._id, error: 'conflict', reason: 'Document update conflict.' }
    }
    const rev =
      `${parent ? generation(parent.rev) + 1 : 1}-${hash('md5', `${this.name} ${parent?.rev} ${canonical(doc)}`)}`
    return this.#add(doc, rev, parent) ?? { id: doc._id, ok: true, rev }
  }

  #keep ({ _rev: rev, _revisions: { start, ids }, ...doc }) {
    const parent = ids.length > 1 ? `${start - 1}-${ids[1]}` : null
    const known = this.docs_.get(doc._id)
    if (known?.has(rev)) return undefined
    return this.#add(doc, rev, parent && known?.get(parent))
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

function shown ({ _attachments: attachments, ...doc }, bytes = false) {
  if (!attachments) return { ...doc }
  return { ...doc, _attachments: Object.fromEntries(Object.entries(attachments)
    .map(([name, { data, ...about }]) => [name, bytes ? { ...about, data } : { ...about, stub: true }])) }
}

function missing () {
  throw new TilecouchError('COUCHDB_ERROR', { status: 404, reason: 'missing' })
}
