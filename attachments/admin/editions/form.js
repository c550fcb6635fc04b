// The form for the title and the source of an edition. If another user has changed one of them meanwhile, the page asks
// which value to keep.
import { isSameJson } from '../../../core/values.js'
import { html, useState, useSubmit } from '../../html.js'
import { useApp } from '../app.js'
import { askClash } from '../clash.js'
import { Clash, fieldsBetween, record, save } from '../edit.js'
import { Button } from '../../parts.js'
import { texts } from '../words.js'

const words = texts.editions.form
const FIELDS = ['title', 'source']
const LONG = 10_000 // maximum characters of a field

const textOf = (doc, field) => typeof doc[field] === 'string' ? doc[field] : ''

/** doc: the present document of the edition */
export function EditionForm ({ doc }) {
  const app = useApp()
  /** The typed values, and the document on which they are based. */
  const [typed, setTyped] = useState(/** @type {{base: any, values: Record<string, string>} | null} */ (null))
  const base = typed?.base ?? doc
  const { submit, busy } = useSubmit(() => write(base, typed?.values ?? {}))

  /** The typed fields that differ from the document. */
  const changesIn = (values, from) => Object.fromEntries(Object.entries(values)
    .map(([field, value]) => [field, value.trim() || undefined])
    .filter(([field, value]) => (value ?? '') !== textOf(from, String(field))))

  async function write (from, values) {
    const changes = changesIn(values, from)
    if (!Object.keys(changes).length) {
      setTyped(null)
      return app.say(words.nothing)
    }
    try {
      const { before, after } = await save(app.couch, from, changes)
      app.docs.put(after)
      // the user may have typed more meanwhile
      setTyped(latest => latest && !isSameJson(latest.values, values) ? { base: after, values: latest.values } : null)
      const { layer, time: edition } = after
      const fields = fieldsBetween(before, changes)
      if (Object.keys(fields).length) await record(app, { what: 'edition', done: 'changed', layer, edition, fields })
      app.say(words.saved)
    } catch (error) {
      if (!(error instanceof Clash)) return app.say(texts.failed(error.message), true)
      if (!error.newest) return app.say(words.gone, true)
      const answer = await askClash(error.fields, field => words[field])
      if (!answer) return
      const keptOf = typedValues =>
        Object.fromEntries(Object.entries(typedValues).filter(([field]) => answer[field] !== 'theirs'))
      app.docs.put(error.newest)
      setTyped(latest => ({ base: error.newest, values: keptOf({ ...latest?.values }) }))
      await write(error.newest, keptOf(values))
    }
  }

  const type = field => ({ target }) => setTyped({ base, values: { ...typed?.values, [field]: target.value } })
  return html`<form class="edition-form" onSubmit=${submit}>
    ${FIELDS.map(field => html`<label>
      ${words[field]}
      <input type="text" name=${field} maxlength=${LONG} autocomplete="off"
        value=${typed?.values[field] ?? textOf(base, field)} onInput=${type(field)} />
    </label>`)}
    <div class="row"><${Button} type="submit" kind="primary" busy=${busy}>${words.save}<//></div>
  </form>`
}
