// Signing in to the control room, and what it shows to whom.
import assert from 'node:assert/strict'
import { onAdmin } from './stage.js'

onAdmin('signing in', stage => {
  it('needs a name and its password', async () => {
    const page = await stage.visit('layers')
    await stage.signIn(page, stage.owner.name, 'wrong')
    await page.getByText('Name or password is wrong.').waitFor()
    await stage.signIn(page, stage.owner.name, stage.owner.password)
    await page.getByRole('heading', { name: 'Layers' }).waitFor()
    await page.getByText('Live').waitFor()
    assert.equal(await page.locator('#sections [aria-current="page"]').innerText(), 'Layers')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    assert.equal(await page.locator('#sections a').count(), 0)
  })

  it('opens the section that its address names, and keeps the session', async () => {
    const page = await stage.enter()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.locator('#sections').getByText('Work').click()
    await page.waitForURL(/#work$/)
    await page.reload()
    await page.getByRole('heading', { name: 'Work' }).waitFor()
  })
})
