// A worker for tests of the crew: instead of the gateway, a server that does what the address says. Its options choose
// failures: `config` is a file, and nothing starts while it exists; `cors` says how the start fails.
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { TilecouchError } from '../../../core/index.js'
import { serveAsWorker } from '../../../server/gateway/workers/worker.js'

const listen = (server, port, host) => new Promise((resolve, reject) => {
  server.once('error',
    error => reject(error.code === 'EADDRINUSE' ? new TilecouchError('PORT_IN_USE', { port }) : error))
  server.listen(port, host, () => resolve(server.address().port))
})

serveAsWorker(async (options, { metrics }) => {
  if (options.config && existsSync(options.config)) {
    if (options.cors === 'exit') process.exit(3)
    if (options.cors === 'hang') return new Promise(() => {})
    throw new TilecouchError('DATABASE_NOT_FOUND', { db: 'http://localhost/tiles' })
  }
  const heldResponses = new Set()
  const pages = {
    '/pid': res => res.end(String(process.pid)),
    '/options': res => res.end(JSON.stringify(options)),
    '/exit': () => process.exit(7),
    '/hold': res => { heldResponses.add(res.write(`${process.pid}\n`) && res) },
    '/health': res => res.writeHead(200).end('{"status":"ok"}'),
    '/count': res => {
      metrics.request({ kind: 'tile', layer: 'osm', outcome: 'hit', status: 200, seconds: 0.001 })
      res.end(String(process.pid))
    }
  }
  metrics.bind({ memory: { bytes: 100, size: 1, maxBytes: options.memory } })
  const answer = (req, res) => (res.setHeader('connection', 'close'), pages[req.url](res))
  const server = createServer(answer)
  const port = await listen(server, options.port, options.host)
  const ops = options.opsPort === null ? null : createServer(answer)
  const opsPort = ops && await listen(ops, options.opsPort, options.opsHost)
  return {
    url: `http://${options.host}:${port}`,
    port,
    opsUrl: ops && `http://${options.opsHost}:${opsPort}`,
    close: () => new Promise(resolve => {
      if (options.cors === 'never ends') return
      server.close(resolve)
      ops?.close()
      for (const res of heldResponses) res.end('done\n')
    })
  }
})
