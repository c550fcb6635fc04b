import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { describe as linesOf } from '../../loader/cli/doctor.js'
import { doctorMetricTable, metricsOf } from '../../loader/check/doctor/metrics.js'
import { startEmbedded } from '../../server/embedded/index.js'
import { parseMetrics } from '../support/gateway/prometheus.js'
import { runCommand } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { fill, look } from '../support/doctor.js'

const report = (findings, more) => ({
  url: 'http://a/tiles', server: 'CouchDB 3.5.2', time: '2026-01-01T00:00:00Z', state: 'bad', seconds: 0.4,
  counts: Object.fromEntries(
    ['bad', 'warning', 'unknown', 'ok'].map(state => [state, findings.filter(one => one.state === state).length])
  ), findings, ...more
})

describe('tilecouch doctor', () => {
  const folder = useFolder()

  it('prints problems first and in full, good findings in a line per area, in 80 columns', () => {
    const lines = linesOf(report([
      {
        area: 'access', check: 'access', state: 'bad', found: 'everybody may write',
        why: 'Anybody may replace or delete every tile, and there is nothing that would keep him from it.',
        advice: 'tilecouch push'
      },
      {
        area: 'disk', check: 'room', state: 'warning', found: `12 GB of 1 TB free in /${'x'.repeat(100)}`,
        why: 'a', advice: 'b'
      },
      { area: 'settings', check: 'settings', state: 'unknown', found: 'only a server admin sees it' },
      { area: 'disk', check: 'room', state: 'unknown', found: 'only a server admin sees it' },
      { area: 'server', check: 'version', state: 'ok', found: '3.5.2' },
      { area: 'server', check: 'nodes', state: 'ok', found: '1 node' }
    ]))
    assert.deepEqual(lines.slice(0, 8), [
      'http://a/tiles', 'CouchDB 3.5.2: 1 bad, 1 warning, 2 unknown, 2 ok, in 0.4 s', '',
      'BAD      access: everybody may write',
      '         Anybody may replace or delete every tile, and there is nothing that',
      '         would keep him from it.', '         -> tilecouch push', ''
    ])
    assert.ok(lines.includes('UNKNOWN  settings, disk room: only a server admin sees it'))
    assert.ok(lines.includes('ok       server: version 3.5.2; nodes 1 node'))
    for (const line of lines) assert.ok(line.length <= 80 || line.includes('xxx'), line)
  })

  it('exits with 1 if a finding is bad, and prints the report as JSON and metrics', async () => {
    const server = await startEmbedded({ dir: folder.dir, admins: 'everybody' })
    try {
      const url = `${server.url.replace(/\/$/, '')}/tiles`
      await fill(url)
      const file = path.join(folder.dir, 'store.prom')
      const { code, out } = await runCommand(['doctor', '--db', url, '--json', '--data', folder.dir, '--metrics', file])
      const printed = JSON.parse(out)
      assert.deepEqual([code, printed.state === 'bad'], [0, false])
      assert.ok(printed.findings.every(({ area, check, state, found }) => area && check && state && found))
      const room = printed.findings.find(({ area }) => area === 'disk')
      assert.notEqual(room.state, 'unknown', room.found)
      assert.ok(room.figures.used > 1000 && room.found.includes(folder.dir))
      const elsewhere = await look(url, { folder: path.join(folder.dir, 'no') })
      assert.equal(elsewhere.findings.find(({ area }) => area === 'disk')?.state, 'unknown', 'not any folder')
      const metrics = parseMetrics(readFileSync(file, 'utf8'))
      assert.deepEqual([...metrics.keys()].sort(), Object.values(doctorMetricTable).map(({ name }) => name).sort())
      assert.deepEqual(readdirSync(folder.dir).filter(name => name.endsWith('.part')), [])
      assert.match((await runCommand(['doctor', '--db', url, '--metrics', path.join(folder.dir, 'no/such.prom')])).err,
        /TARGET_UNWRITABLE/)
      assert.equal((await runCommand(['doctor', '--db', `${server.url.replace(/\/$/, '')}/nothing`])).code, 1)
    } finally {
      await server.close()
    }
  })

  it('creates no embedded store when there is none', async () => {
    const dir = path.join(folder.dir, 'none')
    const before = process.env.COUCHDB_URL
    const home = process.cwd()
    delete process.env.COUCHDB_URL
    process.chdir(folder.dir) // no .couchapprc here
    try {
      const { code, err } = await runCommand(['doctor', '--data', dir])
      assert.deepEqual([code, err.includes('[DATABASE_NOT_FOUND]')], [1, true])
      assert.ok(!existsSync(dir))
    } finally {
      process.chdir(home)
      if (before !== undefined) process.env.COUCHDB_URL = before
    }
  })

  it('writes each metric once, with labels that Prometheus can parse', async () => {
    const one = { area: 'settings', check: 'a "quoted" \\ one\n', found: 'x' }
    const written = await metricsOf(report([
      { ...one, state: 'bad', figures: { q: 2 } }, { ...one, state: 'warning' },
      { area: 'mirrors', check: 'm', found: 'x', state: 'ok' }
    ]))
    const { samples } = parseMetrics(written).get('tilecouch_doctor_state') ?? { samples: [] }
    assert.deepEqual(samples.map(({ value }) => value).sort(), [0, 3])
    const time = parseMetrics(written).get('tilecouch_doctor_timestamp_seconds')?.samples[0].value
    assert.equal(time, Date.parse('2026-01-01T00:00:00Z') / 1000)
  })
})
