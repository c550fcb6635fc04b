// Asks before something is done that cannot be taken back.
import { element } from '../../client/timeline/dom.js'
import { button } from '../dom.js'
import { texts } from './words.js'

/**
 * @param {{head: string, content?: any, action: string, isDanger?: boolean, typed?: string}} question content: texts
 *   and nodes; action: what the button says; typed: what has to be typed first, such as the name of a layer
 * @returns {Promise<boolean>}
 */
export function confirm ({ head, content = [], action, isDanger = false, typed }) {
  return new Promise(resolve => {
    const close = answer => {
      dialog.close()
      dialog.remove()
      resolve(answer)
    }
    const yes = element('button', { type: 'submit', class: isDanger ? 'secondary danger' : 'primary', disabled: typed !== undefined }, action)
    const field = typed !== undefined && element('label', null, texts.typeName(typed),
      element('input', { type: 'text', autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false', on: { input: ({ target }) => { yes.disabled = target.value !== typed } } }))
    const form = element('form', {
      class: 'ask',
      on: {
        submit (event) {
          event.preventDefault()
          if (!yes.disabled) close(true)
        }
      }
    },
    element('h2', null, head), content, field,
    element('div', { class: 'row' }, yes, button(texts.cancel, () => close(false), { class: 'secondary' })))
    const dialog = element('dialog', {
      'aria-label': head,
      on: {
        cancel (event) {
          event.preventDefault()
          close(false)
        }
      }
    }, form)
    document.body.append(dialog)
    dialog.showModal()
  })
}
