// Messages of the page: short messages above the timeline, and notices in the panel while it has no list of layers.
import { shellWord } from './copy.js'
import { html, render } from './html.js'
import { Button, IconButton } from './parts.js'
import { words } from './words.js'

/**
 * @typedef {{text: string, tone?: 'info' | 'warn', action?: {label: string, run: () => void}, canClose?: boolean}}
 *   Notice canClose: it has a button that closes it
 */

export class Notices {
  #container
  /** @type {Map<string, Notice>} by topic */
  #notices = new Map()

  /** @param {HTMLElement} container a live region */
  constructor (container) {
    this.#container = container
  }

  /** A notice of the same topic is replaced. @param {string} topic @param {Notice} notice */
  show (topic, notice) {
    this.#notices.set(topic, notice)
    this.#draw()
  }

  end (topic) {
    if (this.#notices.delete(topic)) this.#draw()
  }

  clear () {
    this.#notices.clear()
    this.#draw()
  }

  #draw () {
    const toasts = [...this.#notices].map(([topic, notice]) => html`<${Toast}
      key=${topic} topic=${topic} ...${notice} end=${() => this.end(topic)} />`)
    const focused = document.activeElement
    const hadFocus = this.#container.contains(focused)
    render(toasts, this.#container)
    if (!hadFocus || focused?.isConnected) return
    const next = this.#container.querySelector('button') ?? document.getElementById('map')
    next?.focus({ preventScroll: true })
  }
}

const Toast = ({ topic, text, tone = 'info', action = undefined, canClose = false, end }) =>
  html`<div class=${`toast ${tone}`} data-topic=${topic}>
    <span>${text}</span>
    ${action && html`<${Button} kind="act" onClick=${action.run}>${action.label}<//>`}
    ${canClose && html`<${IconButton} name="close" label=${words.closeNotice} onClick=${end} />`}
  </div>`

/** Grey shapes that are shown until the layers are read. */
export const Loading = () => html`<div class="loading" aria-hidden="true">
  ${[1, 2].map(() => html`<div class="bones"><span /><span /></div>`)}
</div>`

const paragraphs = texts => texts.map(text => html`<p>${text}</p>`)

/** @param {{error: Error & {status?: number}, onRetry: () => void}} props */
export function Failure ({ error, onRetry }) {
  const isOffline = !navigator.onLine && error.status === undefined
  const { storeAway, offlineNow } = words
  const { head, texts } = isOffline ? offlineNow : { head: storeAway.head, texts: [error.message, storeAway.text] }
  return html`<div class="notice" role="alert">
    <h2>${head}</h2>
    ${paragraphs(texts)}
    <${Button} kind="primary" onClick=${onRetry}>${words.again}<//>
  </div>`
}

/** @param {{database: string | null, onRetry: () => void}} props */
export function Empty ({ database, onRetry }) {
  const { head, before, command, after, look } = words.empty
  const store = database ? ` \\\n  --db ${shellWord(database)}` : ''
  return html`<div class="notice">
    <h2>${head}</h2>
    ${paragraphs(before)}
    <pre tabindex="0" aria-label=${command}><code>
      ${`tilecouch load tiles/ \\\n  --layer osm --time 2024-03-01${store}`}
    </code></pre>
    ${paragraphs(after)}
    <${Button} kind="primary" onClick=${onRetry}>${look}<//>
  </div>`
}
