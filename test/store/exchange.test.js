// Requests of programs that have done other things before.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import { promisify } from 'node:util'

const module = new URL('../../loader/store/exchange.js', import.meta.url).href

describe('a request', () => {
  let server
  let url
  before(done => {
    server = createServer((_, res) => res.end('{"answer":1}')).listen(0, '127.0.0.1', () => {
      url = `http://127.0.0.1:${server.address().port}`
      done()
    })
  })
  after(done => { server.close(done) })

  // Node's fetch makes the global connections of an undici of its own, older than the package's
  it('is answered after Node’s own fetch was called in the same process', async () => {
    const program = `
      await (await fetch('${url}')).text()
      const { exchange } = await import('${module}')
      const { bytes } = await exchange({ method: 'GET', url: new URL('${url}/db'), headers: {}, onPiece: () => {} })
      console.log(String(bytes))
    `
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
    assert.equal(stdout, '{"answer":1}\n')
  })
})
