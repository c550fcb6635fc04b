// The dialog for fields that two users have changed: it shows both values and asks which one to keep.
import { html, useRef } from '../html.js'
import { Dialog, ask } from '../dialog.js'
import { Button } from '../parts.js'
import { texts } from './words.js'

const words = texts.layers.clash
const MOST = 600 // characters of a value that are shown

/**
 * @param {{field: string, theirs: any, mine: any}[]} fields
 * @param {(field: string) => string} labelOf
 * @returns {Promise<Record<string, 'mine' | 'theirs'> | null>} null: cancelled
 */
export const askClash = (fields, labelOf) => ask(Clash, { fields, labelOf })

function Clash ({ fields, labelOf, close }) {
  const form = useRef(/** @type {any} */ (null))
  const submit = event => {
    event.preventDefault()
    close(Object.fromEntries(new FormData(form.current)))
  }
  return html`<${Dialog} label=${words.head} onCancel=${() => close(null)}>
    <form class="ask" ref=${form} onSubmit=${submit}>
      <h2>${words.head}</h2>
      <p>${words.lead}</p>
      ${fields.map(({ field, ...values }) => html`<fieldset class="clash" data-field=${field}>
        <legend>${labelOf(field)}</legend>
        ${['mine', 'theirs'].map(whose => html`<label class="toggle">
          <input type="radio" name=${field} value=${whose} defaultChecked=${whose === 'mine'} />
          <span><b>${words[whose]}</b> <span class="value">${valueText(values[whose])}</span></span>
        </label>`)}
      </fieldset>`)}
      <div class="row">
        <button type="submit" class="primary">${words.save}</button>
        <${Button} onClick=${() => close(null)}>${texts.cancel}<//>
      </div>
    </form>
  <//>`
}

/** A value as text, with one field of an object per line. */
export function valueText (value) {
  const text = plainText(value)
  return text.length > MOST ? `${text.slice(0, MOST - 1)}…` : text
}

function plainText (value) {
  if (value === undefined || value === null) return texts.layers.none
  if (Array.isArray(value)) return value.join(', ')
  if (typeof value !== 'object') return String(value)
  return Object.entries(value)
    .map(([name, field]) => `${name}: ${typeof field === 'object' ? JSON.stringify(field) : field}`)
    .join('\n')
}
