// A process of tests. It runs the files that pool.js sends, one after the other, and reports the result of each.
import { openTimers } from './timers.cjs'
import './setup.js'
import { readFileSync } from 'node:fs'
import Mocha from 'mocha'
import { TIME_FACTOR } from '../../bench/wait.js'
import { backends } from './backends.js'
import { closeBrowsers } from './one-browser.js'

const { timeout, slow, 'forbid-only': forbidOnly } =
  JSON.parse(readFileSync(new URL('../../.mocharc.json', import.meta.url), 'utf8'))
const REPORT_AFTER = 20000 // milliseconds after the last test until open resources are printed
const FAIL_AFTER = 75000 // milliseconds after the last test until the process fails

process.on('message', message => message === 'end' ? end() : run(message))

/** @param {any} file */
async function run (file) {
  const mocha = new Mocha({ timeout, slow, forbidOnly, color: false })
  mocha.addFile(file)
  try {
    await mocha.loadFilesAsync()
  } catch (error) {
    process.send?.({ failed: 1, fault: `cannot be loaded: ${error.stack}` })
    return
  }
  extendLimits(mocha.suite)
  const reasons = new Set()
  const runner = mocha.run(() => {
    const { passes: passed, failures: failed, pending: skipped } = runner.stats
    mocha.dispose()
    process.send?.({ passed, failed, skipped, reasons: [...reasons], memory: process.memoryUsage().rss })
  })
  runner.on('pending', test => {
    let owner = test
    while (owner && !owner.skipReason) owner = owner.parent
    // one line for a suite that was skipped as a whole, one for each test otherwise
    reasons.add(owner ? `${owner.fullTitle()}: ${owner.skipReason}` : test.fullTitle())
  })
}

/**
 * Gives all tests and hooks of a suite more time.
 * @param {Mocha.Suite & {getHooks?: (name: string) => Mocha.Runnable[]}} suite
 */
function extendLimits (suite) {
  const hooks = ['beforeAll', 'beforeEach', 'afterEach', 'afterAll'].flatMap(name => suite.getHooks?.(name) ?? [])
  for (const runnable of [...hooks, ...suite.tests]) runnable.timeout(runnable.timeout() * TIME_FACTOR)
  for (const inner of suite.suites) extendLimits(inner)
}

/**
 * Closes the stores and the browser. Node then ends the process, unless a test forgot to close a server.
 */
async function end () {
  for (const backend of backends) await backend.close()
  await closeBrowsers()
  process.disconnect()
  const printOpenResources = () => {
    console.error(`Still open after the last test: ${process.getActiveResourcesInfo().join(', ')}`)
    for (const where of openTimers()) console.error(`  a timer that began\n    ${where}`)
  }
  setTimeout(printOpenResources, REPORT_AFTER).unref()
  setTimeout(() => {
    printOpenResources()
    process.exit(1)
  }, FAIL_AFTER).unref()
}
