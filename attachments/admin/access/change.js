// Changes the rights of the store. `_security` has no revisions: it is read again just before it is written, only our
// part of it changes, and what somebody else has changed since it was shown is asked about first.
import { element } from '../../../client/timeline/dom.js'
import { rightsOf, withRights } from '../../../core/access.js'
import { texts } from '../words.js'
import { confirm } from '../confirm.js'
import { fieldsBetween, record } from '../record.js'

const words = texts.access

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b)

/**
 * @typedef {(rights: import('../../../core/access.js').Rights) => import('../../../core/access.js').Wanted} Wish what is
 *   wanted, from the rights as they are now
 * @param {import('../index.js').App} app
 * @param {() => void} draw shows the rights as they are in app.security
 */
export function changerOf (app, draw) {
  let shown = ''
  let waiting = 0
  let turn = Promise.resolve(true)

  /** One change after the other. @param {Wish} wish @returns {Promise<boolean>} whether it was done */
  function change (wish) {
    waiting++
    turn = turn.then(() => make(wish))
    return turn
  }

  async function make (wish) {
    try {
      const before = await app.readSecurity()
      if (JSON.stringify(before) !== shown) {
        draw()
        const isMeant = await confirm({
          head: words.clash.head, content: element('p', null, words.clash.lead), action: words.clash.action
        })
        if (!isMeant) return false
      }
      // the question may have been open for long
      const newest = await app.couch.ask('_security')
      const next = withRights(newest, wish(rightsOf(newest)))
      if (same(newest, next)) return true
      await app.couch.ask('_security', { method: 'PUT', body: next })
      await app.readSecurity()
      draw()
      const fields = fieldsBetween(rightsOf(newest), rightsOf(next))
      await record(app, { what: 'access', done: 'changed', fields })
      app.say(words.changed)
      return true
    } catch (error) {
      app.say(texts.failed(error.message), true)
      return false
    } finally {
      waiting--
    }
  }

  return { change, isBusy: () => waiting > 0, shown: security => { shown = JSON.stringify(security) } }
}
