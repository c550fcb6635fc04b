import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { adviceDefaults, adviseShards, compareShards } from '../../loader/doctor/shards.js'
import { doctor } from '../../loader/doctor/index.js'
import { json, onEachStore, request } from '../support/backends.js'
import { runCommand } from '../support/cli.js'
import { finding } from './stage.js'

describe('advice on shards', () => {
  it('begins with what CouchDB makes by itself, and doubles', () => {
    const shards = tiles => adviseShards({ tiles }).q
    assert.deepEqual([1, 10000, 2e6, 2e6 + 1, 4e6, 5e6, 40e6].map(shards), [2, 2, 2, 4, 4, 8, 64])
  })

  it('keeps a shard within documents and bytes, until there would be too many', () => {
    for (let tiles = 1000; tiles < 60e6; tiles = Math.round(tiles * 1.7)) {
      for (const tileBytes of [500, 10000, 60000]) {
        const { q, shardDocs, shardBytes, notes } = adviseShards({ tiles, tileBytes })
        assert.equal(2 ** Math.round(Math.log2(q)), q, 'a power of two, which can be grown into')
        if (q === adviceDefaults.most) continue
        const most = adviceDefaults.shardBytes * adviceDefaults.overhead * 1.001
        assert.ok(shardDocs <= adviceDefaults.shardDocs && shardBytes <= most, `${tiles} of ${tileBytes}`)
        assert.ok(!notes.some(note => note.includes('databases of their own')))
      }
    }
    const large = adviseShards({ tiles: 1e9 })
    assert.equal(large.q, adviceDefaults.most)
    assert.match(large.notes.join(' '), /databases of their own/)
  })

  it('counts bytes where tiles are large, and documents where they are small', () => {
    assert.deepEqual([100, 10000, 100000].map(tileBytes => adviseShards({ tiles: 1.5e6, tileBytes }).q), [2, 2, 16])
  })

  it('keeps three copies where there are three nodes, and never more than there are nodes', () => {
    assert.deepEqual([1, 2, 3, 6, 12].map(nodes => adviseShards({ tiles: 1000, nodes }).n), [1, 2, 3, 3, 3])
    assert.match(adviseShards({ tiles: 1000, nodes: 1 }).notes.join(' '), /One node keeps one copy/)
  })

  it('gives every node something to do, and says when it is not the same for each', () => {
    for (let nodes = 1; nodes <= 24; nodes++) {
      const { q, n, notes } = adviseShards({ tiles: 1000, nodes })
      assert.ok(q * n >= nodes, `${nodes} nodes`)
      assert.equal(notes.some(note => note.includes('cannot be distributed evenly')), (q * n) % nodes > 0)
    }
  })

  it('says how a database that is there gets there', () => {
    const advice = adviseShards({ tiles: 8e6, nodes: 3 })
    const compare = (q, n) => compareShards(advice, { q, n, db: 'tiles' })
    assert.deepEqual(compare(8, 3), { fits: true, how: [] })
    const fewer = compare(2, 3)
    assert.equal(fewer.fits, false)
    assert.match(fewer.how.join(' '), /_reshard\/jobs with \{"type": "split", "db": "tiles"\} doubles it \(2 times/)
    assert.match(compare(8, 1).how.join(' '), /shard map/)
    const many = compare(64, 3)
    assert.equal(many.fits, true, 'too many do no harm')
    assert.match(many.how.join(' '), /cannot be merged/)
  })
})

onEachStore('the doctor, told a number of tiles', backend => {
  let url
  beforeEach(async () => { url = await backend.database() })
  afterEach(() => request(url, { method: 'DELETE' }))

  it('advises, and changes nothing', async () => {
    const report = await doctor(url, { tiles: 5e6 })
    assert.equal(report.advice?.q, backend.supports.users ? 8 : undefined)
    assert.match(finding(report, 'database').advice, backend.supports.users ? /creates it with q=8 n=1$/ : /creates it$/)
    assert.equal((await request(url)).status, 404)
  })

  it('says what a database that is there has, and what else it takes', async () => {
    await request(url, { method: 'PUT' })
    const { code, out } = await runCommand(['doctor', '--db', url, '--expected-tiles', '5M'])
    assert.equal(code, 0)
    if (!backend.supports.users) return assert.doesNotMatch(out, /shards/)
    assert.match(out, /^5,000,000 tiles are about 53\.0 GB\. Advice for 1 node: q=8 n=1$/m)
    assert.match(out, /^WARNING {2}database: shards: q=2 n=1; 5,000,000 tiles need q=8 n=1$/m)
  })

  it('refuses what is no number of tiles', async () => {
    for (const value of ['0', 'many', '-5', '1e6', '5 M', '1.0001k']) {
      const { code, err } = await runCommand(['doctor', '--db', url, `--expected-tiles=${value}`])
      assert.deepEqual([code, err.includes('--expected-tiles')], [1, true], value)
    }
  })

  if (!backend.supports.users) return

  it('grows a database by splitting its shards, as it says', async function () {
    this.timeout(60000)
    await request(url, { method: 'PUT' })
    const body = JSON.stringify({ type: 'split', db: new URL(url).pathname.slice(1) })
    const headers = { 'content-type': 'application/json' }
    const jobs = await json(`${await backend.url()}/_reshard/jobs`, { method: 'POST', headers, body })
    try {
      await until(async () => (await json(url)).cluster.q === 4, { timeout: 30000, what: 'the shards to be split' })
    } finally {
      for (const { id } of jobs) await request(`${await backend.url()}/_reshard/jobs/${id}`, { method: 'DELETE' })
    }
  })
})
