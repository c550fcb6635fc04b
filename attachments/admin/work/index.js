// What commands do in this store: what runs, what was interrupted, what ended. A killed command says "running" for ever
// and changes no document, so the page looks again every few seconds.
import { element, write } from '../../../client/timeline/dom.js'
import { soon } from '../../dom.js'
import { texts } from '../words.js'
import { confirm } from '../confirm.js'
import { offerAgain } from './again.js'
import { copies } from './copies.js'
import { ended } from './ended.js'
import { Runs } from './runs.js'
import { runList } from './run-list.js'
import { starter } from './start.js'

const words = texts.work
const LOOK = 3000 // milliseconds between two looks at who still lives

/** @type {import('../index.js').Section} */
export const work = {
  name: 'work',
  needs: 'writer',
  open: app => new Work(app)
}

class Work {
  #app
  #timer
  #runs = new Runs()
  #draw = soon(() => this.#show())

  /** @param {import('../index.js').App} app */
  constructor (app) {
    this.#app = app
    const { user } = app
    const actions = {
      again: offerAgain(app),
      now: () => app.couch.now(),
      mayRemove: doc => user.isAdmin || (user.name !== null && doc.user === user.name),
      remove: doc => this.#remove(doc)
    }
    this.parts = {
      running: runList(words.running, 'running', actions),
      interrupted: runList(words.interrupted, 'interrupted', actions),
      ended: ended(actions)
    }
    this.start = starter(app)
    this.copies = copies(app)
    const { running, interrupted, ended: past } = this.parts
    this.element = element('div', { class: 'work', 'aria-busy': 'true' },
      element('h2', null, texts.sections.work), running.element, interrupted.element, this.copies.element,
      past.element, this.start.element)
    this.#timer = setInterval(this.#draw, LOOK)
    this.#show()
  }

  /** @param {Set<string>} kinds */
  update (kinds) {
    if (kinds.has('layer')) this.start.update()
    if (kinds.has('work')) this.#draw()
  }

  close () {
    clearInterval(this.#timer)
    this.copies.close()
  }

  #show () {
    const { docs, couch } = this.#app
    const isKnown = docs.known.has('work')
    const { running, interrupted, ended: past } = this.#runs.sort(docs.all('work'), couch.now())
    this.parts.running.set(running, isKnown)
    this.parts.interrupted.set(interrupted, isKnown)
    if (isKnown) this.parts.ended.set(past, isKnown) // thousands come in pages: they are drawn once
    if (isKnown) write(this.element, { 'aria-busy': null })
  }

  async #remove (doc) {
    const { couch, say } = this.#app
    const { head, text, action } = words.remove
    const isSure = await confirm({ head: head(doc.command), content: element('p', null, text), action, isDanger: true })
    if (!isSure) return
    try {
      await couch.write({ _id: doc._id, _rev: doc._rev, _deleted: true })
    } catch (error) {
      say(texts.failed(error.message), true)
    }
  }
}
