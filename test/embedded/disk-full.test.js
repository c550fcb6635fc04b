// A full disk, on a small file system in memory. Needs the right to mount; says so where it has not.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { skip } from '../support/tools.js'
import { startEmbedded } from '../../server/embedded/index.js'
import { clientFor } from './harness.js'

const SIZE = 48 // MB

const run = (command, ...args) => spawnSync(command, args).status === 0

describe('the embedded server on a full disk', function () {
  this.timeout(60000)
  let dir
  let server
  let client

  before(async function () {
    dir = mkdtempSync(join(tmpdir(), 'emb-full-'))
    if (!run('mount', '-t', 'tmpfs', '-o', `size=${SIZE}m`, 'tmpfs', dir)) {
      rmSync(dir, { recursive: true })
      dir = undefined
      skip(this, 'mounting a tmpfs needs root')
    }
    server = await startEmbedded({ dir: join(dir, 'data'), admins: 'everybody' })
    client = clientFor(server.url)
    await client('PUT', '/db')
    await client('PUT', '/db/_design/d', { views: { v: { map: '(function (doc) { emit(doc._id) })' } } })
  })

  after(async () => {
    client?.end()
    await server?.close()
    if (!dir) return
    run('umount', dir)
    rmSync(dir, { recursive: true })
  })

  let batch = 0
  const load = () => {
    const n = batch++
    const docs = Array.from({ length: 50 },
      (_,
        i) => (
          { _id: `b${n}:${i}`, n, _attachments: {
            tile: { content_type: 'image/png', data: randomBytes(10000).toString('base64') }
          } }
        ))
    return client('POST', '/db/_bulk_docs', { docs })
  }
  const hog = () => join(dir, 'hog')
  const fill = () => {
    const { bavail, bsize } = statfsSync(dir)
    writeFileSync(hog(), Buffer.alloc(Math.max(0, bavail * bsize - 700000)))
  }

  const stored = new Set()

  it('answers writes with 507 insufficient_storage', async () => {
    for (let i = 0; i < 10; i++) for (const { id } of (await load()).json) stored.add(id)
    fill()
    let full
    for (let i = 0; i < 40 && !full; i++) {
      const answers = await Promise.all([load(), load(), load(), load()])
      for (const { status, json } of answers) {
        if (status === 201) for (const { id } of json) stored.add(id)
        else full = { status, json }
      }
    }
    assert.equal(full.status, 507)
    assert.equal(full.json.error, 'insufficient_storage')
    for (const [method, path, body] of [['PUT', '/db/x', {}], ['PUT', '/db/_local/x', {}], [
      'PUT', '/db/y', { _attachments: { tile: { content_type: 'image/png', data: 'YWJj' } } }
    ], ['PUT', '/full', undefined]]) {
      const { status, text } = await client(method, path, body)
      assert.ok([201, 507].includes(status), `${method} ${path} ${status} ${text}`)
    }
  })

  it('still reads all stored documents, attachments and changes', async () => {
    const { json } = await client('GET', '/db/_all_docs')
    const ids = new Set(json.rows.map(({ id }) => id))
    for (const id of stored) assert.ok(ids.has(id), id)
    const [first] = stored
    assert.equal((await client('GET', `/db/${first}/tile`)).bytes.length, 10000)
    assert.equal((await client('GET', '/db/_changes?limit=1')).status, 200)
    assert.ok([200, 507].includes((await client('GET', '/db/_design/d/_view/v')).status))
  })

  it('writes again after space is freed, and keeps all stored documents', async () => {
    rmSync(hog())
    const again = await Promise.all([load(), load(), load(), load()])
    for (const { status, text, json } of again) {
      assert.equal(status, 201, text)
      for (const { id } of json) stored.add(id)
    }
    const { json } = await client('GET', '/db/_design/d/_view/v')
    const ids = new Set(json.rows.map(({ id }) => id))
    for (const id of stored) assert.ok(ids.has(id), id)
    assert.equal((await client('PUT', '/db/_local/x', {})).status, 201)
  })

  it('has all stored documents after a restart', async () => {
    await server.close()
    server = await startEmbedded({ dir: join(dir, 'data'), admins: 'everybody' })
    client.end()
    client = clientFor(server.url)
    const { json } = await client('GET', '/db/_all_docs')
    const ids = new Set(json.rows.map(({ id }) => id))
    for (const id of stored) assert.ok(ids.has(id), id)
  })
})
