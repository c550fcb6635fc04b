/* The section "access": who may read and write, what a stranger sees, tokens for private layers. */
import { element } from '../../../client/timeline/dom.js'
import { faultsOf, rightsOf } from '../../../core/access.js'
import { texts } from '../words.js'
import { changerOf } from './change.js'
import { rightsCard } from './rights.js'
import { askAsStranger, strangerCard } from './stranger.js'
import { tokensCard } from './tokens.js'

/** @type {import('../index.js').Section} */
export const access = {
  name: 'access',
  needs: 'admin',
  open (app) {
    const stop = new AbortController()
    const problem = element('p', { class: 'problem', role: 'alert' })
    const changer = changerOf(app, draw)
    const change = async wish => {
      const isDone = await changer.change(wish)
      if (isDone) lookAsStranger()
      return isDone
    }
    const rights = rightsCard(app, change)
    const stranger = strangerCard(lookAsStranger)
    const tokens = tokensCard(app)
    /** What a stranger found; null: nobody has asked. @type {import('./stranger.js').Seen | null} */
    let seen = null
    /** @type {'ours' | 'another' | 'none' | null} */
    let validation = null

    const section = element('div', { class: 'access', 'aria-busy': 'true' },
      element('h2', null, texts.sections.access), problem, rights.element, stranger.element, tokens.element)

    async function read () {
      problem.textContent = ''
      try {
        [validation] = await Promise.all([readValidation(app.couch, stop.signal), app.readSecurity()])
        draw()
        await lookAsStranger()
      } catch (error) {
        if (!stop.signal.aborted) problem.textContent = texts.failed(error.message)
      }
      isRead = true
      settle()
      tokens.update()
    }

    async function lookAsStranger () {
      const names = app.docs.all('layer').map(({ layer }) => layer)
      seen = await askAsStranger(app.couch, names, stop.signal)
      draw()
    }

    function draw () {
      if (stop.signal.aborted || !validation) return
      const facts = { ...rightsOf(app.security), validation, party: seen?.isAdmin ?? false }
      const faults = faultsOf(facts)
      changer.shown(app.security)
      rights.set({ ...facts, faults, security: app.security })
      stranger.set({ seen, faults })
    }

    /** Somebody has changed the rights, perhaps: the rights themselves are in no feed. */
    async function look () {
      const before = JSON.stringify(app.security)
      await app.readSecurity().catch(() => {})
      if (JSON.stringify(app.security) === before || changer.isBusy()) return
      draw()
      lookAsStranger()
    }

    /** The newest note of a change of access; undefined while notes are not known. @returns {string | undefined} */
    function newestNote () {
      if (!app.docs.known.has('activity')) return undefined
      const notes = app.docs.all('activity').filter(({ what }) => what === 'access')
      return notes.reduce((last, { _id }) => _id > last ? _id : last, '')
    }

    let noted = newestNote()
    let isRead = false

    async function lookIfNoted () {
      const newest = newestNote()
      if (newest === noted) return
      noted = newest
      await look() // also when the first notes are known: the rights may have been read before
      settle()
    }

    function settle () {
      if (isRead && noted !== undefined) section.removeAttribute('aria-busy')
    }

    read()
    return {
      element: section,
      update (kinds) {
        tokens.update() // also those that have ended meanwhile
        if (kinds.has('activity')) lookIfNoted()
        if (kinds.has('layer') && validation) lookAsStranger()
      },
      close: () => stop.abort()
    }
  }
}

/** The function that judges writes: without one everybody who may read may write. */
async function readValidation (couch, signal) {
  const query = { startkey: '"_design/"', endkey: '"_design0"', include_docs: true }
  const { rows } = await couch.ask('_all_docs', { query, signal })
  const judges = rows.map(({ doc }) => doc).filter(doc => typeof doc?.validate_doc_update === 'string')
  return judges.some(({ _id }) => _id === '_design/tiles') ? 'ours' : judges.length ? 'another' : 'none'
}
