// A store that another couchapp tool deployed: its folders are pushed, _security is opened, and a writer loads tiles.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import couchdbPush from 'couchdb-push'
import { compose, composeFolder, signaturesOf } from '../../loader/couchapp/compose.js'
import { push } from '../../loader/couchapp/push.js'
import { doctor } from '../../loader/check/doctor/index.js'
import { PUBLIC_SECURITY } from '../../loader/store/index.js'
import { Couch } from '../../loader/store/couch.js'
import { as, json, put, request } from '../support/backends.js'
import { runCommand } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { withPeople } from '../support/people.js'
import { png } from '../support/tiles.js'

const pushFolder = (url, folder) => new Promise((resolve, reject) => {
  couchdbPush(url, folder, (/** @type {Error | null} */ error) => error ? reject(error) : resolve(undefined))
})

withPeople('a store that couchdb-push deployed', start => {
  const tiles = useFolder()
  let server, url, designs
  before(async function () {
    this.timeout(300000)
    server = await start()
    url = server.database
    designs = await compose()
    await request(url, { method: 'PUT' })
    const folder = await mkdtemp(path.join(tmpdir(), 'tilecouch-classic-'))
    for (const app of await composeFolder(folder)) await pushFolder(url, app)
    await rm(folder, { recursive: true })
    await put(`${url}/_security`, PUBLIC_SECURITY)
  })
  after(async () => {
    await request(url, { method: 'DELETE' })
    await server.close()
  })

  const actions = async () =>
    Object.fromEntries((await push(new Couch(url), designs, { dryRun: true })).map(({ id, action }) => [id, action]))
  const unchanged = { '_design/tiles': 'unchanged', '_design/versions': 'unchanged' }

  it('needs no other push, and doctor finds it deployed', async () => {
    assert.deepEqual(await actions(), unchanged)
    const { findings } = await doctor(url, { docs: designs })
    assert.equal(findings.find(({ check }) => check === 'deployed').state, 'ok')
  })

  it('lets a writer load editions, also the first one', async () => {
    tiles.write({ 'town/1/0/0.png': png(1), 'town/1/1/0.png': png(2) })
    const command = ['load', path.join(tiles.dir, 'town'), '--layer', 'town', '--db', as(url, ...server.writer)]
    for (const year of ['2023', '2024']) {
      const { code, err } = await runCommand([...command, '--time', year])
      assert.equal(code, 0, err)
    }
    assert.equal((await request(`${as(url)}/_design/tiles/_rewrite/town@2023/1/0/0.png`)).status, 200)
  }).timeout(100000)

  it('needs a push only when bytes of a file, a content type or a function differ', async () => {
    const design = await json(`${url}/_design/tiles?attachments=true`, { headers: { accept: 'application/json' } })
    const { _attachments: files } = design
    const page = { ...files['index.html'], data: btoa('<p>another page</p>') }
    const signatures = signaturesOf(files)
    const cases = {
      'a file with other bytes': [{ ...design, _attachments: { ...files, 'index.html': page } }, 'changed'],
      'a file with another content type': [{
        ...design, _attachments: { ...files, 'index.html': { ...files['index.html'], content_type: 'image/png' } }
      }, 'changed'],
      'another function': [{ ...design, rewrites: '(function () {})' }, 'changed'],
      'additional fields of couchapp': [{ ...design, couchapp: { signatures, manifest: ['lists/'], objects: {} } },
        'unchanged']
    }
    for (const [name, [doc, expectedAction]] of Object.entries(cases)) {
      const { _rev } = await json(`${url}/_design/tiles`)
      await put(`${url}/_design/tiles`, { ...doc, _rev })
      assert.equal((await actions())['_design/tiles'], expectedAction, name)
    }
  })
})
