// Stores in processes of their own, which may be killed, and put back to what they were.
import { cp, rm } from 'node:fs/promises'
import { findCouchDb, startCouchDb } from '../../../bench/couchdb.js'
import { startEmbeddedProcess } from '../embedded-process.js'

/**
 * One of each kind, as backends of a suite: started when they are wanted, with `server()` to kill them and `close()`.
 */
export const mortals =
  () => [mortal('embedded', startEmbeddedProcess), ...(findCouchDb() ? [mortal('CouchDB', () => startCouchDb())] : [])]

function mortal (name, start) {
  let server
  return {
    name,
    async database () {
      server = await start()
      return `${server.url}/tiles`
    },
    server: () => server,
    close: () => server?.close(),
    /**
     * The data as they are, to be put back by the function it answers. The server is killed for a moment, each time.
     */
    async keep () {
      const { dir } = server
      await server.kill()
      await rm(`${dir}.kept`, { recursive: true, force: true })
      await cp(dir, `${dir}.kept`, { recursive: true })
      await server.start()
      return async () => {
        await server.kill()
        await rm(dir, { recursive: true, force: true })
        await cp(`${dir}.kept`, dir, { recursive: true })
        await rm(`${dir}.kept`, { recursive: true, force: true })
        await server.start()
      }
    }
  }
}
