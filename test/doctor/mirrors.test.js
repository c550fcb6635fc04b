import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { PREFIX } from '../../core/mirror/index.js'
import { Couch } from '../../loader/store/couch.js'
import { as, onEachStore, request } from '../support/backends.js'
import { fill, look, startProxy } from './stage.js'

const ago = seconds => new Date(Date.now() - 1000 * seconds).toISOString()
const OTHER = 'http://127.0.0.1:9/elsewhere' // nobody answers there

onEachStore('the doctor and mirrors', backend => {
  let url, store, proxy
  before(async () => {
    url = await backend.database()
    store = await fill(url)
    proxy = await startProxy(url)
  })
  after(async () => {
    await proxy.close()
    await store.destroy()
  })

  /** What a mirror that ends here would have written down. */
  const note = async fields => {
    const couch = new Couch(url, { retries: 0 })
    const path = `_local/${PREFIX}doctor`
    const doc = { _id: path, from: OTHER, to: couch.url, session_id: 'x', noted: ago(5), history: [], ...fields }
    const { rev } = await couch.request({ method: 'PUT', path, body: doc })
    try {
      const report = await look(url)
      return report.findings.find(({ area, check }) => area === 'mirrors' && check === `from ${OTHER}`)
    } finally {
      await couch.request({ method: 'DELETE', path, qs: { rev } })
    }
  }

  it('finds none where there are none', async () => {
    const [one] = (await look(url)).findings.filter(({ area, check }) => area === 'mirrors' && check === 'mirrors')
    assert.deepEqual([one?.state, one?.found], ['ok', 'there are none'])
  })

  it('finds one that is dead, far behind, away or broken off, and says what to do', async () => {
    const cases = [
      [{ live: true, state: 'following', up_to_date: ago(5) }, 'ok', /following, live; up to date/],
      [{ live: true, state: 'following', up_to_date: ago(7200) }, 'warning', /complete 2:00:0\d ago/],
      [{ live: true, state: 'reading', up_to_date: ago(200000) }, 'bad', /complete 55:/],
      [{ live: true, state: 'following', noted: ago(4000), up_to_date: ago(4000) }, 'bad', /dead/],
      [{ live: true, state: 'away', up_to_date: ago(60), error: 'UNREACHABLE', reason: 'cannot reach http://me:secret@there/db' }, 'warning', /cannot reach http:\/\/there\/db \[UNREACHABLE\]/],
      [{ live: false, state: 'reading', noted: ago(4000) }, 'warning', /unfinished/],
      [{ live: false, state: 'completed', up_to_date: ago(9e6) }, 'ok', /completed/]
    ]
    for (const [fields, state, found] of cases) {
      const one = await note(fields)
      assert.equal(one?.state, state, JSON.stringify({ fields, one }))
      assert.match(one.found, found)
      assert.equal(Boolean(one.advice), state !== 'ok')
    }
  })

  it('asks what time it is at the other ends only when told to, and sends no name there', async () => {
    const couch = new Couch(url, { retries: 0 })
    const path = `_local/${PREFIX}clock`
    const far = `${as(proxy.url).replace(/\/[^/]*$/, '')}/mirror`
    const { rev } = await couch.request({ method: 'PUT', path, body: { _id: path, from: couch.url, to: far, session_id: 'x', noted: ago(5), history: [], state: 'following', live: true } })
    const seen = []
    proxy.change = (asked, _, answer) => {
      seen.push(asked)
      answer.headers.date = new Date(Date.now() - 3600e3).toUTCString()
    }
    try {
      const clocks = report => report.findings.filter(({ area, check }) => area === 'clocks' && check.startsWith('http'))
      assert.deepEqual(clocks(await look(url)), [])
      proxy.names.length = 0
      const [one] = clocks(await look(url, { mirrors: true }))
      assert.deepEqual([one.check, one.state], [new URL(proxy.url).origin, 'bad'])
      assert.match(one.found, /behind this machine/)
      assert.ok(seen.includes('/'))
      if (new URL(url).username) assert.ok(proxy.names.every(name => name === undefined), 'an address that anybody may have written')
    } finally {
      await couch.request({ method: 'DELETE', path, qs: { rev } })
    }
  })

  // CouchDB takes ten seconds to give up
  if (backend.supports.users && process.env.TILECOUCH_LONG) it('finds a replication of CouchDB that cannot go on', async () => {
    const server = await backend.url()
    const id = `doctor_${process.pid}`
    const doc = { _id: id, source: url, target: 'http://127.0.0.1:9/none', continuous: true }
    const put = await request(`${server}/_replicator/${id}`, { method: 'PUT', body: JSON.stringify(doc) })
    assert.ok(put.ok)
    try {
      const one = await until(async () => (await look(url)).findings.find(({ area, check, state }) => area === 'mirrors' && check.includes('127.0.0.1:9/none') && state === 'bad'), { what: 'the replication to crash' })
      assert.ok(one.why && one.advice)
    } finally {
      const { headers } = await request(`${server}/_replicator/${id}`, { method: 'HEAD' })
      await request(`${server}/_replicator/${id}?rev=${headers.get('etag')?.replaceAll('"', '')}`, { method: 'DELETE' })
    }
  })
})
