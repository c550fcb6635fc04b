// Opens a Chromium whose profile is on the disk, as on a device: the data of a private window never reach the disk. The
// page has the origin of the CouchDB, so that nothing stands between them.
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { chromium } from 'playwright-core'
import { findProgram } from '../programs/program.js'

const entry = fileURLToPath(new URL('in-page.js', import.meta.url))
const NAMES = ['chromium', 'chromium-browser', 'google-chrome']
const FLAGS = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu',
  '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync']

export const findChromium = () => process.env.CHROMIUM_BIN ??
  NAMES.map(name => findProgram(undefined, name)).find(Boolean)

/** @param {(() => any)[]} closing */
export async function openPage (origin, closing) {
  const executablePath = findChromium()
  if (!executablePath) throw new Error('no Chromium: install it, or name it in CHROMIUM_BIN')
  const { outputFiles: [{ text }] } = await build(
    { entryPoints: [entry], bundle: true, write: false, format: 'iife', logLevel: 'silent', define: {
      global: 'globalThis'
    } }
  )
  const dir = await mkdtemp(path.join(tmpdir(), 'tilecouch-bench-'))
  closing.push(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }))
  const context =
    await chromium.launchPersistentContext(dir, { executablePath, headless: true, args: FLAGS, handleSIGINT: false })
  closing.push(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(0)
  await page.goto(origin)
  await page.addScriptTag({ content: text })
  return { page, version: context.browser()?.version() ??
    await page.evaluate(() => /Chrome\/([\d.]+)/.exec(navigator.userAgent)?.[1]) }
}
