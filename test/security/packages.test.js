// Tests that SECURITY.md counts the packages that the lock file installs in production, and how an audit of them is
// judged. `npm test` asks the registry itself, once.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { TIME_FACTOR } from '../../bench/wait.js'
import { audit, judge, lines } from '../../.ci/audit.js'
import { pattern } from '../support/pattern.js'

const advisory = (id, severity, name = 'tar') =>
  ({ source: 1, name, title: 'writes anywhere', url: `https://github.com/advisories/${id}`, severity, range: '<7.5.1' })
const report = (...via) => ({ vulnerabilities: {
  tar: { name: 'tar', severity: 'high', via, effects: [] }, above: { name: 'above', severity: 'high', via: ['tar'] }
} })

describe('the audit of dependencies', () => {
  it('reports each flaw once, skips those of low severity, passes accepted ones, names stale exceptions', () => {
    assert.deepEqual(judge({ vulnerabilities: {}, metadata: {} }), { found: [], passed: [], stale: [] })
    const { found, skipped } = judge(report(advisory('GHSA-aaaa-bbbb-cccc', 'high'),
      advisory('GHSA-aaaa-bbbb-cccc', 'high'), advisory('GHSA-xxxx-yyyy-zzzz', 'low')))
    assert.equal(skipped, undefined)
    assert.deepEqual(found, ['GHSA-aaaa-bbbb-cccc (high) in tar <7.5.1: writes anywhere'])
    const result = judge(report(advisory('GHSA-aaaa-bbbb-cccc', 'critical')),
      { 'GHSA-aaaa-bbbb-cccc': 'never unpacks what others sent', 'GHSA-old': 'mended' })
    assert.deepEqual(result,
      { found: [], passed: ['GHSA-aaaa-bbbb-cccc: never unpacks what others sent'], stale: ['GHSA-old'] })
    assert.equal(lines(result).length, 2)
  })

  it('is skipped with a reason when the registry does not answer', () => {
    const refused =
      { message: '405 Method Not Allowed - POST https://r/-/npm/v1/security/advisories/bulk', statusCode: 405 }
    for (const answer of [refused, { error: { code: 'ENOTFOUND' } }, null, [], 'no', { vulnerabilities: 5 }]) {
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

const read = name => readFile(new URL(`../../${name}`, import.meta.url), 'utf8')

describe('the packages that are installed', () => {
  it('are as many as SECURITY.md says, and those it names run scripts at their installation', async () => {
    const { packages } = JSON.parse(await read('package-lock.json'))
    // devOptional: for tests, and an optional peer of the client library
    const production = Object.entries(packages)
      .filter(([path, { dev, devOptional, link }]) => path.startsWith('node_modules/') && !dev && !devOptional && !link)
    const optional = production.filter(([, entry]) => entry.optional)
    const scripts = production.filter(([, entry]) => entry.hasInstallScript)
      .map(([path, { version }]) => [path.split('node_modules/').at(-1), version])
    // a package with one version is named without it
    const names = scripts.map(([name, version]) => scripts.filter(([otherName]) => otherName === name).length > 1
      ? `${name} ${version}` : name).sort()
    const match =
      pattern(
        /(\d+) packages in production \((\d+) of them optional[^)]*\), of which (\d+) run a script when they are /,
        /installed: ([^|.]+(?:\.\d[^|.]*)*)/
      ).exec(await read('SECURITY.md'))
    assert.ok(match, 'SECURITY.md has the line')
    assert.deepEqual(match.slice(1, 4).map(Number), [production.length, optional.length, scripts.length])
    assert.deepEqual(match[4].trim().split(', ').sort(), names)
  })
})
