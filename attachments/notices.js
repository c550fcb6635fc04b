// Messages of the page: short messages above the timeline, and notices in the panel while there is no
// list to show.
import { element } from '../client/timeline/dom.js'
import { shellWord } from './copy.js'
import { button, iconButton } from './dom.js'
import { words } from './words.js'

/**
 * @typedef {{text: string, tone?: 'info' | 'warn', action?: {label: string, run: () => void}, onClose?: () => void}}
 *   Notice
 */

export class Notices {
  #container
  /** @type {Map<string, {node: HTMLElement, text: string}>} */
  #shown = new Map()

  /** @param {HTMLElement} container a live region */
  constructor (container) {
    this.#container = container
  }

  /** @param {string} topic @param {Notice} notice */
  show (topic, { text, tone = 'info', action, onClose }) {
    const before = this.#shown.get(topic)
    if (before?.text === text) return // it is not read aloud twice
    const node = element('div', { class: `toast ${tone}`, 'data-topic': topic },
      element('span', null, text),
      action && button(action.label, action.run, { class: 'act' }),
      onClose && iconButton('close', words.closeNotice, () => { this.end(topic); onClose() }))
    if (before) before.node.replaceWith(node)
    else this.#container.append(node)
    this.#shown.set(topic, { node, text })
  }

  end (topic) {
    this.#shown.get(topic)?.node.remove()
    this.#shown.delete(topic)
  }

  clear () {
    for (const topic of [...this.#shown.keys()]) this.end(topic)
  }
}

/** Grey shapes in place of the layers. */
export const loading = () => element(
  'div',
  { class: 'loading', 'aria-hidden': 'true' },
  ...Array.from({ length: 2 }, () => element('div', { class: 'bones' }, element('span'), element('span')))
)

const notice = (head, ...children) => element('div', { class: 'notice' }, element('h2', null, head), ...children)

const paragraphs = texts => texts.map(text => element('p', null, text))

/** @param {Error & {status?: number}} error */
export function failure (error, retry) {
  const isOffline = !navigator.onLine && error.status === undefined
  const { storeAway, offlineNow } = words
  const away = { head: storeAway.head, texts: [error.message, storeAway.text] }
  const { head, texts } = isOffline ? offlineNow : away
  const node = notice(head, ...paragraphs(texts), button(words.again, retry, { class: 'primary' }))
  node.setAttribute('role', 'alert')
  return node
}

/** @param {string | null} database @param {() => void} retry */
export function empty (database, retry) {
  const { head, before, command, after, look } = words.empty
  const store = database ? ` \\\n  --db ${shellWord(database)}` : ''
  const text = `tilecouch load tiles/ \\\n  --layer osm --time 2024-03-01${store}`
  return notice(head, ...paragraphs(before),
    element('pre', { tabindex: '0', 'aria-label': command }, element('code', null, text)),
    ...paragraphs(after), button(look, retry, { class: 'primary' }))
}
