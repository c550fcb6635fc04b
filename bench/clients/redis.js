// A client of Redis: @redis/client, one connection, answers as bytes.
import { RESP_TYPES, createClient } from '@redis/client'

/** */
export async function openRedis ({ port }) {
  const client = createClient({ socket: { host: '127.0.0.1', port, reconnectStrategy: false } })
  client.on('error', () => {}) // each command rejects with the same error
  await client.connect()
  const bytesOf = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })
  return {
    set: async (key, bytes) => { await client.set(key, Buffer.from(bytes)) },
    get: key => /** @type {Promise<any>} */ (bytesOf.get(key)),
    delete: async key => await client.del(key) === 1,
    close: async () => { await client.close() }
  }
}
