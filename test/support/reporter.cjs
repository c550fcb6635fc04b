// Mocha's spec reporter, and the counts in a file for test/run.js.
const { writeFileSync } = require('node:fs')
const Mocha = require('mocha')
const timers = require('./timers.cjs')

const FIRST = 20000 // milliseconds after the last test: what is open then is named
const PATIENCE = 75000 // what is open then, nobody will close

module.exports = class extends Mocha.reporters.Spec {
  constructor (runner, options) {
    super(runner, options)
    const reasons = new Set()
    runner.on(Mocha.Runner.constants.EVENT_TEST_PENDING, test => {
      let owner = test
      while (owner && !owner.skipReason) owner = owner.parent
      // one line for a suite that was skipped as a whole, one for each test otherwise
      reasons.add(owner ? `${owner.fullTitle()}: ${owner.skipReason}` : test.fullTitle())
    })
    const again = new Set()
    runner.on(Mocha.Runner.constants.EVENT_TEST_RETRY, (test, error) => {
      console.log(`    once more: ${test.title}\n${error.stack}`)
      again.add(test.fullTitle())
    })
    runner.once(Mocha.Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures, pending } = runner.stats
      const report = more => process.env.TILECOUCH_REPORT && writeFileSync(process.env.TILECOUCH_REPORT, JSON.stringify({ passed: passes, failed: failures, skipped: pending, reasons: [...reasons], again: [...again], ...more }))
      report()
      // a server or a browser that nobody closed would keep this process for ever; a timer that ends by itself is named
      const name = milliseconds => {
        const open = process.getActiveResourcesInfo()
        console.error(`Still open ${milliseconds / 1000} s after the last test: ${open.join(', ')}`)
        for (const where of timers.open()) console.error(`  a timer that began\n    ${where}`)
        return open
      }
      setTimeout(name, FIRST, FIRST).unref()
      setTimeout(() => {
        report({ open: name(PATIENCE) })
        process.exit(1)
      }, PATIENCE).unref()
    })
  }
}
