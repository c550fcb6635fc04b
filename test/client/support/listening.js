// A server of pages on a free port of this machine.

/** @param {import('node:http').Server} server @returns {Promise<{url: string, close: () => Promise<void>}>} */
export async function listening (server) {
  await new Promise(resolve => { server.listen(0, '127.0.0.1', () => resolve(undefined)) })
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return {
    url: `http://127.0.0.1:${port}/`,
    close: () => new Promise(resolve => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  }
}
