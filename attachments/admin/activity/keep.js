// For how many days activity is kept: admins change it, and what is older is removed while an admin has this open.
import { element } from '../../../client/timeline/dom.js'
import { activityDays, activityDefaults, keptFrom } from '../../../core/activity.js'
import { STORE_ID } from '../../../core/ids.js'
import { breathe } from '../../dom.js'
import { texts } from '../words.js'
import { Clash, save } from '../edit.js'
import { record } from '../record.js'

const BATCHES = 20 // of old activity that are removed while the section is open
const LEAST = 30 // days, and
const MOST = 36_500 // days: see core/settings.js

const words = texts.activity.keep

export class Keep {
  #app
  #left = BATCHES
  #isRemoving = false
  #isClosed = false
  #isTyped = false
  #input = element('input', {
    type: 'number', min: LEAST, max: MOST, step: 1, required: true, on: { input: () => { this.#isTyped = true } }
  })

  #button = element('button', { type: 'submit', class: 'secondary' }, words.save)
  #now = element('p', { class: 'hint' })

  element = element('form', { class: 'card keep', on: { submit: event => this.#submit(event) } },
    element('h3', null, words.head), this.#now,
    element('div', { class: 'row' }, element('label', null, words.days, this.#input), this.#button))

  /** @param {import('../index.js').App} app */
  constructor (app) {
    this.#app = app
  }

  get #store () {
    return this.#app.docs.get(STORE_ID)
  }

  update () {
    const days = activityDays(this.#store)
    this.#now.textContent = words.now(days)
    if (!this.#isTyped) this.#input.value = String(days)
    this.#removeOld()
  }

  close () {
    this.#isClosed = true
  }

  async #submit (event) {
    event.preventDefault()
    const { couch, docs, say } = this.#app
    const store = this.#store ?? { _id: STORE_ID, type: 'store' }
    const days = Number(this.#input.value)
    const before = activityDays(store)
    this.#button.disabled = true
    try {
      const { after } = await save(couch, store, { activityDays: days === activityDefaults.days ? undefined : days })
      docs.put(after)
      this.#isTyped = false
      say(words.saved(days))
      if (days !== before) {
        await record(this.#app, { what: 'store', done: 'changed', fields: { activityDays: { before, after: days } } })
      }
    } catch (error) {
      if (error instanceof Clash && error.newest) docs.put(error.newest)
      say(error instanceof Clash ? words.clash : texts.failed(error.message), true)
    } finally {
      this.#button.disabled = false
      this.update()
    }
  }

  /** A batch after the other, the oldest first; the page stays quick. */
  async #removeOld () {
    if (this.#isRemoving) return
    this.#isRemoving = true
    const { couch, docs } = this.#app
    try {
      while (this.#left > 0 && !this.#isClosed) {
        const from = keptFrom(this.#store, couch.now())
        const old = docs.all('activity').filter(({ at }) => at < from).sort((one, other) => one.at < other.at ? -1 : 1)
        if (!old.length) return
        this.#left--
        const gone = old.slice(0, activityDefaults.batch).map(({ _id, _rev }) => ({ _id, _rev, _deleted: true }))
        const answers = await couch.ask('_bulk_docs', { method: 'POST', body: { docs: gone } })
        if (answers.some(({ error }) => error && error !== 'conflict')) return // it may not: the next command does it
        for (const { _id } of gone) docs.drop(_id)
        await breathe()
      }
    } catch {
      this.#left = 0 // another time
    } finally {
      this.#isRemoving = false
    }
  }
}
