// What the panel says when there is no list to show: loading, nothing there, nobody there.
import { button, element } from './dom.js'

/** Grey shapes where the layers will stand. */
export const loading = () => element('div', { class: 'loading', 'aria-hidden': 'true' }, ...Array.from({ length: 2 }, () =>
  element('div', { class: 'bones' }, element('span'), element('span'))))

/**
 * @param {Error & {status?: number}} error
 * @param {() => void} retry
 */
export function failure (error, retry) {
  const isOffline = !navigator.onLine && error.status === undefined
  return element('div', { class: 'notice', role: 'alert' },
    ...isOffline ? [
      element('h2', null, 'You are offline'),
      element('p', null, 'Nothing of this map is on this device yet. With a connection, the button “Offline maps” of this page takes parts of it along.'),
      element('p', null, 'The map appears here by itself when there is a connection.')
    ] : [
      element('h2', null, 'The store does not answer'),
      element('p', null, error.message),
      element('p', null, 'Is the server still running? Nothing is lost: this page keeps asking, and goes on when there is an answer.')
    ],
    button('Try again', retry, { class: 'primary' }))
}

/**
 * @param {string | null} database
 * @param {() => void} retry
 */
export const empty = (database, retry) => element('div', { class: 'notice' },
  element('h2', null, 'No layers yet'),
  element('p', null, 'This store is ready and empty. Load a folder of tiles or an MBTiles file into it:'),
  element('pre', { tabindex: '0', 'aria-label': 'Command' }, element('code', null, `tilecouch load tiles/ \\\n  --layer osm --time 2024-03-01${database ? ` \\\n  --db ${database}` : ''}`)),
  element('p', null, 'A folder holds z/x/y.png, as gdal2tiles and most tile tools write it. Each load at a new time adds to the layer’s past, and this page lets you go back there.'),
  element('p', null, 'The map appears here by itself as soon as there is one.'),
  button('Look again', retry, { class: 'primary' }))
