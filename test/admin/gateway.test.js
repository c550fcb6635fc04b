/* global document -- of the page, in functions that run there */
// The control room as a gateway serves it: the page in a browser, and CouchDB behind the gateway.
import assert from 'node:assert/strict'
import { openGateway } from '../gateway/support/stand.js'
import { texts } from '../../attachments/words/admin/index.js'
import { onAdmin } from './stage.js'

onAdmin('served by a gateway', stage => {
  let gateway
  before(async () => {
    await stage.store.defineLayer('osm', { name: 'OSM' })
    gateway = await openGateway(stage.backend.url, { controlRoom: true }) // without a name: the store is public
    Object.defineProperty(stage, 'address', { value: `${gateway.url}/admin` })
  })
  after(() => gateway?.close())

  const isRead = page => page.waitForFunction(() => !document.querySelector('#content [aria-busy="true"]'))

  it('lets an admin sign in, opens every section, changes a layer, and lets him out', async () => {
    const page = await stage.enter()
    await page.getByText('Live').waitFor()
    for (const [name, title] of Object.entries(texts.sections)) {
      await page.locator('#sections').getByRole('link', { name: title, exact: true }).click()
      await page.waitForURL(new RegExp(`#${name}$`))
      await page.locator('#content').getByRole('heading', { level: 2, name: title, exact: true }).waitFor()
      await isRead(page)
    }
    // as the page writes
    const status = await page.evaluate(async () => {
      const url = new URL('admin/couch/db/layer%3Aosm', document.baseURI)
      const doc = await (await fetch(url)).json()
      return (await fetch(url, { method: 'PUT', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ ...doc, name: 'Changed at the gateway' }) })).status
    })
    assert.equal(status, 201)
    assert.equal((await stage.store.couch.request({ path: 'layer:osm' })).name, 'Changed at the gateway')
    const [cookie, ...others] = await page.context().cookies()
    assert.deepEqual([others.length, cookie.path, cookie.httpOnly, cookie.sameSite], [0, '/admin', true, 'Strict'])
    assert.equal(await page.evaluate(() => document.cookie), '')

    await page.locator('#account').getByRole('link', { name: 'Map' }).click()
    await page.getByRole('link', { name: 'Control room' }).click()
    await page.getByText('Live').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    assert.deepEqual(await page.context().cookies(), [])
    await page.goto(gateway.url)
    await page.waitForFunction(() => document.body.textContent?.includes('Changed at the gateway'))
    assert.equal(await page.getByRole('link', { name: 'Control room' }).count(), 0)
  })

  it('shows what changes, within two seconds', async () => {
    const page = await stage.enter('layers')
    await page.getByText('Live').waitFor()
    const told = page.waitForResponse(answer => answer.url().includes('/admin/couch/db/_changes') && answer.ok(), { timeout: 2000 })
    await stage.store.defineLayer('osm', { name: 'Changed elsewhere' })
    await told
  })

  it('says when a password is wrong, and when there were too many', async () => {
    stage.allow(/429/)
    const page = await stage.visit()
    for (let at = 0; at < 3; at++) {
      await stage.signIn(page, 'somebody', `wrong ${at}`)
      await page.getByText('Name or password is wrong.').waitFor()
    }
    await stage.signIn(page, 'somebody', 'wrong')
    await page.getByText(/too many wrong passwords/).waitFor()
  })
})
