// What is made of an audit: the registry itself is asked by `npm test`, once.
import assert from 'node:assert/strict'
import { TIME_FACTOR } from '../../bench/wait.js'
import { audit, judge, lines } from '../../.ci/audit.js'

const advisory = (id, severity, name = 'tar') => (
  { source: 1, name, title: 'writes anywhere', url: `https://github.com/advisories/${id}`, severity, range: '<7.5.1' }
)
const report = (...via) => (
  { vulnerabilities: {
    tar: { name: 'tar', severity: 'high', via, effects: [] }, above: { name: 'above', severity: 'high', via: ['tar'] }
  } }
)

describe('the audit of dependencies', () => {
  it('reports each flaw once, and skips flaws of low severity', () => {
    const { found, skipped } = judge(report(advisory('GHSA-aaaa-bbbb-cccc', 'high'),
      advisory('GHSA-aaaa-bbbb-cccc', 'high'), advisory('GHSA-xxxx-yyyy-zzzz', 'low')))
    assert.equal(skipped, undefined)
    assert.deepEqual(found, ['GHSA-aaaa-bbbb-cccc (high) in tar <7.5.1: writes anywhere'])
  })

  it('passes accepted flaws with their reason, and names stale exceptions', () => {
    const result = judge(report(advisory('GHSA-aaaa-bbbb-cccc', 'critical')),
      { 'GHSA-aaaa-bbbb-cccc': 'never unpacks what others sent', 'GHSA-old': 'mended' })
    assert.deepEqual(result,
      { found: [], passed: ['GHSA-aaaa-bbbb-cccc: never unpacks what others sent'], stale: ['GHSA-old'] })
    assert.equal(lines(result).length, 2)
  })

  it('reports nothing without vulnerabilities', () => {
    assert.deepEqual(judge({ vulnerabilities: {}, metadata: {} }), { found: [], passed: [], stale: [] })
  })

  it('is skipped with a reason when the registry does not answer', () => {
    for (
      const answer of [{
        message: '405 Method Not Allowed - POST https://r/-/npm/v1/security/advisories/bulk', statusCode: 405
      }, { error: { code: 'ENOTFOUND' } }, null, [], 'no', { vulnerabilities: 5 }]
    ) {
      const { skipped, found } = judge(answer, { 'GHSA-known': 'why' })
      assert.match(skipped, /^the registry does not answer audits: ./)
      assert.deepEqual(found, [])
    }
  })

  it('ends at its timeout, even when a child process keeps running', async () => {
    const began = performance.now()
    assert.match((await audit({ command: ['sh', '-c', 'sleep 20 & sleep 20'], timeout: 200 })).skipped,
      /nothing within 0.2 s/)
    assert.ok(performance.now() - began < 5000 * TIME_FACTOR)
    assert.match((await audit({ command: ['tilecouch-no-such-command'] })).skipped, /no report/)
  })
})
