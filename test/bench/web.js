// A little server: /moved/N leads to /image/N, which has an ETag.
import { createServer } from 'node:http'

export async function startWeb () {
  const image = Buffer.alloc(5000, 1)
  let connections = 0
  const server = createServer((request, response) => {
    const [, kind, number] = (request.url ?? '').split('/')
    const etag = `"${number}"`
    if (kind === 'moved') response.writeHead(302, { location: `../image/${number}` }).end('moved')
    else if (kind !== 'image') response.writeHead(404).end('nothing here')
    else if (request.headers['if-none-match'] === etag) response.writeHead(304).end()
    else response.writeHead(200, { etag }).end(image)
  })
  server.on('connection', () => connections++)
  await new Promise(resolve => { server.listen(0, '127.0.0.1', () => resolve(undefined)) })
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return {
    url: `http://127.0.0.1:${port}`,
    size: image.length,
    connections: () => connections,
    close: () => new Promise(resolve => server.close(resolve))
  }
}
