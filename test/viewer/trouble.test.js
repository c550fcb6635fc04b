/* global document, innerWidth, location -- of the page, in functions that run there */
// Tests the messages of the page for failures, faulty addresses, conflicts between stores and an empty store.
import assert from 'node:assert/strict'
import { TIME_FACTOR, until } from '../../bench/wait.js'
import { resolve } from '../../loader/check/conflicts.js'
import { peerOf } from '../../loader/store/peer.js'
import { startGateway } from '../../server/gateway/index.js'
import { T } from '../support/client/gallery.js'
import { drawnTiles, openPage, resize, screens, shownAt } from './browser.js'
import { AWAY, onViewer } from '../support/viewer.js'

onViewer('failures', { layers: ['steps', 'late'], demo: false }, stage => {
  const remove = async id => {
    const { _rev } = await stage.store.couch.get(id)
    await stage.store.couch.request({ method: 'DELETE', path: `${encodeURIComponent(id)}?rev=${_rev}` })
  }

  it('keeps the visible tiles while it waits for a slow server, and shows that it waits', async () => {
    const page = await stage.visit(`#steps@${T(1)}/3/0/0`)
    await shownAt(page, '1 Jan 2024')
    const before = await page.locator('#map .tilecouch-tile img').count()
    /** @type {(() => void)[]} */
    const releases = []
    stage.front.rule(({ kind, path }) => kind === 'tile' && path.includes('rev=')
      ? new Promise(release => releases.push(() => release(undefined))) : undefined)
    await page.getByRole('button', { name: 'Last change' }).click()
    await page.locator('.tilecouch-timeline.tilecouch-busy').waitFor()
    assert.equal(await page.locator('#map .tilecouch-tile img').count(), before, 'nothing went grey')
    await page.waitForFunction(
      () => document.querySelector('[aria-label="Time"]')?.getAttribute('aria-valuetext')?.startsWith('5 Jan 2024')
    )
    stage.front.reset()
    for (const release of releases) release()
    await shownAt(page, '5 Jan 2024')
    assert.equal(await page.locator('.toast').count(), 0)
  })

  it('says that a tile did not load, and loads it with "Try again"', async () => {
    const heal = stage.front.rule(({ kind, tile }) => kind === 'tile' && tile === '3/3/3'
      ? { status: 500, body: '{"reason":"broken"}' } : undefined)
    const page = await stage.visit(`#steps@${T(4)}/3/0/0`)
    await page.locator('.toast', { hasText: '1 tile did not load' }).waitFor()
    heal()
    await page.locator('.toast').getByRole('button', { name: 'Try again' }).click()
    await page.locator('.toast').waitFor({ state: 'detached' })
    await drawnTiles(page)
    stage.allow(/500/)
  })

  it('says that the server is away, and goes on by itself when it is back', async () => {
    const page = await stage.visit(`#steps@${T(2)}/3/0/0`)
    await shownAt(page, '2 Jan 2024')
    await stage.front.stop()
    await page.getByText('The server does not answer.').waitFor()
    await page.evaluate(time => { location.hash = `#steps@${time}/3/20/20` }, T(4))
    await stage.front.restart()
    await page.locator('.toast').waitFor({ state: 'detached', timeout: 40000 * TIME_FACTOR })
    await shownAt(page, '4 Jan 2024')
    assert.ok(await drawnTiles(page) > 0)
    stage.allow(AWAY)
  })

  it('ends the message that the server is away with its layer, and counts failed tiles of the next one', async () => {
    stage.allow(/500/)
    const broken = { status: 500, body: '{"reason":"broken"}' }
    stage.front.rule(({ kind, path, tile }) =>
      path.startsWith('layer%3Alate') || (kind === 'tile' && tile === '3/3/3') ? broken : undefined)
    const page = await stage.visit('#late/3/0/0')
    await page.getByText('This page keeps asking.').waitFor()
    await page.evaluate(() => { location.hash = '#steps/3/0/0' })
    await page.locator('.toast', { hasText: '1 tile did not load' }).waitFor()
    assert.equal(await page.locator('.toast').count(), 1)
  })

  it('says that the layer was deleted, offers the others, and shows it again when it is back', async () => {
    const fields = { name: 'Late', minzoom: 3, maxzoom: 3 }
    await stage.store.defineLayer('late', fields)
    const page = await stage.open('#late/3/0/0')
    await remove('layer:late')
    await page.getByText('The layer “Late” is no longer in this store.').waitFor()
    await page.waitForFunction(() => document.querySelectorAll('.layer').length === 1)
    await stage.store.defineLayer('late', fields)
    await page.locator('.toast').waitFor({ state: 'detached', timeout: 40000 * TIME_FACTOR })
    await page.locator('[data-layer="late"][aria-pressed="true"]').waitFor()
    await remove('layer:late')
    await page.getByText('no longer in this store').waitFor()
    await page.locator('[data-layer="steps"]').click()
    await drawnTiles(page)
    assert.equal(await page.locator('.toast').count(), 0)
    await stage.store.defineLayer('late', fields)
    stage.allow(/404/)
  })

  for (const [hash, message] of /** @type {[string, RegExp | null][]} */ ([
    ['#nosuch/1/0/0', /no layer “nosuch”/],
    ['#<img src=x onerror=alert(1)>/1/0/0', /no layer “<img src=x onerror=alert\(1\)>”/],
    ['#steps@2024-02-30/3/0/0', /“2024-02-30” is not a time/],
    ['#steps@yesterday..tomorrow/3/0/0', /“yesterday” is not a time\. “tomorrow” is not a time/],
    ['#steps@../3/0/0', /“” is not a time/],
    ['#steps/99/0/0', /names no place/],
    ['#steps/3/NaN/Infinity', /names no place/],
    ['#steps/3/0/0/..', /“” is not a time/],
    ['#steps/%E0%A4%A', null],
    ['#steps/25/80/170', null],
    ['#@@//..//@', /no layer|names no layer/]
  ])) {
    it(`shows a map at the faulty address ${hash}`, async () => {
      const page = await stage.visit(hash)
      if (message) await page.locator('.toast', { hasText: message }).waitFor()
      await page.locator('.tilecouch-timeline').waitFor()
      await page.waitForURL(/#(steps|late)[^<]*\/-?[\d.]+\/-?[\d.]+$/)
      await drawnTiles(page)
      if (!message) return
      await page.locator('.toast').getByRole('button', { name: 'Close' }).click()
      assert.equal(await page.locator('.toast').count(), 0)
    })
  }

  it('leaves the focus in the messages, then on the map, when they are closed by keyboard', async () => {
    await stage.store.defineLayer('bare', {})
    const page = await stage.visit('#bare@2024-02-30/0/0/0')
    await page.locator('.toast', { hasText: 'not a time' }).waitFor()
    await page.keyboard.press('c') // there are no two times to compare
    const close = page.locator('.toast').getByRole('button', { name: 'Close' })
    await close.nth(1).press('Enter')
    assert.equal(await close.evaluate(button => button === document.activeElement), true)
    await page.keyboard.press('Enter')
    assert.equal(await close.count(), 0)
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'map')
    await remove('layer:bare')
  })

  describe('conflicts of stores that were loaded apart', () => {
    const note = page => page.locator('.facts .conflicts')

    let leaf = 0
    /** Writes another master's leaf for some heads. The leaves are new each time, because repairs are permanent. */
    async function disagree (count) {
      const rows = await stage.store.couch.page({ startkey: 'steps:', endkey: 'steps;', include_docs: true })
      const heads = rows.map(({ doc }) => doc).filter(({ current }) => current).slice(0, count)
      const time = '2024-01-01T00:00:01Z'
      const leaves = heads.map(({ _attachments, ...doc }) =>
        ({ ...doc, gone: true, time, stored: time, _rev: `1-${leaf++}` }))
      assert.deepEqual(await peerOf(stage.store.couch).write(leaves), [])
    }

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
      for (const screen of [screens.desk, screens.tablet, screens.phone]) {
        await resize(page, screen)
        if (screen === screens.phone) await page.locator('#toggle').click()
        await note(page).scrollIntoViewIfNeeded()
        const { width } = /** @type {any} */ (await note(page).boundingBox())
        assert.ok(width > 200 && await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth))
      }
      await resolve(stage.store)
      await page.reload()
      await page.locator('dt', { hasText: 'Versions' }).waitFor({ state: 'attached' })
      assert.equal(await note(page).count(), 0)
      assert.ok(!(await page.locator('.facts dt').allTextContents()).includes('Conflicts'))
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
})

onViewer('an empty store', { demo: false }, stage => {
  it('explains how to load a layer, and shows a new layer and its tiles by itself', async () => {
    const page = await stage.visit()
    await page.getByRole('heading', { name: 'No layers yet' }).waitFor()
    assert.match(String(await page.locator('.notice code').textContent()),
      new RegExp(`tilecouch load[^]*--db ${stage.front.url}`))
    await stage.store.defineLayer('late', { name: 'Nothing in it yet', minzoom: 3, maxzoom: 3 })
    await page.locator('.layer .title', { hasText: 'Nothing in it yet' }).waitFor()
    await stage.write('late', { 4: [[3, 3, 3], [3, 4, 4]] })
    await page.evaluate(() => { location.hash = '#late/3/0/0' })
    // the tiles are on two shards, so they arrive as two changes
    await until(async () => await drawnTiles(page) === 2, { what: 'both tiles' })
  })
})
