/* global document, innerWidth -- of the page, in functions that run there */
// Stores that were loaded apart disagree: the page says so in passing, and what to do about it.
import assert from 'node:assert/strict'
import { resolve } from '../../loader/check/conflicts.js'
import { peerOf } from '../../loader/store/peer.js'
import { startGateway } from '../../server/gateway/index.js'
import { until } from '../../bench/wait.js'
import { drawnTiles, openPage, screens } from './browser.js'
import { onViewer } from '../support/viewer.js'

const SHOTS = process.env.TILECOUCH_SHOTS // a folder for pictures, for people

onViewer('conflicts', { layers: ['steps', 'late'], demo: false }, stage => {
  const note = page => page.locator('.facts .conflicts')

  let leaf = 0
  /** Another master's leaf of some heads: a new one each time, since what was put right stays so. */
  async function disagree (count) {
    const { rows } = await stage.store.couch.request(
      { path: '_all_docs', qs: { startkey: 'steps:', endkey: 'steps;', include_docs: true } }
    )
    const heads = rows.map(({ doc }) => doc).filter(({ current }) => current).slice(0, count)
    const leaves = heads.map(({ _attachments, ...doc }) => (
      { ...doc, gone: true, time: '2024-01-01T00:00:01Z', stored: '2024-01-01T00:00:01Z', _rev: `1-${leaf++}` }
    ))
    assert.deepEqual(await peerOf(stage.store.couch).write(leaves), [])
  }

  it('are not mentioned when the layer has none', async () => {
    const page = await stage.visit('#steps/3/0/0')
    await page.locator('dt', { hasText: 'Versions' }).waitFor({ state: 'attached' })
    assert.equal(await note(page).count(), 0)
    assert.ok(!(await page.locator('.facts dt').allTextContents()).includes('Conflicts'))
  })

  it('are counted in the facts of their layer, with the repair command, until they are repaired', async () => {
    await disagree(3)
    const page = await stage.visit('#steps/3/0/0')
    await note(page).waitFor()
    assert.equal(await note(page).textContent(),
      'Stores that were loaded independently disagree about 3 documents. tilecouch check --fix repairs that: the ' +
        'newest version stays, and nothing is lost.')
    assert.equal(await page.locator('.facts dt', { hasText: 'Conflicts' })
      .evaluate(node => node.nextElementSibling?.textContent), '3')
    await page.locator('[data-layer="late"]').click()
    await page.locator('[data-layer="late"][aria-pressed="true"]').waitFor()
    assert.equal(await note(page).count(), 0, 'not of another layer')
    await page.locator('[data-layer="steps"]').click()
    for (const [screen, options] of Object.entries(screens)) {
      for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
        const other = await stage.visit('#steps/3/0/0', { ...options, colorScheme })
        if (screen === 'phone') await other.locator('#toggle').click()
        await note(other).scrollIntoViewIfNeeded()
        const { width } = /** @type {any} */ (await note(other).boundingBox())
        assert.ok(width > 200 && await other.evaluate(() => document.documentElement.scrollWidth <= innerWidth))
        if (SHOTS) await other.screenshot({ path: `${SHOTS}/conflicts-${screen}-${colorScheme}.png` })
      }
    }
    await resolve(stage.store)
    await page.reload()
    await page.locator('dt', { hasText: 'Versions' }).waitFor({ state: 'attached' })
    assert.equal(await note(page).count(), 0)
  })

  it('are counted behind a gateway as well', async () => {
    await disagree(1)
    const gateway = await startGateway({ db: stage.backend.database, port: 0, logLevel: 'silent' })
    const { page, errors, close } = await openPage(stage.browser)
    try {
      await page.goto(`${gateway.url}/#steps/3/0/0`)
      await note(page).waitFor()
      assert.match(String(await note(page).textContent()), /disagree about 1 document\./)
      assert.deepEqual(errors, [])
    } finally {
      await close()
      await gateway.close()
    }
    await resolve(stage.store)
  })

  it('are not mentioned when the store lacks the view that counts them', async () => {
    await disagree(1)
    stage.front.rule(({ path }) => path.includes('/_view/conflicts')
      ? { status: 404, body: '{"error":"not_found","reason":"missing"}' } : undefined)
    stage.allow(/404/)
    const page = await stage.visit('#steps/3/0/0')
    await page.locator('dt', { hasText: 'Versions' }).waitFor({ state: 'attached' })
    await until(() => stage.front.requests().some(({ path, done }) => path.includes('/_view/conflicts') && done),
      { what: 'the question' })
    await drawnTiles(page)
    assert.equal(await note(page).count(), 0)
    assert.equal(await page.locator('.toast').count(), 0)
  })
})
