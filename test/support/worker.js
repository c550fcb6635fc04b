// A process that runs the test files which pool.js names, one after the other, and tells how each of them ended.
import { openTimers } from './timers.cjs'
import './setup.js'
import { readFileSync } from 'node:fs'
import Mocha from 'mocha'
import { TIME_FACTOR } from '../../bench/wait.js'
import { backends } from './backends.js'
import { closeBrowsers } from './one-browser.js'

const { timeout, slow, 'forbid-only': forbidOnly } =
  JSON.parse(readFileSync(new URL('../../.mocharc.json', import.meta.url), 'utf8'))
const NAMED = 20000 // milliseconds after the last test: what is still open is printed
const ENDED = 75000 // milliseconds after which the process fails

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
 * Gives all tests of a suite, and what is done before and after them, more time.
 * @param {Mocha.Suite & {getHooks?: (name: string) => Mocha.Runnable[]}} suite
 */
function extendLimits (suite) {
  const hooks = ['beforeAll', 'beforeEach', 'afterEach', 'afterAll'].flatMap(name => suite.getHooks?.(name) ?? [])
  for (const runnable of [...hooks, ...suite.tests]) runnable.timeout(runnable.timeout() * TIME_FACTOR)
  for (const inner of suite.suites) extendLimits(inner)
}

/**
 * Closes the stores and the browser, and leaves it to Node to end the process: a server that a test forgot would keep
 * it for ever.
 */
async function end () {
  for (const backend of backends) await backend.close()
  await closeBrowsers()
  process.disconnect()
  const name = () => {
    console.error(`Still open after the last test: ${process.getActiveResourcesInfo().join(', ')}`)
    for (const where of openTimers()) console.error(`  a timer that began\n    ${where}`)
  }
  setTimeout(name, NAMED).unref()
  setTimeout(() => {
    name()
    process.exit(1)
  }, ENDED).unref()
}
