// Two people have changed one field: shows both values, and asks which one stays.
import { element } from '../../../client/timeline/dom.js'
import { button } from '../../dom.js'
import { texts } from '../words.js'

const words = texts.layers.clash

/**
 * @param {{field: string, theirs: any, mine: any}[]} fields
 * @param {(field: string) => string} labelOf
 * @returns {Promise<Record<string, 'mine' | 'theirs'> | null>} null: nothing is saved yet
 */
export function askClash (fields, labelOf) {
  return new Promise(resolve => {
    const close = answer => {
      dialog.close()
      dialog.remove()
      resolve(answer)
    }
    const rows = fields.map(({ field, theirs, mine }) => element('fieldset', { class: 'clash', 'data-field': field },
      element('legend', null, labelOf(field)),
      [['mine', mine], ['theirs', theirs]].map(([whose, value], at) => element('label', { class: 'toggle' },
        element('input', { type: 'radio', name: `clash-${field}`, value: whose, checked: at === 0 }),
        element('span', null, element('b', null, words[whose]), ' ', element('span', { class: 'value' }, valueText(value)))))))
    const form = element('form', {
      class: 'ask',
      on: {
        submit (event) {
          event.preventDefault()
          close(Object.fromEntries(fields.map(({ field }, at) => [field, rows[at].querySelector('input:checked').value])))
        }
      }
    },
    element('h2', null, words.head), element('p', null, words.lead), rows,
    element('div', { class: 'row' },
      element('button', { type: 'submit', class: 'primary' }, words.save), button(texts.cancel, () => close(null), { class: 'secondary' })))
    const dialog = element('dialog', {
      'aria-label': words.head,
      on: {
        cancel (event) {
          event.preventDefault()
          close(null)
        }
      }
    }, form)
    document.body.append(dialog)
    dialog.showModal()
  })
}

const MOST = 600 // characters of a value that are shown

/** A value as people read it: the fields of an object one a line. */
export function valueText (value) {
  if (value === undefined || value === null) return texts.layers.none
  const text = typeof value === 'string'
    ? value
    : typeof value !== 'object' || Array.isArray(value)
      ? Array.isArray(value) ? value.join(', ') : String(value)
      : Object.entries(value).map(([name, each]) => `${name}: ${typeof each === 'object' ? JSON.stringify(each) : each}`).join('\n')
  return text.length > MOST ? `${text.slice(0, MOST - 1)}…` : text
}
