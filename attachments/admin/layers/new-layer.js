// Makes a layer: its name and its title. All else is set afterwards.
import { element } from '../../../client/timeline/dom.js'
import { layerDocument } from '../../../core/layer-document.js'
import { button } from '../../dom.js'
import { texts } from '../words.js'
import { fieldsBetween, record } from '../record.js'
import { inputField } from './fields.js'
import { nameFault } from './move.js'

const words = texts.layers.make

/** @param {import('../index.js').App} app @returns {{element: HTMLElement, open: () => void}} */
export function newLayer (app) {
  const name = inputField({ name: 'new', label: words.name, hint: words.nameHint, placeholder: 'osm' })
  const title = inputField({ name: 'title', label: words.title, hint: words.titleHint, placeholder: 'OpenStreetMap' })
  const create = element('button', { type: 'submit', class: 'primary' }, words.create)
  const close = () => {
    form.hidden = true
    for (const field of [name, title]) {
      field.show(undefined)
      field.complain('')
    }
  }
  const form = element('form', {
    class: 'card make',
    hidden: true,
    novalidate: true,
    on: {
      submit (event) {
        event.preventDefault()
        make()
      },
      keydown (event) { if (event.key === 'Escape') close() }
    }
  },
  element('h3', null, words.head), element('div', { class: 'fields' }, name.element, title.element),
  element('div', { class: 'row' }, create, button(texts.cancel, close, { class: 'secondary' })))

  async function make () {
    const layer = name.read() ?? ''
    const fault = nameFault(layer, app.docs.all('layer'))
    name.complain(fault)
    if (fault) return name.focus()
    create.disabled = true
    try {
      const after = await app.couch.write(layerDocument(layer, { name: title.read() }))
      app.docs.put(after)
      close()
      app.go(`layers/${layer}`)
      await record(app, { what: 'layer', done: 'created', layer, fields: fieldsBetween(null, after) })
    } catch (error) {
      if (error.status !== 409) return app.say(texts.failed(error.message), true)
      name.complain(texts.layers.bad.taken(layer))
      name.focus()
    } finally {
      create.disabled = false
    }
  }

  return {
    element: form,
    open () {
      form.hidden = false
      name.focus()
    }
  }
}
