// Components that all pages use.
import { attributionNodes } from '../client/source/attribution.js'
import { icons } from './dom.js'
import { html, useAnswer, useLayoutEffect, useRef, useSeen, useState } from './html.js'

/** A button that keeps the focus while it is busy: a disabled button would lose it. */
export function Button ({
  kind = 'secondary', type = 'button', busy = false, onClick = () => {}, children, ...attributes
}) {
  const act = event => {
    if (!busy) return onClick(event)
    event.preventDefault()
  }
  return html`<button type=${type} class=${kind} aria-disabled=${busy ? 'true' : null} onClick=${act} ...${attributes}>
    ${children}
  </button>`
}

/** @param {{name: keyof typeof import('./dom.js').icons}} props */
export const Icon = ({ name }) => html`<svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
  <path d=${icons[name]} />
</svg>`

/** A button with an icon. Its label is for screen readers and the tooltip. */
export const IconButton = ({ name, label, kind = 'icon', ...attributes }) => html`<${Button}
  kind=${kind} aria-label=${label} title=${label} ...${attributes}>
  <${Icon} name=${name} />
<//>`

/** Buttons of which one is chosen. options: value and text */
export const Choices = ({ label, options, value, onChoose }) => html`<div
  class="choice" role="group" aria-label=${label}>
  ${options.map(([key, text]) => html`<button
    key=${key} type="button" data-value=${key} aria-pressed=${String(key === value)} onClick=${() => onChoose(key)}>
    ${text}
  </button>`)}
</div>`

/** A switch in front of its text. */
export const Toggle = ({ isOn, onChange, children, ...attributes }) => html`<label class="toggle">
  <input type="checkbox" checked=${isOn} onChange=${({ target }) => onChange(target.checked)} ...${attributes} />
  ${children}
</label>`

export const Hint = ({ children, ...attributes }) => html`<p class="hint" ...${attributes}>${children}</p>`

/** A section that the user can open. It stays open when the page is drawn again. */
export const Fold = ({ head, children, ...attributes }) => html`<details ...${attributes}>
  <summary>${head}</summary>
  ${children}
</details>`

/** options: value, text, and whether it cannot be chosen */
export const Select = ({ options, value, onChange, ...attributes }) => html`<select
  value=${value} onChange=${event => onChange(event.target.value)} ...${attributes}>
  ${options.map(([key, text, isDisabled = false]) => html`<option
    key=${key} value=${key} selected=${key === value} disabled=${isDisabled}>
    ${text}
  </option>`)}
</select>`

/** A select with its label. */
export const Field = ({ label, ...select }) => html`<label><span>${label}</span><${Select} ...${select} /></label>`

/** Attributes of text inputs without corrections by the browser. */
export const plainInput = { type: 'text', autocomplete: 'off', autocapitalize: 'none', spellcheck: false }

/** A list of terms with their values; rows without a value are left out. rows: term and value */
export const Terms = ({ rows, ...attributes }) => html`<dl ...${attributes}>
  ${rows.filter(([, value]) => value).map(([term, value]) => html`<dt>${term}</dt><dd>${value}</dd>`)}
</dl>`

/** The attribution of a layer: text and links. */
export function Attribution ({ text }) {
  const node = useRef(/** @type {HTMLElement | null} */ (null))
  useLayoutEffect(() => node.current?.replaceChildren(...attributionNodes(text)), [text])
  return html`<span ref=${node} />`
}

/**
 * An image that is requested when its place is first in view. An image that does not load is hidden.
 * find: resolves to its address, or to undefined; inputs: it is requested again when they change
 */
export function LazyImage ({ find, inputs, children, ...attributes }) {
  const place = useRef(null)
  const [isSeen, setSeen] = useState(false)
  useSeen(place, () => setSeen(true), [])
  const address = useAnswer(async () => isSeen ? find() : undefined, [isSeen, ...inputs])
  const hide = ({ target }) => { target.hidden = true }
  return html`<span ref=${place} ...${attributes}>
    ${children}
    ${address && html`<img key=${[address, ...inputs].join(' ')} src=${address} alt="" onError=${hide} />`}
  </span>`
}
