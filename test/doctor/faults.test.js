import assert from 'node:assert/strict'
import { faults, faultsOf, isBefore } from '../../loader/doctor/server.js'
import { settings } from '../../loader/doctor/settings.js'

describe('the known faults of CouchDB', () => {
  it('compare versions by their numbers', () => {
    for (const [one, other] of [['3.3.0', '3.3.1'], ['3.3.3', '3.4.0'], ['3.4.9', '3.4.10'], ['3.4', '3.4.1'], ['3.5.0-RC1', '3.5.2']]) {
      assert.ok(isBefore(one, other), `${one} < ${other}`)
      assert.ok(!isBefore(other, one), `${other} < ${one}`)
    }
    for (const version of ['3.5.2', 'nonsense', '']) assert.ok(!isBefore(version, '3.5.2'))
  })

  it('are those that a version has, and of purges only where there were any', () => {
    const issues = (version, about = {}) => faultsOf(version, about).map(({ issue }) => issue)
    assert.ok(issues('3.4.2').includes('#5437') && issues('3.4.2').includes('#5347'))
    assert.deepEqual(issues('3.4.3'), [])
    assert.deepEqual(issues('3.5.0'), [])
    assert.deepEqual(issues('3.5.0', { purged: true }), ['#5827, #5912'])
    assert.deepEqual(issues('3.5.1', { quickjs: true }), ['#5751'])
    assert.deepEqual(issues('3.5.2', { quickjs: true, purged: true }), [])
    assert.ok(issues('3.3.2').includes('CVE-2023-45725'))
    for (const { fixed } of faults) assert.match(fixed, /^3\.[345]\.\d$/)
  })
})

describe('the settings that the doctor knows', () => {
  it('do no harm as CouchDB has them', () => {
    for (const { key, unless, check } of settings) {
      if (unless !== undefined) assert.equal(check(unless, { db: 'tiles', isPublic: true, nodes: 3, shards: 8 }), undefined, key)
    }
    assert.equal(new Set(settings.map(({ key }) => key)).size, settings.length)
  })

  it('do no harm at any value that is read as more than enough', () => {
    for (const { key, unless, check } of settings.filter(({ unless: value }) => /^\d+$/.test(value ?? ''))) {
      if (!['cluster/q', 'query_server_config/commit_freq'].includes(key) && !key.startsWith('smoosh.')) assert.equal(check('infinity', { db: 'tiles', nodes: 1, shards: 2 }), undefined, `${key} ${unless}`)
    }
  })
})
