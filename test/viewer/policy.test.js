/* global window, document -- of the page, in functions that run there */
// Tests in a browser the policy that `setup --allow-viewer` sets on a CouchDB. The whole viewer runs under it, but a
// page attached in another database runs no script, even if an admin opens it.
import assert from 'node:assert/strict'
import { findCouchDb, startCouchDb } from '../../bench/couchdb.js'
import { until } from '../../bench/wait.js'
import { VIEWER_CSP, couchPolicy, letsRun, runsViewer, storesIn } from '../../loader/couchapp/policy.js'
import { doctor } from '../../loader/check/doctor/index.js'
import { up } from '../../server/index.js'
import { json, request } from '../support/backends.js'
import { skip } from '../support/tools.js'
import { openAreas } from './areas.js'
import { drawnTiles, openBrowser, openPage } from './browser.js'
import { CSP, SMALL } from './stores.js'
import { make, openTake } from './take-support.js'

const HURT = name => `fetch('/hurt_${name}', { method: 'PUT', credentials: 'include' })`

/** Attachments that use every way in which a page runs a script. */
const ATTACHED = {
  'page.html': ['text/html', `<!doctype html><script>${HURT('inline')}</script>
<script src="script.js"></script><script type="module" src="module.js"></script>
<img src="/no" onerror="${HURT('handler')}">
<iframe srcdoc="<script>${HURT('frame')}</script>"></iframe><object data="image.svg"></object>
<template id="later"><script src="script.js" integrity="sha256-AAAA" type="module"></script></template>
<base href="/other/hostile/"><p>read me</p>`],
  'script.js': ['text/javascript', HURT('script')],
  'offline.js': ['text/javascript', HURT('copy')],
  'module.js': ['text/javascript', HURT('module')],
  'sw.js': ['text/javascript', `addEventListener('install', event => event.waitUntil(${HURT('worker')}))`],
  'image.svg': ['image/svg+xml', `<svg xmlns="http://www.w3.org/2000/svg"><script>${HURT('image')}</script></svg>`]
}

const VIEWER = '/tiles/_design/tiles/_rewrite/'
const ALLOWED = { stores: ['/tiles'] }

