// Answers that are larger than the memory they are made in.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const module = new URL('../../server/embedded/index.js', import.meta.url).href
const DOCS = 120
const SIZE = 150000 // bytes of an image
const HEAP = 90 // MB
const TOGETHER = 4

describe('the embedded store with little memory', function () {
  this.timeout(60000)
  let dir
  let child
  let url
  let errors = ''

  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'emb-memory-'))
    const script = `import { startEmbedded } from ${JSON.stringify(module)}
      const server = await startEmbedded({ dir: ${JSON.stringify(dir)}, admins: 'everybody' })
      console.log(server.url)`
    child = spawn(process.execPath, [`--max-old-space-size=${HEAP}`, '--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'pipe'] })
    child.stderr.on('data', text => { errors += text })
    url = `${String((await once(child.stdout, 'data'))[0]).trim()}/db`
    await ask('PUT', '')
    for (let at = 0; at < DOCS; at += 20) {
      const docs = Array.from({ length: 20 }, (_, one) => ({ _id: `d${at + one}`, _attachments: { tile: { content_type: 'image/png', data: Buffer.alloc(SIZE, at + one).toString('base64') } } }))
      assert.equal((await ask('POST', '/_bulk_docs', { docs })).status, 201)
    }
  })
  after(() => {
    child.kill('SIGKILL')
    rmSync(dir, { recursive: true, force: true })
  })

  /** Only counts what comes. @returns {Promise<{status: number | undefined, bytes: number}>} */
  function ask (method, path, body) {
    return new Promise((resolve, reject) => {
      const fail = error => reject(new Error(`${path}: ${error.message} ${errors.slice(0, 300)}`))
      const request = http.request(url + path, { method, agent: false, headers: { accept: 'application/json', 'content-type': 'application/json' } }, response => {
        let bytes = 0
        response.on('data', part => { bytes += part.length }).on('error', fail).on('end', () => resolve({ status: response.statusCode, bytes }))
      })
      request.on('error', fail)
      request.end(body && JSON.stringify(body))
    })
  }

  it('answers with all images to several at once', async () => {
    const ids = Array.from({ length: DOCS }, (_, at) => `d${at}`)
    const images = 'include_docs=true&attachments=true'
    for (const [method, path, body] of /** @type {[string, string, any][]} */ ([
      ['GET', `/_all_docs?${images}`, undefined], ['POST', `/_all_docs?${images}`, { keys: ids }], ['POST', `/_all_docs/queries?${images}`, { queries: [{ limit: DOCS }] }], ['POST', '/_bulk_get?attachments=true', { docs: ids.map(id => ({ id })) }],
      ['GET', `/_changes?${images}`, undefined], ['GET', `/_changes?${images}&descending=true`, undefined], ['POST', `/_changes?${images}&filter=_selector`, { selector: { _id: { $gt: null } } }]
    ])) {
      for (const { status, bytes } of await Promise.all(Array.from({ length: TOGETHER }, () => ask(method, path, body)))) {
        assert.equal(status, 200, path)
        assert.ok(bytes > DOCS * SIZE * 4 / 3, `${path}: ${bytes} bytes`)
      }
    }
    assert.equal(child.exitCode, null, errors)
  })
})
