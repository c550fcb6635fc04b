// The context of every component of the control room: the store, the signed-in user, and messages.
import { createContext, useAnswer, useContext, useEvents } from '../html.js'
import { shellLine } from '../copy.js'

/**
 * @typedef {object} App
 * @property {import('./couch.js').Couch} couch
 * @property {import('./documents.js').Documents} docs
 * @property {import('../../core/access.js').User} user
 * @property {any} security of the database, as the pages show it
 * @property {(place: string) => void} go to a page: 'layers', 'layers/osm'
 * @property {(text: string, isProblem?: boolean) => void} say shows a message in a corner of the page
 */

export const AppContext = createContext(/** @type {App} */ (/** @type {any} */ (null)))

/** @returns {App} */
export const useApp = () => useContext(AppContext)

/**
 * The documents of the store. The component is drawn again when some of these kinds change.
 * @param {...string} kinds
 */
export function useDocs (...kinds) {
  const { docs } = useApp()
  useEvents(docs, kinds.join(' '))
  return docs
}

/**
 * The address of the store of this page for commands.
 * @param {App} app
 * @returns {Promise<{isEmbedded: boolean, url: string | null}>} url: with the name of the signed-in user; null:
 *   embedded, which commands find by its folder
 */
async function storeAddress ({ couch, user }) {
  const isEmbedded = await couch.isEmbedded()
  if (isEmbedded) return { isEmbedded, url: null }
  const url = new URL(couch.db)
  if (user.name) url.username = encodeURIComponent(user.name)
  return { isEmbedded, url: url.href }
}

/** The address of the store; undefined until it is known. */
export function useStoreAddress () {
  const app = useApp()
  return useAnswer(() => storeAddress(app), [app])
}

/** Writes the line of a command for the store of this page. @returns {(...args: any[]) => string} */
export function useShellLine () {
  const url = useStoreAddress()?.url
  return (...args) => shellLine(...args, ...(url ? ['--db', url] : []))
}
