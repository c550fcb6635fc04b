import assert from 'node:assert/strict'
import cluster from 'node:cluster'
import { unlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { until } from '../../bench/wait.js'
import { resolveOptions } from '../../server/gateway/config.js'
import { createLog } from '../../server/gateway/log.js'
import { runWorkers } from '../../server/gateway/workers/index.js'
import { memory } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { startServer } from '../support/server.js'
import { parseMetrics } from '../support/gateway/prometheus.js'

const entry = fileURLToPath(new URL('../support/gateway/worker.js', import.meta.url))
const quick = { first: 10, longest: 40, attempts: 3, kill: 300 }

const isAlive = pid => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('a gateway of several processes', () => {
  const folder = useFolder()
  let out
  let crew
  const pids = new Set()

  const run = async (options = {}, restart = {}) => {
    out = memory()
    crew = await runWorkers(resolveOptions({ flags: { port: 0, workers: 2, grace: 5, ...options } }),
      { log: createLog({ destination: out }), entry, restart: { ...quick, ...restart } })
    for (const pid of crew.pids) pids.add(pid)
    return crew
  }

  afterEach(async () => {
    await crew?.close()
    crew = undefined
    assert.deepEqual([...pids].filter(isAlive), [], 'no process is left')
    // a worker is off the list when its channel is closed as well, which may be a moment after its end
    await until(() => !Object.keys(cluster.workers ?? {}).length, { what: 'no worker to be on the list' })
    pids.clear()
  })

  const ask = async address => (await fetch(`${crew.url}/${address}`)).text()
  const askOps = async page => fetch(new URL(page, crew.opsUrl))
  const log = () => out.text.split('\n').filter(Boolean).map(line => JSON.parse(line))
  /** Every worker, by what it answers. */
  const everyone = async (address, number) => {
    const answers = new Set()
    await until(async () => answers.add(await ask(address)).size === number, { what: `${number} workers to answer` })
    return answers
  }
  const replaced = async before => {
    await until(() => crew.pids.every(pid => !before.includes(pid) || isAlive(pid)) &&
      crew.pids.some(pid => !before.includes(pid)), { what: 'another worker' })
    for (const pid of crew.pids) pids.add(pid)
    return everyone('pid', 2)
  }

  it('answers on one port with all workers, which share the memory and get its other options', async () => {
    await run({ workers: 3, memory: '3MB', cors: 'none', upstreamHeaders: { 'a.example': { 'X-Key': '1' } } })
    const answered = await everyone('pid', 3)
    assert.deepEqual([...answered].map(Number).sort(), crew.pids.sort())
    assert.match(crew.url, new RegExp(`:${crew.port}$`))
    assert.equal(crew.opsUrl, null)
    const options = JSON.parse(await ask('options'))
    assert.deepEqual([options.memory, options.workers, options.opsPort, options.cors, options.upstreamHeaders],
      [1e6, 1, null, 'none', { 'a.example': { 'X-Key': '1' } }])
  })

  it('replaces a worker that dies or is ended by a signal, and serves meanwhile', async () => {
    await run({}, { young: 0 })
    let before = crew.pids
    await assert.rejects(ask('exit'))
    assert.ok(before.includes(Number(await ask('pid'))))
    await replaced(before)
    const death = log().find(({ level }) => level === 'error')
    assert.match(death.msg, /a worker ended with 7; it is started again/)
    assert.equal(death.in, 10, 'a worker that has served long is started again without a longer delay')
    for (const signal of /** @type {NodeJS.Signals[]} */ (['SIGKILL', 'SIGTERM'])) {
      before = crew.pids
      process.kill(before[0], signal)
      await replaced(before)
    }
  })

  it('waits longer before each restart of a worker that dies young', async () => {
    await run({ workers: 2 }, { first: 10, longest: 50 })
    const delays = () => log().filter(({ level }) => level === 'error').map(line => line.in)
    for (let deaths = 1; deaths <= 4; deaths++) {
      await until(async () => /^\d+$/.test(await ask('exit').catch(() => '1')))
      await until(() => delays().length === deaths)
      await everyone('pid', 2)
      for (const pid of crew.pids) pids.add(pid)
    }
    for (const worker of [1, 2]) {
      const own = log().filter(line => line.level === 'error' && line.worker === worker).map(line => line.in)
      assert.deepEqual(own, [20, 40, 50, 50].slice(0, own.length))
    }
  })

  it('fails with one error when a port is in use, and leaves nothing behind', async () => {
    const { port, close } = await startServer(() => {})
    await assert.rejects(run({ port }), { code: 'PORT_IN_USE', message: `port ${port} is taken` })
    await assert.rejects(run({ opsPort: port }), { code: 'PORT_IN_USE' })
    await close()
    await run({ port, workers: 1 })
  })

  it('fails with the error that kept the first worker from starting', async () => {
    const config = path.join(folder.write({ trouble: '' }), 'trouble')
    await assert.rejects(run({ config }), { code: 'DATABASE_NOT_FOUND' })
    await assert.rejects(run({ config, cors: 'exit' }), { code: 'WORKER_FAILED', message: 'a worker ended with 3' })
    await assert.rejects(run({ config, cors: 'hang' }, { timeout: 50 }),
      { code: 'WORKER_FAILED', message: 'a worker did not serve within 0.05 s' })
  })

  it('gives up when no worker starts any more', async () => {
    const config = path.join(folder.dir, 'trouble')
    await run({ config })
    writeFileSync(config, '')
    for (const pid of crew.pids) process.kill(pid, 'SIGKILL')
    await assert.rejects(crew.ended, { code: 'DATABASE_NOT_FOUND' })
    await crew.close()
    assert.match(log().at(-1).msg, /no worker starts any more/)
  })

  it('goes on with one worker while the other cannot start, and restarts it later', async () => {
    const config = path.join(folder.dir, 'trouble')
    await run({ config, opsPort: 0 })
    writeFileSync(config, '')
    process.kill(crew.pids[0], 'SIGKILL')
    await until(() => log().filter(({ level }) => level === 'error').length > quick.attempts + 1)
    assert.match(await ask('pid'), /^\d+$/)
    const health = await askOps('health')
    assert.deepEqual([health.status, await health.json()], [200, { status: 'ok', workers: { ready: 1, wanted: 2 } }])
    unlinkSync(config)
    await until(async () => /** @type {any} */ (await (await askOps('health')).json()).workers.ready === 2)
    for (const pid of crew.pids) pids.add(pid)
  })

  it('serves only health and metrics at its opsPort, and adds up all workers, including those that died', async () => {
    await run({ opsPort: 0 })
    const statusOf = async (page, options) => (await fetch(new URL(page, crew.opsUrl), options)).status
    for (const page of ['/', '/osm/0/0/0.png', '/constructor']) assert.equal(await statusOf(page), 404, page)
    assert.equal(await statusOf('/metrics', { method: 'POST' }), 405)
    assert.equal(await statusOf('/metrics', { method: 'HEAD' }), 200)
    assert.equal((await askOps('metrics')).headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
    const total = async text => parseMetrics(await text).get('tilecouch_requests_total')?.samples[0]?.value
    let counted = 0
    const counting = new Set()
    await until(async () => (counted++, counting.add(await ask('count')).size === 2))
    const fromOps = await (await askOps('metrics')).text()
    assert.equal(await total(fromOps), counted)
    const metrics = parseMetrics(fromOps)
    const only = name => metrics.get(name).samples[0].value
    assert.deepEqual(['tilecouch_cache_bytes', 'tilecouch_cache_limit_bytes',
      'tilecouch_workers_ready', 'tilecouch_worker_restarts_total'].map(only), [200, 256e6, 2, 0])
    const before = crew.pids
    process.kill(before[0], 'SIGKILL')
    await replaced(before)
    const after = parseMetrics(await (await askOps('metrics')).text())
    assert.deepEqual(['tilecouch_requests_total', 'tilecouch_workers_ready', 'tilecouch_worker_restarts_total',
      'tilecouch_cache_bytes'].map(name => after.get(name).samples[0].value), [counted, 2, 1, 200])
    await ask('count')
    assert.equal(await total((await askOps('metrics')).text()), counted + 1)
  })

  it('finishes running requests when it is closed', async () => {
    await run()
    const answers = await Promise.all([1, 2].map(() => fetch(`${crew.url}/hold`)))
    const ended = crew.ended
    await crew.close()
    assert.deepEqual((await Promise.all(answers.map(answer => answer.text()))).map(text => text.replace(/\d+/, 'pid')),
      ['pid\ndone\n', 'pid\ndone\n'])
    await ended
    await assert.rejects(ask('pid'))
  })

  it('kills a worker that does not end', async () => {
    await run({ cors: 'never ends', grace: 0 })
    const before = crew.pids
    await crew.close()
    assert.deepEqual(before.filter(isAlive), [])
  })
})
