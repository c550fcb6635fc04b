// Forms with passwords: a new user, and another password. A password is typed twice.
import { element, write } from '../../../client/timeline/dom.js'
import { button } from '../../dom.js'
import { texts } from '../../words/admin/index.js'

const words = texts.access.users
const LEAST = 8 // characters of a password

/** Two fields, which must hold the same. */
function passwords () {
  const field = () => element('input', { type: 'password', autocomplete: 'new-password', required: true, minlength: LEAST, on: { input: check } })
  const [first, second] = [field(), field()]
  function check () {
    const differ = second.value !== '' && first.value !== second.value
    second.setCustomValidity(differ ? words.password.differ : '')
    write(second, { 'aria-invalid': differ ? 'true' : null })
  }
  return {
    nodes: [element('label', null, words.password.name, first), element('label', null, words.password.twice, second)],
    value: () => first.value,
    clear () {
      first.value = second.value = ''
      check()
    }
  }
}

/** @param {(wanted: {name: string, password: string, may: any}) => Promise<boolean>} make */
export function newUserForm (make) {
  const name = element('input', { type: 'text', autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false', required: true, maxlength: 200, pattern: '[^_\\s].*' })
  const may = element('select', null, Object.entries(words.kinds).map(([value, text]) => element('option', { value }, text)))
  const password = passwords()
  const submit = element('button', { type: 'submit', class: 'primary' }, words.make)
  const form = element('form', {
    on: {
      async submit (event) {
        event.preventDefault()
        if (submit.disabled) return
        submit.disabled = true
        if (await make({ name: name.value.trim(), password: password.value(), may: may.value })) {
          name.value = ''
          password.clear()
        }
        submit.disabled = false
      }
    }
  }, element('div', { class: 'fields' },
    element('label', null, words.name, name), element('label', null, words.kind, may), ...password.nodes),
  element('div', { class: 'row' }, submit))
  return element('details', { class: 'new' }, element('summary', null, words.new), form)
}

/** @param {string} name of a user @returns {Promise<string | null>} null: he keeps the one he has */
export function passwordForm (name) {
  return new Promise(resolve => {
    const done = answer => {
      dialog.close()
      dialog.remove()
      resolve(answer)
    }
    const password = passwords()
    const form = element('form', { class: 'ask', on: { submit: event => { event.preventDefault(); done(password.value()) } } },
      element('h2', null, words.password.of(name)), ...password.nodes,
      element('div', { class: 'row' },
        element('button', { type: 'submit', class: 'primary' }, words.password.action),
        button(texts.cancel, () => done(null), { class: 'secondary' })))
    const dialog = element('dialog', { 'aria-label': words.password.of(name), on: { cancel: event => { event.preventDefault(); done(null) } } }, form)
    document.body.append(dialog)
    dialog.showModal()
  })
}
