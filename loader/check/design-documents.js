// Checks the design documents of a store. Finds missing, outdated and foreign ones, and those that a push left behind.
import { ownDesigns } from '../couchapp/compose.js'
import { STAGING, push } from '../couchapp/push.js'
import { isPublic } from '../maintain/mirror/sides.js'
import { peerOf } from '../store/peer.js'
import { tombstone } from '../store/revisions.js'
import { encodeId } from '../../core/couch/client.js'
import { isPublished } from '../couchapp/publish.js'

const VALIDATION = '_design/tiles'

export class DesignDocuments {
  #ownDesigns = /** @type {import('../couchapp/compose.js').DesignDocument[]} */ ([])
  /** Id -> what a push would do. @type {Map<string, import('../couchapp/push.js').Pushed['action']>} */
  #states = new Map()

  /** @param {import('../store/index.js').Store} store @param {AbortSignal} [signal] */
  constructor (store, signal) {
    this.store = store
    this.couch = store.couch
    this.signal = signal
  }

  /** Composes the design documents of this tilecouch on first use: it takes a second. */
  async #compose () {
    if (this.#ownDesigns.length) return
    this.#ownDesigns = await ownDesigns()
    await this.#readStates()
  }

  async #readStates () {
    const states = await push(this.couch, this.#ownDesigns, { dryRun: true })
    this.#states = new Map(states.map(({ id, action }) => [id, action]))
  }

  #areOurs (ids) {
    return ids.every(id => this.#states.get(id) === 'unchanged')
  }

  #readWithConflicts (id) {
    return this.couch.find({ path: encodeId(id), qs: { conflicts: true } })
  }

  /** @param {import('./files/report.js').Report} report @param {string[]} ids all in the store */
  async check (report, ids) {
    await this.#compose()
    const ownIds = this.#ownDesigns.map(({ _id }) => _id)
    const isOpen = await isPublic(this.couch)
    const isEmpty = ownIds.every(id => this.#states.get(id) === 'new')
    if (isEmpty && !isOpen && !await isPublished(this.store)) report.add('unpublished', this.couch.db)
    for (const id of ownIds) {
      const state = this.#states.get(id)
      const mustValidate = id === VALIDATION && isOpen
      if (state === 'new') {
        if (mustValidate) report.add('no-validation', id, 'everybody may read the store, and so write into it')
        else if (!isEmpty) report.add('no-design', id)
        continue
      }
      const doc = await this.#readWithConflicts(id)
      if (doc?._conflicts?.length) report.add('conflict', id, `${doc._rev} and ${doc._conflicts}`)
      if (state !== 'changed') continue
      if (mustValidate && !doc?.validate_doc_update) report.add('no-validation', id, 'it has no validation function')
      else report.add('other-design', id)
    }
    for (const id of ids.filter(other => !ownIds.includes(other))) {
      if (this.#states.get(id) === 'removed') report.add('other-design', id)
      else report.add(ownIds.some(name => id === name + STAGING) ? 'left-staging' : 'foreign-design', id)
    }
  }

  /** Deploys the design documents of this tilecouch with these ids. @param {string[]} ids */
  async deploy (ids) {
    await this.#compose()
    await push(this.couch, this.#ownDesigns.filter(({ _id }) => ids.includes(_id)), { signal: this.signal })
    await this.#readStates()
    return this.#areOurs(ids)
  }

  /** Removes staging documents as the next push would, unless that push has more to do. @param {string[]} ids */
  async endStaging (ids) {
    await this.#compose()
    const ownIds = ids.map(id => id.slice(0, -STAGING.length))
    return this.#areOurs(ownIds) ? this.deploy(ownIds) : 'the push was not ended: run `tilecouch push` again'
  }

  /** Deletes the losing revisions of these design documents. @param {string[]} ids */
  async endConflicts (ids) {
    await this.#compose()
    const docs = await Promise.all(ids.map(id => this.#readWithConflicts(id)))
    if (!this.#areOurs(ids)) {
      return 'the one that CouchDB shows is not that of this tilecouch: run `tilecouch push`, then this again'
    }
    const tombstones = docs.flatMap(doc => (doc?._conflicts ?? []).map(rev => tombstone(doc._id, rev)))
    return (await peerOf(this.couch).write(tombstones, this.signal)).length === 0
  }

  /**
   * Rebuilds indexes while the old ones serve. First deploys functions with an added line end: CouchDB builds a new
   * index for them. Then, when the old files are gone, deploys the unchanged functions.
   * @param {string[]} ids
   */
  async rebuild (ids) {
    await this.#compose()
    const docs = this.#ownDesigns.filter(({ _id, views }) => ids.includes(_id) && views)
    if (!this.#areOurs(docs.map(({ _id }) => _id))) {
      return 'the design document is not that of this tilecouch: run `tilecouch check --only upgrade --fix`'
    }
    const withLineEnd = ([name, view]) => [name, { ...view, map: `${view.map}\n` }]
    const viewsOf = ({ views = {} }) => Object.fromEntries(Object.entries(views).map(withLineEnd))
    const changedDocs = docs.map(doc => ({ ...doc, views: viewsOf(doc) }))
    await push(this.couch, changedDocs, { signal: this.signal })
    return this.deploy(ids)
  }
}
