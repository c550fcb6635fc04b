/* global caches, document, getComputedStyle, location, window -- of the page, in functions that run there */
// Tests which files of the viewer the browser caches: all files of one version or none, and no data of a store.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { stamp } from '../../loader/couchapp/bundle.js'
import { isOfViewer } from '../../loader/couchapp/compose.js'
import { drawnTiles } from './browser.js'
import { AWAY, onViewer } from '../support/viewer.js'

/** Files in the browser's caches: address of a cache -> names. */
const kept = page => page.evaluate(async () => {
  const namesByCache = {}
  for (const name of await caches.keys()) namesByCache[name] = (await (await caches.open(name)).keys())
    .map(({ url }) => url.slice(new URL('.', location.href).href.length).replace(/\?v=.*/, '')).sort()
  return namesByCache
})

const FILES = ['', 'favicon.svg', 'icon-192.png', 'icon-512.png', 'icon-maskable-512.png', 'leaflet.css',
  'leaflet.js', 'manifest.webmanifest', 'offline.js', 'take.js', 'viewer.css', 'viewer.js', 'words.en.json']

/** What the browser has of the service worker and of its files, for the message of a failure. */
const workerState = page => page.evaluate(async () => {
  const registration = await navigator.serviceWorker.getRegistration()
  const files = {}
  for (const name of await caches.keys()) files[name] = (await (await caches.open(name)).keys()).length
  const [active, waiting, installing] = ['active', 'waiting', 'installing'].map(name => registration?.[name]?.state)
  return JSON.stringify({ active, waiting, installing, files })
})

/** Waits until all files of the page's version are cached and in use, and returns the version. */
async function waitForVersion (page) {
  const version = await page.evaluate(
    () => new URL(/** @type {any} */ (document.querySelector('script[src*="viewer.js"]')).src).searchParams.get('v')
  )
  const isComplete = () => page.evaluate(async ([pageVersion, count]) => {
    const { active, installing, waiting } = await navigator.serviceWorker.ready
    if (!installing && !waiting) active?.postMessage('rest') // the page sends this after a while
    const name = (await caches.keys()).find(key => key.endsWith(` ${pageVersion}`))
    if (!name || (await (await caches.open(name)).keys()).length < count) return false
    return !installing && !waiting && active?.state === 'activated' && Boolean(navigator.serviceWorker.controller)
  }, [version, FILES.length])
  try {
    await until(isComplete, { what: 'all of a version', timeout: 30000 })
  } catch (error) {
    throw new Error(`no complete version ${version}: ${await workerState(page)}`, { cause: error })
  }
  return version
}

const versionsOf = page => page.evaluate(
  () => ({ ...(/** @type {any} */ (window)).versions, 'viewer.css': +
    getComputedStyle(document.documentElement).getPropertyValue('--version') })
)

const versionsAt = number => ({ 'viewer.js': number, 'leaflet.js': number, 'viewer.css': number })

const MARKED = { 'viewer.js': 'js', 'leaflet.js': 'js', 'offline.js': 'js', 'viewer.css': 'css' }

const mark = (name, number) => MARKED[name] === 'css'
  ? `\n:root { --version: ${number} }`
  : `\n;(globalThis.versions ??= {})["${name}"] = ${number};`

/**
 * Deploys another version of the viewer, in which every file that runs reports its version.
 * @param {any} store
 * @param {number} number reported by `versions` of the page, and by `--version` of its style
 */
async function deploy (store, number) {
  const { _attachments, ...design } = await store.couch.request({ path: '_design/tiles?attachments=true' })
  const files = Object.fromEntries(Object.entries(_attachments)
    .map(([name, { content_type: type, data }]) => [name, { type, bytes: Buffer.from(data, 'base64') }]))
  for (const name of Object.keys(MARKED)) {
    files[name].bytes = Buffer.concat([files[name].bytes, Buffer.from(mark(name, number))])
  }
  // without the stamps of the previous build
  files['index.html'].bytes = Buffer.from(
    files['index.html'].bytes.toString().replace(/\?v=[0-9a-f]+/g, '').replace(/integrity="[^"]+"/g, 'integrity=""')
  )
  files['sw.js'].bytes = Buffer.from(files['sw.js'].bytes.toString().replace(/^const SHELL=.*\n/, ''))
  stamp(files, isOfViewer)
  const attached = Object.entries(files)
    .map(([name, { type, bytes }]) => [name, { content_type: type, data: bytes.toString('base64') }])
  await store.couch.request(
    { method: 'PUT', path: '_design/tiles', body: JSON.stringify(
      { ...design, _attachments: Object.fromEntries(attached) }
    ) }
  )
}

