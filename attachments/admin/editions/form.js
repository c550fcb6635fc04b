// The form for the title and the source of an edition. If another user has changed one of them meanwhile, the page asks
// which value to keep.
import { isSameJson } from '../../../core/values.js'
import { focusAfterAnswer } from '../../dom.js'
import { html, useEffect, useRef, useState } from '../../html.js'
import { useApp } from '../app.js'
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
  const [problem, setProblem] = useState(/** @type {any} */ (null))
  const [busy, setBusy] = useState(false)
  const base = typed?.base ?? doc

  /** The typed fields that differ from the document. */
  const changesIn = (values, from) => Object.fromEntries(Object.entries(values)
    .map(([field, value]) => [field, value.trim() || undefined])
    .filter(([field, value]) => (value ?? '') !== textOf(from, String(field))))

  async function write (from, values) {
    const changes = changesIn(values, from)
    setProblem(null)
    if (!Object.keys(changes).length) {
      setTyped(null)
      return app.say(words.nothing)
    }
    setBusy(true)
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
      if (!(error instanceof Clash)) app.say(texts.failed(error.message), true)
      else setProblem(error)
    } finally {
      setBusy(false)
    }
  }

  /** @param {Clash} clash @param {boolean} keepsTheirs */
  function settle ({ fields, newest }, keepsTheirs) {
    const values = { ...typed?.values }
    if (keepsTheirs) for (const { field } of fields) delete values[field]
    app.docs.put(newest)
    setProblem(null)
    setTyped({ base: newest, values })
    if (Object.keys(changesIn(values, newest)).length) write(newest, values)
    else setTyped(null)
  }

  const submit = event => {
    event.preventDefault()
    if (!busy) write(base, typed?.values ?? {})
  }
  const type = field => ({ target }) => setTyped({ base, values: { ...typed?.values, [field]: target.value } })
  return html`<form class="edition-form" onSubmit=${submit}>
    ${FIELDS.map(field => html`<label>
      ${words[field]}
      <input type="text" name=${field} maxlength=${LONG} autocomplete="off"
        value=${typed?.values[field] ?? textOf(base, field)} onInput=${type(field)} />
    </label>`)}
    <div role="status">
      ${problem && !problem.newest && html`<p class="problem">${words.gone}</p>`}
      ${problem?.newest && html`<${ClashQuestion} clash=${problem} settle=${settle} />`}
    </div>
    <div class="row"><${Button} type="submit" kind="primary" busy=${busy}>${words.save}<//></div>
  </form>`
}

function ClashQuestion ({ clash, settle }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null))
  useEffect(() => {
    const { current } = place
    focusAfterAnswer(current?.closest('form'), current?.querySelector('button'))
  }, [])
  return html`<div class="clash" ref=${place}>
    <p>${words.clash}</p>
    <dl>
      ${clash.fields.map(({ field, theirs, mine }) => html`
        <dt>${words[field]}</dt>
        <dd>${words.theySay(theirs || words.empty)}</dd>
        <dd>${words.youSay(mine || words.empty)}</dd>`)}
    </dl>
    <div class="row">
      <${Button} onClick=${() => settle(clash, true)}>${words.theirs}<//>
      <${Button} onClick=${() => settle(clash, false)}>${words.mine}<//>
    </div>
  </div>`
}