describe('the policy of a CouchDB that serves the viewer', function () {
  this.timeout(120000)
  let couch, browser, url
  before(async function () {
    if (!findCouchDb()) return skip(this, 'no couchdb executable: set COUCHDB_BIN')
    browser = await openBrowser(this)
    couch = await startCouchDb()
    url = `${couch.url}/tiles`
    await up({ db: url, demoSize: SMALL })
    await json(`${couch.url}/other`, { method: 'PUT' })
    const page = await (await request(`${url}/_design/tiles/index.html`)).text()
    const files = { ...ATTACHED, 'viewer.html': ['text/html', page.replaceAll(' src="', ` src="${VIEWER}`)] }
    const _attachments = Object.fromEntries(Object.entries(files)
      .map(([name, [type, text]]) => [name, { content_type: type, data: Buffer.from(text).toString('base64') }]))
    await json(`${couch.url}/other/hostile`, { method: 'PUT', body: JSON.stringify({ _attachments }) })
  })
  after(async () => {
    await browser?.close()
    await couch?.close()
  })

  const address = () => `${couch.url}/_node/_local/_config/${CSP}`
  const currentPolicy = () => json(address())
  const setPolicy = policy => request(address(),
    { method: policy === null ? 'DELETE' : 'PUT', ...(policy !== null && { body: JSON.stringify(policy) }) })
  /** The finding of the doctor about the policy. */
  const policyFinding = async options => (await doctor(url, options)).findings.find(({ check }) => check === CSP)

  /** Opens a path as an admin who has logged in. */
  async function visit (path, waitUntil = 'networkidle') {
    const view = await openPage(browser)
    const { username, password } = new URL(couch.url)
    const answer = await view.page.context()
      .request.post(`http://127.0.0.1:${couch.port}/_session`, { form: { name: username, password } })
    assert.equal(answer.status(), 200)
    await view.page.goto(`http://127.0.0.1:${couch.port}${path}`, { waitUntil })
    return view
  }

  async function openHostilePages () {
    const { page, close } = await visit('/other/hostile/page.html')
    await page.getByText('read me').waitFor()
    await close()
    const { page: image, close: closeImage } = await visit('/other/hostile/image.svg')
    assert.match(image.url(), /image\.svg$/)
    await closeImage()
    const createdDatabases = (await json(`${couch.url}/_all_dbs`)).filter(name => name.startsWith('hurt_'))
    for (const name of createdDatabases) await request(`${couch.url}/${name}`, { method: 'DELETE' })
    return createdDatabases
  }

  it('runs scripts that anybody attached, for an admin too, if an older version set it', async () => {
    await setPolicy(VIEWER_CSP)
    assert.deepEqual(await openHostilePages(), ['hurt_module', 'hurt_script'])
  })

  it('is narrowed by `doctor --fix`, which allows the viewer only with --allow-viewer', async () => {
    assert.equal((await policyFinding({}))?.state, 'bad', 'the old one')
    assert.equal((await policyFinding({ fix: true }))?.fixed, VIEWER_CSP)
    assert.equal(await currentPolicy(), await couchPolicy(ALLOWED))
    await setPolicy(null)
    assert.equal(await policyFinding({ fix: true }), undefined, 'nothing runs, and it stays so')
    await setPolicy("default-src 'self' 'unsafe-inline'")
    assert.equal((await policyFinding({ fix: true }))?.state, 'bad', 'of somebody else: reported, and left alone')
    assert.equal((await policyFinding({ fix: true, allowViewer: true }))?.state, 'ok')
    await setPolicy("default-src 'none'; script-src 'sha256-mine'; img-src 'self'")
    assert.equal(await policyFinding({ fix: true }), undefined, 'of somebody else, and narrow')
    await setPolicy((await couchPolicy(ALLOWED)).replace(/sha256-\w/, 'sha256-x'))
    assert.equal((await up({ db: url, demo: false })).blocked, true, 'of another version')
    assert.equal((await policyFinding({}))?.state, 'warning')
    assert.equal((await policyFinding({ fix: true }))?.state, 'ok')
  })

  it('runs the viewer with its workers and offline maps, and no script of another database', async () => {
    await setPolicy(await couchPolicy(ALLOWED))
    assert.equal((await up({ db: url, demo: false })).blocked, false)
    assert.deepEqual(await openHostilePages(), [])
    const { page, errors, close } = await visit(VIEWER, 'load')
    assert.ok(await drawnTiles(page) > 0)
    const card = await openTake(page, 'Time-lapse') // it uses a worker
    await card.getByText(/^\d+ frames/).waitFor()
    assert.equal((await make(card, 'Make the time-lapse')).bytes.subarray(0, 3).toString(), 'GIF')
    await card.getByRole('button', { name: /^Close/ }).click()
    await openAreas(page)
    await page.getByText('Connected to the store').waitFor()
    await page.waitForFunction(() => window.navigator.serviceWorker.ready.then(() => true))
    assert.deepEqual(errors, [])
    await close()
  })

  it('lets the viewer draw a base map of another origin, if `doctor` wrote it into the policy', async () => {
    const doc = await json(`${url}/tilecouch`)
    const write = fields => json(`${url}/tilecouch`, { method: 'PUT', body: JSON.stringify({ ...doc, ...fields }) })
    const { rev: _rev } = await write({ base: { url: 'https://tiles.example.org/{z}/{x}/{y}.png' } })
    await doctor(url, { fix: true, allowViewer: true })
    const { page, errors, close } = await openPage(browser)
    await page.route('https://tiles.example.org/**', route => route.fulfill(
      { contentType: 'image/svg+xml', body: '<svg xmlns="http://www.w3.org/2000/svg" width="256" height="256"/>' }
    ))
    await page.goto(`http://127.0.0.1:${couch.port}${VIEWER}#daylight/2/0/0`)
    await page.waitForFunction(() => document.querySelectorAll('#map img.leaflet-tile-loaded').length > 0)
    assert.deepEqual(errors, [])
    await close()
    await write({ _rev })
    await doctor(url, { fix: true })
    assert.equal(await currentPolicy(), await couchPolicy(ALLOWED))
  })

  it('refuses the service worker of a foreign page that runs the scripts of the viewer', async () => {
    const policy = await couchPolicy(ALLOWED)
    /** Tells which came first: a refusal, or a run of the worker. */
    const outcome = async () => {
      const { page, errors, close } = await visit('/other/hostile/viewer.html', 'load')
      let result = ''
      await until(async () => {
        if (errors.some(error => /sw\.js/.test(error) && /worker-src/.test(error))) result = 'refused'
        if ((await json(`${couch.url}/_all_dbs`)).includes('hurt_worker')) result = 'ran'
        return result
      }, { timeout: 30000, what: 'the worker or a refusal' })
      await page.evaluate(async () => {
        for (const worker of await window.navigator.serviceWorker.getRegistrations()) await worker.unregister()
      })
      await close()
      return result
    }
    await setPolicy(policy)
    assert.equal(await outcome(), 'refused')
    await setPolicy(policy.replace(/worker-src [^;]*/, "worker-src 'self'"))
    assert.equal(await outcome(), 'ran', 'as older versions allowed')
    assert.deepEqual(await openHostilePages(), ['hurt_worker'])
    assert.equal((await policyFinding({}))?.state, 'bad')
    assert.equal((await policyFinding({ fix: true }))?.fixed, policy.replace(/worker-src [^;]*/, "worker-src 'self'"))
    assert.equal(await currentPolicy(), policy)
  })

  it('runs no attached script if it is the default of CouchDB', async () => {
    await setPolicy(null)
    assert.deepEqual(await openHostilePages(), [])
  })
})

describe('reading a policy', () => {
  it('finds the stores whose viewers it allows', async () => {
    const stores = ['/tiles', '/a%2Fb']
    assert.deepEqual(storesIn(await couchPolicy({ stores })), stores)
    assert.deepEqual([storesIn(''), storesIn(VIEWER_CSP), storesIn(await couchPolicy())], [[], [], []])
  })

  it('tells whether the policy runs no scripts, listed scripts or any script', async () => {
    const policies = {
      nothing: ['sandbox', 'Sandbox allow-scripts', "default-src 'none'",
        "script-src 'none'; default-src *", 'default-src *; sandbox'],
      digests: [await couchPolicy(), "script-src 'sha256-x'", "script-src 'none'; script-src-attr 'sha256-x'"],
      anything: [null, '', VIEWER_CSP, 'sandbox allow-same-origin allow-scripts',
        "img-src 'self'", "default-src 'sha256-x' 'strict-dynamic'",
        "script-src 'unsafe-inline'; script-src 'none'", 'script-src https:',
        "script-src 'sha256-x'; script-src-elem *", "script-src 'none'; script-src-attr 'unsafe-inline'"]
    }
    for (const [expected, examples] of Object.entries(policies)) for (const policy of examples) {
      assert.equal(letsRun(policy), expected, String(policy))
    }
    assert.deepEqual(await Promise.all(
      [null, VIEWER_CSP, 'sandbox', await couchPolicy(), "script-src 'sha256-x'"].map(policy => runsViewer(policy))
    ), [true, true, false, true, false])
  })
})
