// A store with its design documents, on either kind of server.
import { publish } from '../../loader/couchapp/publish.js'
import { Store } from '../../loader/store/index.js'

/** @param {{database: () => Promise<string>}} backend */
export async function publishedStore (backend) {
  const url = await backend.database()
  const store = await Store.create(url)
  await publish(store)
  return { store, url }
}
