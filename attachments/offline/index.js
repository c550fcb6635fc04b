// The panel of areas with its OfflineStore: a separate bundle, which the page loads when there is anything on the
// device, or when somebody presses the button.
import PouchDB from 'pouchdb-browser'
import { OfflineStore } from '../../client/offline/index.js'
import { sharePromise } from '../../core/promises.js'
import { OfflinePanel } from './panel.js'

/**
 * @param {object} page
 * @param {any} page.offline the OfflineStore, open and ready; null where there can be none
 * @param {string} [page.reason] why there is none, or why the page does not open without a network
 * @param {HTMLElement} page.entry the button in the header of the panel; from now on its clicks are answered here
 * @param {import('../stage.js').Stage} page.stage
 * @param {import('../map.js').MapView} page.view
 * @param {import('../notices.js').Notices} page.notices
 * @param {import('../cards.js').Cards} page.cards
 * @param {() => import('../store.js').Layer[]} page.layers those the viewer knows now
 * @param {() => {left: number, right: number, bottom: number}} [page.free] pixels of the map that lie under something
 */
export const mountOffline = page => new OfflinePanel(page)

/** @type {Map<string, Promise<any>>} one for each name: two would do everything twice */
const open = new Map()

/** @param {string} remote address of the database @param {string} name of the databases on the device */
export const openOffline = (remote, name) => sharePromise(open, name, () => begin(remote, name))

async function begin (remote, name) {
  const offline = new OfflineStore({ remote, name, PouchDB })
  await offline.ready
  return offline
}
