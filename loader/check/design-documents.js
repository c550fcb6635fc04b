// The design documents of a store: those that must be there, those that are somebody else's, and what a push left behind.
import { ownDesigns } from '../couchapp/compose.js'
import { STAGING, push } from '../couchapp/push.js'
import { isPublic } from '../mirror/sides.js'
import { peerOf } from '../mirror/peer.js'
import { tombstone } from '../store/revisions.js'
import { encodeId } from '../../core/couch/client.js'
import { isPublished } from '../publish.js'

const VALIDATION = '_design/tiles'

export class DesignDocuments {
  #own = /** @type {import('../couchapp/compose.js').DesignDocument[]} */ ([])
  /** Id -> whether it is there, and ours. @type {Map<string, 'new' | 'changed' | 'unchanged'>} */
  #states = new Map()

  /** @param {import('../store/index.js').Store} store @param {AbortSignal} [signal] */
  constructor (store, signal) {
    this.store = store
    this.couch = store.couch
    this.signal = signal
  }

  /** Done when it is needed: making them takes a second. */
  async #open () {
    if (this.#own.length) return
    this.#own = await ownDesigns()
    await this.#look()
  }

  async #look () {
    this.#states = new Map((await push(this.couch, this.#own, { dryRun: true })).map(({ id, action }) => [id, action]))
  }

  /** @param {import('../verify/report.js').Report} report @param {string[]} ids of all there are */
  async check (report, ids) {
    await this.#open()
    const own = this.#own.map(({ _id }) => _id)
    const open = await isPublic(this.couch)
    const isBare = own.every(id => this.#states.get(id) === 'new')
    if (isBare && !open && !await isPublished(this.store)) report.add('unpublished', this.couch.db)
    for (const id of own) {
      const state = this.#states.get(id)
      if (state === 'new') {
        if (id === VALIDATION && open) report.add('no-validation', id, 'everybody may read the store, and so write into it')
        else if (!isBare) report.add('no-design', id)
      } else await this.#checkOne(report, id, state, open)
    }
    for (const id of ids.filter(name => !own.includes(name))) {
      if (own.some(name => id === name + STAGING)) report.add('left-staging', id)
      else report.add('foreign-design', id)
    }
  }

  async #checkOne (report, id, state, open) {
    const doc = await this.couch.find({ path: encodeId(id), qs: { conflicts: true } })
    if (doc?._conflicts?.length) report.add('conflict', id, `${doc._rev} and ${doc._conflicts}`)
    if (state !== 'changed') return
    if (id === VALIDATION && open && !doc?.validate_doc_update) report.add('no-validation', id, 'it has no validation function')
    else report.add('other-design', id)
  }

  /** @param {string} id */
  #isOurs (id) {
    return this.#states.get(id) === 'unchanged'
  }

  /** Brings those that are named. @param {string[]} ids */
  async bring (ids) {
    await this.#open()
    await push(this.couch, this.#own.filter(({ _id }) => ids.includes(_id)), { signal: this.signal })
    await this.#look()
    return ids.every(id => this.#isOurs(id))
  }

  /** What a push left behind goes as the next push would remove it: where it has nothing more to do. @param {string[]} ids */
  async endStaging (ids) {
    await this.#open()
    const own = ids.map(id => id.slice(0, -STAGING.length))
    if (!own.every(id => this.#isOurs(id))) return 'the push was not ended: run `tilecouch push` again'
    return this.bring(own)
  }

  /** Losing revisions of what is ours. @param {string[]} ids */
  async endConflicts (ids) {
    await this.#open()
    const docs = await Promise.all(ids.map(id => this.couch.find({ path: encodeId(id), qs: { conflicts: true } })))
    if (!ids.every(id => this.#isOurs(id))) return 'the one that CouchDB shows is not that of this tilecouch: run `tilecouch push`, then this again'
    const ends = docs.flatMap(doc => (doc?._conflicts ?? []).map(rev => tombstone(doc._id, rev)))
    return (await peerOf(this.couch).write(ends, this.signal)).length === 0
  }

  /**
   * Builds indexes anew without a moment in which there is none: once under functions that differ by a line's end, which
   * CouchDB takes for another index, and then, when the old files are gone, under their own.
   * @param {string[]} ids
   */
  async rebuild (ids) {
    await this.#open()
    const docs = this.#own.filter(({ _id, views }) => ids.includes(_id) && views)
    if (!docs.every(({ _id }) => this.#isOurs(_id))) return 'the design document is not that of this tilecouch: run `tilecouch check --only upgrade --fix`'
    const beside = docs.map(doc => ({ ...doc, views: Object.fromEntries(Object.entries(doc.views ?? {}).map(([name, view]) => [name, { ...view, map: `${view.map}\n` }])) }))
    await push(this.couch, beside, { signal: this.signal })
    return this.bring(ids)
  }
}
