// A client of memcached: memjs, one connection.
import memjs from 'memjs'

const PATIENCE = 20 // seconds that an answer may take

/** */
export async function openMemcached ({ port }) {
  const client = memjs.Client.create(`127.0.0.1:${port}`, { timeout: PATIENCE, retries: 0, logger: { log () {} } })
  // connects
  await new Promise((resolve, reject) => { client.stats(error => error ? reject(error) : resolve(undefined)) })
  return {
    set: async (key, bytes) => { await client.set(key, bytes, {}) },
    get: async key => (await client.get(key)).value,
    delete: key => client.delete(key),
    close: async () => { client.close() }
  }
}
