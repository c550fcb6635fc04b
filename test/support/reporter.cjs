// Mocha's spec reporter, and the counts in a file for test/run.js.
const { writeFileSync } = require('node:fs')
const Mocha = require('mocha')
const timers = require('./timers.cjs')

const PATIENCE = 20000 // milliseconds after the last test

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
      // a server or a browser that nobody closed would keep this process for ever
      setTimeout(() => {
        const open = process.getActiveResourcesInfo()
        console.error(`The tests left something open: ${open.join(', ')}`)
        for (const where of timers.open()) console.error(`  a timer that began\n    ${where}`)
        report({ open })
        process.exit(1)
      }, PATIENCE).unref()
    })
  }
}
