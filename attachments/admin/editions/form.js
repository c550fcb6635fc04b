// The title and the source of an edition. If somebody else has changed one of them meanwhile, the page asks which one
// stays.
import { element } from '../../../client/timeline/dom.js'
import { button } from '../../dom.js'
import { texts } from '../words.js'
import { Clash, save } from '../edit.js'
import { fieldsBetween, record } from '../record.js'

const words = texts.editions.form
const FIELDS = ['title', 'source']
const LONG = 10_000 // characters that a store takes

/**
 * @param {import('../index.js').App} app
 * @param {any} doc the edition
 * @returns {{element: HTMLElement, set: (doc: any) => void}} set: what is typed already stays
 */
export function editionForm (app, doc) {
  let base = doc // as the fields show it
  const inputs = Object.fromEntries(FIELDS.map(field =>
    [field, element('input', { type: 'text', name: field, maxlength: String(LONG), autocomplete: 'off' })]))
  const problem = element('div', { role: 'status' })
  const submit = element('button', { type: 'submit', class: 'primary' }, words.save)
  const form = element('form', {
    class: 'edition-form',
    on: {
      submit (event) {
        event.preventDefault()
        write()
      }
    }
  },
  FIELDS.map(field => element('label', null, words[field], inputs[field])),
  problem, element('div', { class: 'row' }, submit))

  const show = field => { inputs[field].value = typeof base[field] === 'string' ? base[field] : '' }
  /** Fields that say something else than the document that they show. */
  const changes = () => Object.fromEntries(FIELDS
    .map(field => [field, inputs[field].value.trim() || undefined])
    .filter(([field, value]) => value !== (typeof base[field] === 'string' ? base[field] : undefined)))

  async function write () {
    const changed = changes()
    problem.replaceChildren()
    if (!Object.keys(changed).length) return app.say(words.nothing)
    submit.disabled = true
    try {
      const { before, after } = await save(app.couch, base, changed)
      base = after
      for (const field of FIELDS) show(field)
      app.docs.put(after)
      const { layer, time } = after
      const fields = fieldsBetween(before, changed)
      if (Object.keys(fields).length) await record(app, { what: 'edition', done: 'changed', layer, edition: time, fields })
      app.say(words.saved)
    } catch (error) {
      if (!(error instanceof Clash)) app.say(texts.failed(error.message), true)
      else if (!error.newest) problem.replaceChildren(element('p', { class: 'problem' }, words.gone))
      else ask(error)
    } finally {
      submit.disabled = false
    }
  }

  /** @param {Clash} clash */
  function ask ({ fields, newest }) {
    const answer = keepsTheirs => {
      base = newest
      for (const field of FIELDS) {
        const isAsked = fields.some(each => each.field === field)
        if (isAsked && keepsTheirs) show(field)
      }
      problem.replaceChildren()
      app.docs.put(newest)
      if (Object.keys(changes()).length) write()
    }
    const theirs = button(words.theirs, () => answer(true), { class: 'secondary' })
    problem.replaceChildren(element('div', { class: 'clash' },
      element('p', null, words.clash),
      element('dl', null, fields.flatMap(each => [
        element('dt', null, words[each.field]),
        element('dd', null, words.theySay(each.theirs ?? '')),
        element('dd', null, words.youSay(each.mine ?? ''))
      ])),
      element('div', { class: 'row' }, theirs, button(words.mine, () => answer(false), { class: 'secondary' }))))
    theirs.focus()
  }

  for (const field of FIELDS) show(field)
  return {
    element: form,
    set (next) {
      const typed = changes()
      if (Object.keys(typed).length || problem.childElementCount) return
      base = next
      for (const field of FIELDS) show(field)
    }
  }
}
