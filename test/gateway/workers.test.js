// Tests of a gateway with several worker processes: their start, replacement, metrics and end.
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
  let gateway
  const pids = new Set() // of all workers of a test
  const remember = () => { for (const pid of gateway.pids) pids.add(pid) }

  const startWorkers = async (options = {}, restart = {}) => {
    out = memory()
    gateway = await runWorkers(resolveOptions({ flags: { port: 0, workers: 2, grace: 5, ...options } }),
      { log: createLog({ destination: out }), entry, restart: { ...quick, ...restart } })
    remember()
    return gateway
  }

  afterEach(async () => {
    await gateway?.close()
    gateway = undefined
    assert.deepEqual([...pids].filter(isAlive), [], 'no process is left')
    // the cluster module removes a worker only when its channel is closed too, perhaps after its exit
    await until(() => !Object.keys(cluster.workers ?? {}).length, { what: 'no worker to be on the list' })
    pids.clear()
  })

  const ask = async address => (await fetch(`${gateway.url}/${address}`)).text()
  const askOps = async page => fetch(new URL(page, gateway.opsUrl))
  const log = () => out.text.split('\n').filter(Boolean).map(line => JSON.parse(line))
  const errors = () => log().filter(({ level }) => level === 'error')
  /** Sends requests until the given number of workers have answered. Returns the different answers. */
  const allAnswers = async (address, number) => {
    const answers = new Set()
    await until(async () => answers.add(await ask(address)).size === number, { what: `${number} workers to answer` })
    return answers
  }
  const waitForReplacement = async pidsBefore => {
    await until(() => gateway.pids.every(pid => !pidsBefore.includes(pid) || isAlive(pid)) &&
      gateway.pids.some(pid => !pidsBefore.includes(pid)), { what: 'another worker' })
    remember()
    return allAnswers('pid', 2)
  }

  it('answers on one port with all workers, which share the memory and get its other options', async () => {
    await startWorkers({ workers: 3, memory: '3MB', cors: 'none', upstreamHeaders: { 'a.example': { 'X-Key': '1' } } })
    const answeringPids = await allAnswers('pid', 3)
    assert.deepEqual([...answeringPids].map(Number).sort(), gateway.pids.sort())
    assert.match(gateway.url, new RegExp(`:${gateway.port}$`))
    assert.equal(gateway.opsUrl, null)
    const options = JSON.parse(await ask('options'))
    assert.deepEqual([options.memory, options.workers, options.opsPort, options.cors, options.upstreamHeaders],
      [1e6, 1, null, 'none', { 'a.example': { 'X-Key': '1' } }])
  })

  it('replaces a worker that dies or is ended by a signal, and serves meanwhile', async () => {
    await startWorkers({}, { young: 0 })
    let pidsBefore = gateway.pids
    await assert.rejects(ask('exit'))
    assert.ok(pidsBefore.includes(Number(await ask('pid'))))
    await waitForReplacement(pidsBefore)
    const [death] = errors()
    assert.match(death.msg, /a worker ended with 7; it is started again/)
    assert.equal(death.in, 10, 'a worker that has served long is started again without a longer delay')
    for (const signal of /** @type {NodeJS.Signals[]} */ (['SIGKILL', 'SIGTERM'])) {
      pidsBefore = gateway.pids
      process.kill(pidsBefore[0], signal)
      await waitForReplacement(pidsBefore)
    }
  })

  it('waits longer before each restart of a worker that dies young', async () => {
    await startWorkers({ workers: 2 }, { first: 10, longest: 50 })
    for (let deaths = 1; deaths <= 4; deaths++) {
      await until(async () => /^\d+$/.test(await ask('exit').catch(() => '1')))
      await until(() => errors().length === deaths)
      await allAnswers('pid', 2)
      remember()
    }
    for (const worker of [1, 2]) {
      const workerDelays = errors().filter(line => line.worker === worker).map(line => line.in)
      assert.deepEqual(workerDelays, [20, 40, 50, 50].slice(0, workerDelays.length))
    }
  })

  it('fails with one error when a port is in use, and leaves nothing behind', async () => {
    const { port, close } = await startServer(() => {})
    await assert.rejects(startWorkers({ port }), { code: 'PORT_IN_USE', message: `port ${port} is taken` })
    await assert.rejects(startWorkers({ opsPort: port }), { code: 'PORT_IN_USE' })
    await close()
    await startWorkers({ port, workers: 1 })
  })

  it('fails with the error that kept the first worker from starting', async () => {
    const config = path.join(folder.write({ trouble: '' }), 'trouble')
    await assert.rejects(startWorkers({ config }), { code: 'DATABASE_NOT_FOUND' })
    await assert.rejects(startWorkers({ config, cors: 'exit' }),
      { code: 'WORKER_FAILED', message: 'a worker ended with 3' })
    await assert.rejects(startWorkers({ config, cors: 'hang' }, { timeout: 50 }),
      { code: 'WORKER_FAILED', message: 'a worker did not serve within 0.05 s' })
  })

  it('gives up when no worker starts any more', async () => {
    const config = path.join(folder.dir, 'trouble')
    await startWorkers({ config })
    writeFileSync(config, '')
    for (const pid of gateway.pids) process.kill(pid, 'SIGKILL')
    await assert.rejects(gateway.ended, { code: 'DATABASE_NOT_FOUND' })
    await gateway.close()
    assert.match(log().at(-1).msg, /no worker starts any more/)
  })

  it('goes on with one worker while the other cannot start, and restarts it later', async () => {
    const config = path.join(folder.dir, 'trouble')
    await startWorkers({ config, opsPort: 0 })
    writeFileSync(config, '')
    process.kill(gateway.pids[0], 'SIGKILL')
    await until(() => errors().length > quick.attempts + 1)
    assert.match(await ask('pid'), /^\d+$/)
    const health = await askOps('health')
    assert.deepEqual([health.status, await health.json()], [200, { status: 'ok', workers: { ready: 1, wanted: 2 } }])
    unlinkSync(config)
    await until(async () => /** @type {any} */ (await (await askOps('health')).json()).workers.ready === 2)
    remember()
  })

  it('serves only health and metrics at its opsPort, and adds up all workers, including those that died', async () => {
    await startWorkers({ opsPort: 0 })
    const statusOf = async (page, options) => (await fetch(new URL(page, gateway.opsUrl), options)).status
    for (const page of ['/', '/osm/0/0/0.png', '/constructor']) assert.equal(await statusOf(page), 404, page)
    assert.equal(await statusOf('/metrics', { method: 'POST' }), 405)
    assert.equal(await statusOf('/metrics', { method: 'HEAD' }), 200)
    assert.equal((await askOps('metrics')).headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
    async function valuesOf (...names) {
      const metrics = parseMetrics(await (await askOps('metrics')).text())
      return names.map(name => metrics.get(`tilecouch_${name}`).samples[0].value)
    }
    let counted = 0
    const countingWorkers = new Set()
    await until(async () => (counted++, countingWorkers.add(await ask('count')).size === 2))
    assert.deepEqual(await valuesOf('requests_total', 'cache_bytes', 'cache_limit_bytes', 'workers_ready',
      'worker_restarts_total'), [counted, 200, 256e6, 2, 0])
    const pidsBefore = gateway.pids
    process.kill(pidsBefore[0], 'SIGKILL')
    await waitForReplacement(pidsBefore)
    assert.deepEqual(await valuesOf('requests_total', 'workers_ready', 'worker_restarts_total', 'cache_bytes'),
      [counted, 2, 1, 200])
    await ask('count')
    assert.deepEqual(await valuesOf('requests_total'), [counted + 1])
  })

  it('finishes running requests when it is closed', async () => {
    await startWorkers()
    const answers = await Promise.all([1, 2].map(() => fetch(`${gateway.url}/hold`)))
    const ended = gateway.ended
    await gateway.close()
    assert.deepEqual((await Promise.all(answers.map(answer => answer.text()))).map(text => text.replace(/\d+/, 'pid')),
      ['pid\ndone\n', 'pid\ndone\n'])
    await ended
    await assert.rejects(ask('pid'))
  })

  it('kills a worker that does not end', async () => {
    await startWorkers({ cors: 'never ends', grace: 0 })
    const pidsBefore = gateway.pids
    await gateway.close()
    assert.deepEqual(pidsBefore.filter(isAlive), [])
  })
})