onViewer('its own files', {}, stage => {
  const reload = async page => {
    await page.reload()
    await page.locator('#summary', { hasText: /\S/ }).waitFor()
  }

  it('are cached in one version, and the service worker answers no request for data', async () => {
    const page = await stage.visit()
    const workerUrls = []
    page.on('response', response => { if (response.fromServiceWorker()) workerUrls.push(response.url()) })
    await drawnTiles(page)
    const version = await waitForVersion(page)
    await reload(page)
    await drawnTiles(page)
    await page.getByRole('button', { name: 'Zoom in', exact: true }).click()
    await page.getByRole('button', { name: 'Last change' }).click()
    await drawnTiles(page)
    assert.deepEqual(Object.values(await kept(page)), [FILES])
    const paths = workerUrls.map(url => url.slice(stage.address.length))
    assert.deepEqual(paths.filter(path => path !== '' && !path.endsWith(`?v=${version}`)), [])
    for (const name of ['', `viewer.js?v=${version}`, `leaflet.js?v=${version}`]) assert.ok(paths.includes(name), name)
  })

  it('open the page without a network or a server, and the page says which is missing', async () => {
    const page = await stage.open()
    await waitForVersion(page)
    await stage.front.stop()
    await page.context().setOffline(true)
    await page.reload()
    await page.getByRole('heading', { name: 'You are offline' }).waitFor()
    await page.goto(`${stage.address}index.html?from=home#daylight/1/0/0`)
    await page.getByRole('heading', { name: 'You are offline' }).waitFor()
    await page.context().setOffline(false)
    await page.goto(`${stage.address}?x`)
    await page.getByRole('heading', { name: 'The store does not answer' }).waitFor()
    await stage.front.restart()
    await drawnTiles(page)
    stage.allow(AWAY)
  })

  it('are used when a proxy answers 502 for the page, and for no other answer', async () => {
    const page = await stage.visit()
    await waitForVersion(page)
    const isPage = ({ path }) => path === '_design/tiles/_rewrite/'
    const heal = stage.front.rule(entry => isPage(entry) ? { status: 502, body: 'Bad gateway' } : undefined)
    await page.reload()
    await drawnTiles(page)
    heal()
    stage.front.rule(entry => isPage(entry) ? { status: 401, body: 'who are you?' } : undefined)
    await page.reload()
    await page.getByText('who are you?').waitFor()
    stage.front.reset()
    for (const path of ['daylight.json', 'daylight/0/0/0.png', 'nope']) {
      const answer = await page.goto(stage.address + path)
      assert.equal(answer.fromServiceWorker(), false, path)
    }
    stage.allow(/401|404/)
  })

  it('are all of the new version after one reload, also without a network', async () => {
    const page = await stage.open()
    const first = await waitForVersion(page)
    let before = first
    for (const number of [2, 3]) {
      await deploy(stage.store, number)
      await reload(page)
      assert.deepEqual(await versionsOf(page), versionsAt(number))
      const version = await waitForVersion(page)
      assert.notEqual(version, before)
      // pages that are still open may need the previous version; older versions are removed
      await until(async () => Object.keys(await kept(page)).map(name => name.split(' ').at(-1))
        .join() === `${before},${version}`, { what: 'two versions' })
      await page.context().setOffline(true)
      await page.reload()
      await page.getByRole('heading', { name: 'You are offline' }).waitFor()
      assert.deepEqual(await versionsOf(page), versionsAt(number))
      await page.context().setOffline(false)
      before = version
    }
    stage.allow(AWAY)
  })

  it('are never of two versions on one page', async () => {
    await deploy(stage.store, 4)
    const page = await stage.open()
    await waitForVersion(page)
    await deploy(stage.store, 5)
    const other = await page.context().newPage()
    await other.goto(stage.address)
    await waitForVersion(other)
    assert.deepEqual(await versionsOf(other), versionsAt(5))
    await page.getByRole('button', { name: 'Offline maps' }).click()
    await page.waitForFunction(() => /** @type {any} */ (window).versions['offline.js'])
    assert.deepEqual(await versionsOf(page), { ...versionsAt(4), 'offline.js': 4 })
  })

  it('are not cached when one of them is of another version, as during a deployment', async () => {
    stage.front.rule(({ path }) => path.includes('/icon-512.png?v=')
      ? { status: 200, body: 'of another version', headers: { 'Content-Type': 'image/png' } } : undefined)
    const page = await stage.open()
    await until(async () => stage.front.requests('other').some(({ path }) => path.includes('/icon-512.png?v=')),
      { what: 'a look at it' })
    await until(() => page.evaluate(async () => !(await caches.keys()).length &&
      !(await navigator.serviceWorker.getRegistration())), { what: 'nothing' })
    stage.front.reset()
    await reload(page)
    await waitForVersion(page)
  })

  it('are cached later when only offline maps or images need them', async () => {
    const page = await stage.open()
    await until(() => page.evaluate(async () => (await navigator.serviceWorker.ready).active?.state === 'activated'),
      { what: 'the service worker' })
    assert.deepEqual(Object.values(await kept(page)), [FILES.filter(name => !['offline.js', 'take.js'].includes(name))])
    assert.deepEqual(stage.front.requests('other').filter(({ path }) => path.includes('/offline.js')), [])
    await waitForVersion(page)
    assert.deepEqual(Object.values(await kept(page)), [FILES])
  })

  it('can be installed as an app', async () => {
    const page = await stage.visit()
    await waitForVersion(page)
    const devtools = await page.context().newCDPSession(page)
    const { installabilityErrors } = await devtools.send('Page.getInstallabilityErrors')
    assert.deepEqual(installabilityErrors.filter(({ errorId }) => errorId !== 'in-incognito'), [])
    const { url, errors, data } = await devtools.send('Page.getAppManifest')
    assert.deepEqual(errors, [])
    for (const { src, type } of JSON.parse(data ?? '').icons) {
      const answer = await page.request.get(new URL(src, url).href)
      assert.deepEqual([answer.status(), answer.headers()['content-type']], [200, type], src)
    }
  })
})
