// Makes a layer: its name and its title. All else is set afterwards.
import { layerDocument } from '../../../core/layer-document.js'
import { html, useEffect, useRef, useState, useSubmit } from '../../html.js'
import { useApp } from '../app.js'
import { Button } from '../../parts.js'
import { texts } from '../words.js'
import { inputField } from './fields.js'
import { nameFault } from './move.js'
import { fieldsBetween, record } from '../edit.js'

const words = texts.layers.make
const { component: NameField } = inputField({
  name: 'new', label: words.name, hint: words.nameHint, placeholder: 'osm'
})
const { component: TitleField } = inputField({
  name: 'title', label: words.title, hint: words.titleHint, placeholder: 'OpenStreetMap'
})

export function NewLayer ({ close }) {
  const app = useApp()
  const [typed, setTyped] = useState({ name: '', title: '' })
  const [fault, setFault] = useState('')
  const form = useRef(/** @type {HTMLElement | null} */ (null))
  const focus = () => form.current?.querySelector('input')?.focus()
  useEffect(focus, [])

  const { submit, busy } = useSubmit(async () => {
    const layer = typed.name.trim()
    const wrong = nameFault(layer, app.docs.all('layer'))
    setFault(wrong)
    if (wrong) return focus()
    try {
      const after = await app.couch.write(layerDocument(layer, { name: typed.title.trim() || undefined }))
      app.docs.put(after)
      close()
      app.go(`layers/${layer}`)
      await record(app, { what: 'layer', done: 'created', layer, fields: fieldsBetween(null, after) })
    } catch (error) {
      if (error.status !== 409) return app.say(texts.failed(error.message), true)
      setFault(texts.layers.bad.taken(layer))
      focus()
    }
  })

  const escape = event => { if (event.key === 'Escape') close() }
  return html`<form class="card make" novalidate ref=${form} onSubmit=${submit} onKeyDown=${escape}>
    <h3>${words.head}</h3>
    <div class="fields">
      <${NameField} typed=${typed.name} problem=${{ text: fault }} onType=${name => setTyped({ ...typed, name })} />
      <${TitleField} typed=${typed.title} onType=${title => setTyped({ ...typed, title })} />
    </div>
    <div class="row">
      <${Button} type="submit" kind="primary" busy=${busy}>${words.create}<//>
      <${Button} onClick=${close}>${texts.cancel}<//>
    </div>
  </form>`
}
