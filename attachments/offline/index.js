// Areas of the map on this device: the card, and the OfflineStore that it shows. The page loads this bundle,
// offline.js, when the device holds an area, or when the user presses the button.
import PouchDB from 'pouchdb-browser'
import { OfflineStore } from '../../client/offline/index.js'
import { sharePromise } from '../../core/promises.js'
import { OfflinePanel } from './panel.js'

/**
 * @typedef {object} Page
 * @property {any} offline the OfflineStore, open and ready
 * @property {string} [reason] why the page does not open without a network: `insecure` or `blocked`
 * @property {HTMLElement} entry the button in the header of the panel; the card answers its clicks
 * @property {import('../stage.js').Stage} stage
 * @property {import('../map.js').MapView} view
 * @property {import('../notices.js').Notices} notices
 * @property {import('../cards.js').Cards} cards
 * @property {() => import('../store.js').Layer[]} layers that the viewer knows now
 * @property {() => {left: number, right: number, bottom: number}} free pixels of the map that lie under something
 */

/** @param {Page} page */
export const mountOffline = page => new OfflinePanel(page)

/** @type {Map<string, Promise<any>>} by name: two OfflineStores of one name would do everything twice */
const stores = new Map()

/** @param {string} remote address of the database @param {string} name of the databases on the device */
export const openOffline = (remote, name) => sharePromise(stores, name, () => openStore(remote, name))

async function openStore (remote, name) {
  const offline = new OfflineStore({ remote, name, PouchDB })
  await offline.ready
  return offline
}
