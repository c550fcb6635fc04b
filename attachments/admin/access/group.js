// A list of users and roles, to add to and to remove from.
import { element, write } from '../../../client/timeline/dom.js'
import { iconButton } from '../../dom.js'
import { texts } from '../words.js'

const words = texts.access.groups
const SHOWN = 100 // of a list at once

/** Where the keyboard goes on once a list is drawn again: what had the focus may be gone. @type {HTMLElement | null} */
let next = null

export function idle () {
  const node = next
  next = null
  if (node?.isConnected && document.activeElement === document.body) node.focus()
}

/**
 * @param {'readers' | 'writers' | 'admins'} field
 * @param {(kind: 'names' | 'roles', name: string, isAdded: boolean) => Promise<boolean>} change
 * @param {(kind: 'names' | 'roles', name: string) => Promise<boolean>} [ask] before somebody is removed
 */
export function groupOf (field, change, ask) {
  const list = element('ul', { class: 'chips', 'aria-label': words[field].name })
  const none = element('p', { class: 'hint' })
  const kind = element('select', null, element('option', { value: 'names' }, words.user), element('option', { value: 'roles' }, words.role))
  const name = element('input', { type: 'text', autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false', required: true, maxlength: 200 })
  const add = element('button', { type: 'submit', class: 'secondary' }, words[field].add)
  const form = element('form', { class: 'adder', on: { submit } },
    element('label', null, words.kind, kind), element('label', { class: 'grow' }, words.name, name), add)

  async function submit (event) {
    event.preventDefault()
    const value = name.value.trim()
    if (add.disabled || !value || value === '_admin') return
    add.disabled = true
    if (await change(kind.value, value, true)) name.value = ''
    add.disabled = false
    name.focus()
  }

  async function remove (type, value) {
    if (ask && !await ask(type, value)) return
    next = name
    await change(type, value, false)
  }

  const chip = (type, value, why) => element('li', { class: 'chip' },
    type === 'roles' && element('small', null, words.role), element('span', null, value),
    why ? element('small', null, why) : iconButton('close', words[field].remove(value), () => remove(type, value)))

  return {
    element: element('div', { class: 'group', role: 'group', 'aria-label': words[field].name },
      element('h4', null, words[field].name), list, none, form),
    /**
     * @param {import('../../../core/access.js').Group | null} group null: there is no list
     * @param {(kind: 'names' | 'roles', name: string) => string} [whyNot] why somebody cannot be removed here
     */
    set (group, whyNot = () => '') {
      const all = group ? [...group.names.map(each => ['names', each]), ...group.roles.map(each => ['roles', each])] : []
      list.replaceChildren(...all.slice(0, SHOWN).map(([type, value]) =>
        chip(type, value, whyNot(/** @type {'names' | 'roles'} */ (type), value))))
      list.hidden = all.length === 0
      write(none, { text: !group ? words.everybody : all.length > SHOWN ? words.more(all.length - SHOWN) : all.length ? '' : words[field].none })
      none.hidden = !none.textContent
      form.hidden = !group
    }
  }
}
