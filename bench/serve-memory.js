// Is the memory of a gateway flat? As many random requests as an hour brings at a thousand a second, over more tiles than fit into
// its memory, while tiles change; the process is watched.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { addSeconds } from '../core/index.js'
import { LAYER, NEW, OLD, bytesOf, fillStore, placesOf, shuffled } from './block.js'
import { LIMIT, flatness } from './serve/flat.js'
import { startGateway } from './programs/gateway.js'
import { ERRORS, mixOf } from './serve/mix.js'
import { MISSING, findWrk, runWrk, writeList } from './programs/wrk.js'
import { dropping, stoppable } from './stoppable.js'

const CONNECTIONS = 16
const CHANGES = 20 // tiles that change every second
const EVERY = 500 // milliseconds between samples

/** @param {{server: string, quick: boolean, log: (text: string) => void}} options */
export async function run ({ server, quick, log }) {
  const wrk = findWrk()
  if (!wrk) throw new Error(MISSING)
  const scale = quick
    ? { tiles: 2000, memory: '4MB', requests: 30_000, list: 5000, part: 2, longest: 40 }
    // list: requests of a part; each part has others, for so many seconds; longest: seconds after which there are enough
    : { tiles: 40_000, memory: '64MB', requests: 3_600_000, list: 100_000, part: 15, longest: 1500 }
  return stoppable(log, async ({ signal, closing }) => {
    const dir = await mkdtemp(path.join(tmpdir(), 'tilecouch-serve-'))
    closing.push(() => rm(dir, { recursive: true, force: true }))
    const url = `${server}/bench_serve_memory`
    const places = placesOf(scale.tiles)
    const wanted = shuffled(places, 1)
    const store = await fillStore(url, places, { times: [OLD, NEW], signal })
    closing.push(dropping(store))
    const { z, x, y } = places[0]
    const gateway = await startGateway(url, { memory: scale.memory, 'log-level': 'warn' }, `/${LAYER}/${z}/${x}/${y}.png`)
    closing.push(gateway.close)
    log(`${scale.tiles} tiles with two versions, ${scale.memory} of memory, ${scale.requests} requests`)
    const side = new AbortController()
    const both = AbortSignal.any([signal, side.signal])
    const rss = []
    const watching = watch(gateway.pid, rss, both)
    const changing = change(store, wanted, both)
    for (const aside of [watching, changing]) aside.catch(() => {}) // awaited below, unless what they are beside failed first
    const { requests, seconds } = await sendAll({ ...scale, wrk, url: gateway.url, wanted, dir, signal, log: text => log(`${text}  ${rss.at(-1)} MB`) })
      .finally(() => side.abort())
    await watching
    const changes = await changing
    const { growth, tenths, flat } = flatness(rss)
    const peak = Math.max(...rss)
    const budgets = [{
      what: `memory of the gateway, second to last tenth of ${requests.toLocaleString('en-US')} random requests`,
      target: `<= ${LIMIT * 100} % more`, figure: `${(growth * 100).toFixed(1)} %`, met: flat && requests >= scale.requests
    }]
    for (const { what, target, figure, met } of budgets) log(`\n${met ? 'pass' : 'FALLS SHORT'}  ${what}: ${figure} (target ${target}); peak ${peak} MB`)
    return { ...scale, requests, seconds, changes, settings: gateway.settings, tenths, peak, budgets }
  })
}

/** Part after part, each with requests of its own, until there were enough or it takes too long. */
async function sendAll ({ wrk, url, wanted, dir, requests: target, list: length, part, longest, signal, log }) {
  const list = path.join(dir, 'requests')
  const start = performance.now()
  let requests = 0
  for (let number = 0; requests < target && performance.now() - start < longest * 1000; number++) {
    await writeList(list, [...mixOf(wanted, length, number)])
    const { requests: done, seconds, errors } = await runWrk(wrk, { url, list, connections: CONNECTIONS, seconds: part, signal })
    const { status, ...broken } = errors
    if (Object.values(broken).some(Boolean)) throw new Error(`the gateway broke connections: ${JSON.stringify(broken)}`)
    if (Math.abs(status / done - ERRORS) > 0.02) throw new Error(`${(status / done * 100).toFixed(1)} % of the answers were errors, ${ERRORS * 100} % were expected`)
    requests += done
    log(`  ${requests.toLocaleString('en-US').padStart(11)} requests, ${Math.round(done / seconds)}/s`)
  }
  return { requests, seconds: Math.round((performance.now() - start) / 1000) }
}

const runFile = promisify(execFile)

/** Resident memory in MB, sampled until the signal. */
async function watch (pid, rss, signal) {
  while (!signal.aborted) {
    const { stdout } = await runFile('ps', ['-o', 'rss=', '-p', String(pid)])
    rss.push(Math.round(+stdout * 1024 / 1e6))
    await sleep(EVERY, undefined, { signal }).catch(() => {})
  }
}

/** New versions of tiles, so that what is in memory has to go. */
async function change (store, wanted, signal) {
  let changes = 0
  for (let second = 1; !signal.aborted; second++) {
    const time = addSeconds(NEW, second)
    await store.write(Array.from({ length: CHANGES }, (_, number) => {
      const { z, x, y, index } = wanted[(second * CHANGES + number) % wanted.length]
      return { layer: LAYER, z, x, y, time, bytes: bytesOf(index + wanted.length * second, NEW) }
    }))
    changes += CHANGES
    await sleep(1000, undefined, { signal }).catch(() => {})
  }
  return changes
}
