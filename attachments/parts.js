// Parts of which all pages consist.
import { attributionNodes } from '../client/source/attribution.js'
import { icons } from './dom.js'
import { html, useAnswer, useLayoutEffect, useRef, useSeen, useState } from './html.js'

/** A button whose focus stays while it is busy: one that is disabled would lose it. */
export function Button ({
  kind = 'secondary', type = 'button', busy = false, onClick = () => {}, children, ...others
}) {
  const act = event => {
    if (!busy) return onClick(event)
    event.preventDefault()
  }
  return html`<button type=${type} class=${kind} aria-disabled=${busy ? 'true' : null} onClick=${act} ...${others}>
    ${children}
  </button>`
}

/** @param {{name: keyof typeof import('./dom.js').icons}} props */
export const Icon = ({ name }) => html`<svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
  <path d=${icons[name]} />
</svg>`

/** A button with an icon, named for those who hear it and for those who point at it. */
export const IconButton = ({ name, label, kind = 'icon', ...others }) => html`<${Button}
  kind=${kind} aria-label=${label} title=${label} ...${others}>
  <${Icon} name=${name} />
<//>`

/** Buttons of which one is chosen. options: value and text */
export const Choices = ({ label, options, value, onChoose }) => html`<div
  class="choice" role="group" aria-label=${label}>
  ${options.map(([each, text]) => html`<button
    key=${each} type="button" data-value=${each} aria-pressed=${String(each === value)} onClick=${() => onChoose(each)}>
    ${text}
  </button>`)}
</div>`

/** A switch in front of its text. */
export const Toggle = ({ isOn, onChange, children, ...others }) => html`<label class="toggle">
  <input type="checkbox" checked=${isOn} onChange=${({ target }) => onChange(target.checked)} ...${others} />
  ${children}
</label>`

export const Hint = ({ children, ...others }) => html`<p class="hint" ...${others}>${children}</p>`

/** A section that the reader can open. It stays open when the page is drawn again. */
export const Fold = ({ head, children, ...others }) => html`<details ...${others}>
  <summary>${head}</summary>
  ${children}
</details>`

/** options: value, text, and whether it cannot be chosen */
export const Select = ({ options, value, onChange, ...others }) => html`<select
  value=${value} onChange=${event => onChange(event.target.value)} ...${others}>
  ${options.map(([each, text, isDisabled = false]) => html`<option
    key=${each} value=${each} selected=${each === value} disabled=${isDisabled}>
    ${text}
  </option>`)}
</select>`

/** Text inputs that nothing corrects. */
export const plainInput = { type: 'text', autocomplete: 'off', autocapitalize: 'none', spellcheck: false }

/** A list of terms with their values; rows without a value are left out. rows: term and value */
export const Terms = ({ rows, ...others }) => html`<dl ...${others}>
  ${rows.filter(([, value]) => value).map(([term, value]) => html`<dt>${term}</dt><dd>${value}</dd>`)}
</dl>`

/** The attribution of a layer: text and links. */
export function Attribution ({ text }) {
  const node = useRef(/** @type {HTMLElement | null} */ (null))
  useLayoutEffect(() => node.current?.replaceChildren(...attributionNodes(text)), [text])
  return html`<span ref=${node} />`
}

/**
 * A place for an image that is looked for when the place is first in view. An image that does not load is hidden.
 * find: resolves to its address, or to undefined; inputs: it is looked for again when they change
 */
export function LazyImage ({ find, inputs, children, ...others }) {
  const place = useRef(null)
  const [isSeen, setSeen] = useState(false)
  useSeen(place, () => setSeen(true), [])
  const address = useAnswer(async () => isSeen ? find() : undefined, [isSeen, ...inputs])
  const hide = ({ target }) => { target.hidden = true }
  return html`<span ref=${place} ...${others}>
    ${children}
    ${address && html`<img key=${[address, ...inputs].join(' ')} src=${address} alt="" onError=${hide} />`}
  </span>`
}
