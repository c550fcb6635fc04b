// Messages of the page: short messages above the timeline, and notices in the panel while there is no
// list to show.
import { element } from '../client/timeline/dom.js'
import { button, icon } from './dom.js'

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
      onClose && element('button', { type: 'button', class: 'icon', 'aria-label': 'Close', on: { click: () => { this.end(topic); onClose() } } }, icon('close')))
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
export const loading = () => element('div', { class: 'loading', 'aria-hidden': 'true' }, ...Array.from({ length: 2 }, () =>
  element('div', { class: 'bones' }, element('span'), element('span'))))

/** @param {Error & {status?: number}} error */
export function failure (error, retry) {
  const isOffline = !navigator.onLine && error.status === undefined
  return element('div', { class: 'notice', role: 'alert' },
    ...isOffline ? [
      element('h2', null, 'You are offline'),
      element('p', null, 'Nothing of this map is on this device yet. With a connection, the button “Offline maps” of this page downloads parts of it.'),
      element('p', null, 'The map appears here by itself when there is a connection.')
    ] : [
      element('h2', null, 'The store does not answer'),
      element('p', null, error.message),
      element('p', null, 'Is the server still running? Nothing is lost: this page keeps asking, and goes on when there is an answer.')
    ],
    button('Try again', retry, { class: 'primary' }))
}

/** @param {string | null} database @param {() => void} retry */
export const empty = (database, retry) => element('div', { class: 'notice' },
  element('h2', null, 'No layers yet'),
  element('p', null, 'This store is ready and empty. Load a folder of tiles or an MBTiles file into it:'),
  element('pre', { tabindex: '0', 'aria-label': 'Command' }, element('code', null, `tilecouch load tiles/ \\\n  --layer osm --time 2024-03-01${database ? ` \\\n  --db ${database}` : ''}`)),
  element('p', null, 'A folder holds z/x/y.png, as gdal2tiles and most tile tools write it. Each load at a new time adds to the layer’s past, and this page lets you go back there.'),
  element('p', null, 'The map appears here by itself as soon as there is one.'),
  button('Look again', retry, { class: 'primary' }))
