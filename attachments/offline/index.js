// The panel of areas, and what it stands on: a bundle of its own, which the page loads when there is anything on the device,
// or when somebody presses the button.
export { openOffline } from './open.js'

/**
 * @param {object} page
 * @param {any} page.offline the OfflineStore, open and ready
 * @param {HTMLElement} page.entry the button in the header of the panel; from now on its clicks are answered here
 * @param {import('../stage.js').Stage} page.stage
 * @param {import('../map.js').MapView} page.view
 * @param {import('../notices.js').Notices} page.notices
 * @param {import('../cards.js').Cards} page.cards
 * @param {() => import('../store.js').Layer[]} page.layers those the viewer knows now
 */
export function mountOffline ({ entry, cards }) {
  const panel = {
    isOpen: false,
    open () {
      panel.isOpen = true
      cards.open('offline', 'Offline maps', () => panel.close())
    },
    close () {
      panel.isOpen = false
      cards.close('offline')
    }
  }
  entry.addEventListener('click', () => panel.isOpen ? panel.close() : panel.open())
  return panel
}
