// Components and helpers of the pages of the control room.
import { byName } from '../format.js'
import { html, useState } from '../html.js'
import { Button, Field, Hint, plainInput } from '../parts.js'
import { texts } from './words.js'
import { Dialog, ask } from '../dialog.js'

export const Card = ({ name = '', head, children }) => html`<section class="card ${name}">
  <h3>${head}</h3>
  ${children}
</section>`

/** A text whose parts between backquotes are code. */
export const WithCode = ({ text }) =>
  text.split('`').map((piece, index) => index % 2 ? html`<code>${piece}</code>` : piece)

export const State = ({ kind = '', children }) => html`<span class="state ${kind}">${children}</span>`

const ROWS = 50 // rows of a table at once; a button shows as many more

/**
 * @template T
 * @typedef {object} Column
 * @property {string} label
 * @property {(row: T) => any} cell
 * @property {boolean} [isHead] the cell names its row
 * @property {boolean} [isNumber]
 */

/** A table. On a phone each row is a card, whose cells say their column (admin.css). title: for screen readers */
export function Table ({ title, columns, rows, keyOf, none = '', most = ROWS }) {
  const [shown, setShown] = useState(most)
  if (!rows.length) return html`<div class="table-box">${none && html`<${Hint}>${none}<//>`}</div>`
  const cellOf = (row, { label, cell, isHead, isNumber }) => isHead
    ? html`<th scope="row" class=${isNumber && 'number'}>${cell(row)}</th>`
    : html`<td data-label=${label} class=${isNumber && 'number'}>${cell(row)}</td>`
  const lineOf = row => html`<tr key=${keyOf(row)}>${columns.map(column => cellOf(row, column))}</tr>`
  const headOf = ({ label, isNumber }) => html`<th scope="col" class=${isNumber && 'number'}>${label}</th>`
  return html`<div class="table-box">
    <div class="table" tabindex="0" role="region" aria-label=${title}>
      <table>
        <thead><tr>${columns.map(headOf)}</tr></thead>
        <tbody>${rows.slice(0, shown).map(lineOf)}</tbody>
      </table>
    </div>
    ${rows.length > shown && html`<${Button} onClick=${() => setShown(shown + most)}>${texts.more}<//>`}
  </div>`
}

/** Whether a document matches chosen values such as `{layer: 'osm', user: ''}`. An empty value matches all. */
export const hasChoices = (doc, choices) =>
  Object.entries(choices).every(([field, value]) => !value || doc[field] === value)

/** The options of a filter for a field: the values of the documents, and the chosen value. @returns {string[]} */
export const valuesOf = (docs, field, chosen) =>
  [...new Set([...docs.map(doc => doc[field]), chosen].filter(Boolean))].sort(byName)

/** Filters of the shown documents. selects: [name, label, options as value and text, chosen value] */
export const Filters = ({ label, selects, onChoose }) => html`<form
  class="fields filters" aria-label=${label} onSubmit=${event => event.preventDefault()}>
  ${selects.map(([name, text, options, value]) => html`<${Field} label=${text} options=${options} value=${value}
    onChange=${chosen => onChoose(name, chosen)} />`)}
</form>`

/**
 * Asks for confirmation. In a dangerous question, Enter does not confirm at first.
 * @param {{head: string, text: any, action: string, isDanger?: boolean, typed?: string}} question action: text of
 *   the button; typed: text that must be typed first, such as the name of a layer
 * @returns {Promise<boolean>}
 */
export const confirm = question => ask(Question, question)

function Question ({ head, text, action, isDanger = false, typed, close }) {
  const [value, setValue] = useState('')
  const isReady = typed === undefined || value === typed
  const submit = event => {
    event.preventDefault()
    if (isReady) close(true)
  }
  return html`<${Dialog} label=${head} onCancel=${() => close(false)}>
    <form class="ask" onSubmit=${submit}>
      <h2>${head}</h2>
      <p>${text}</p>
      ${typed !== undefined && html`<label>
        ${texts.typeName(typed)}
        <input ...${plainInput} autofocus onInput=${({ target }) => setValue(target.value)} />
      </label>`}
      <div class="row">
        <button type="submit" class=${isDanger ? 'secondary danger' : 'primary'} disabled=${!isReady}>${action}</button>
        <${Button} autofocus=${isDanger && typed === undefined} onClick=${() => close(false)}>${texts.cancel}<//>
      </div>
    </form>
  <//>`
}
