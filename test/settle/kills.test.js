// Every command that writes is killed with SIGKILL at one of its writes and run again. Then the layer, its copy, its
// mirror and its restored backup show the loaded tiles. TILECOUCH_KILLS makes it a long run.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { request as ask } from 'node:http'
import path from 'node:path'
import { random } from '../../bench/tiles.js'
import { Store } from '../../loader/index.js'
import { Couch } from '../../loader/store/couch.js'
import { onEachStore } from '../support/backends.js'
import { finishCommand, startCommand } from '../support/command.js'
import { useFolder } from '../support/folder.js'
import { checkInvariants } from '../support/invariants.js'
import { startServer } from '../support/server.js'
import { png, seedOf, yearStart } from '../support/tiles.js'
import { Model } from './model.js'
import { PLACES } from './readers.js'

const KILLS = +(process.env.TILECOUCH_KILLS ?? (process.env.TILECOUCH_LONG ? 100 : 12))
const SEED = +(process.env.TILECOUCH_SEED ?? 7)
const YEARS = [2015, 2016, 2017, 2018, 2019, 2020, 2021, 2022]
const LAST = 9 // number of the last write of a command at which it may be killed

const isWrite = ({ method, url }) => ['PUT', 'DELETE'].includes(method) ||
  (method === 'POST' && /\/(_bulk_docs|_purge)(\?|$)/.test(url))

/**
 * Starts a proxy before a store. It kills a program at one of its writes: before the store gets the request, or before
 * the program gets the answer.
 * @param {string} target URL of a server, may have a name and password
 */
async function startKilling (target) {
  const { hostname, port, username, password } = new URL(target)
  const state = {
    url: '',
    /**
     * The process to kill, after how many more writes, and whether the store gets the last write.
     * @type {{child: import('node:child_process').ChildProcess, left: number, arrives: boolean} | undefined}
     */
    victim: undefined,
    kills: 0,
    close: async () => {}
  }
  const kill = () => {
    state.victim?.child.kill('SIGKILL')
    state.victim = undefined
    state.kills++
  }
  const { port: proxyPort, close } = await startServer((request, response) => {
    const { victim } = state
    const isLast = victim && isWrite(request) && victim.left-- === 0
    if (isLast && !victim.arrives) return kill()
    const forward = ask({ hostname, port, method: request.method, path: request.url, headers: {
      ...request.headers, host: `${hostname}:${port}`
    } }, answer => {
      if (isLast) {
        answer.resume()
        return kill()
      }
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    forward.on('error', () => response.destroy())
    request.on('error', () => forward.destroy())
    response.on('error', () => {})
    request.pipe(forward)
  })
  state.url = `http://${username ? `${username}:${password}@` : ''}127.0.0.1:${proxyPort}`
  state.close = close
  return state
}

/** Whether a database exists and everybody may read it. */
const isOpen = async url => {
  const security = await new Couch(url).request({ path: '_security' }).catch(error => {
    if (error.code !== 'DATABASE_NOT_FOUND') throw error
  })
  return security?.members?.roles?.length === 0
}

class Life {
  #runs = 0
  /** @type {Record<string, Model>} */
  models = {}
  copied = 'two'
  done = /** @type {Record<string, number>} */ ({})

  /** @param {() => number} next @param {{server: any, databases: string[], dir: string}} parts */
  constructor (next, { server, databases, dir }) {
    this.next = next
    this.server = server
    this.urls = databases
    this.dir = dir
    this.free = [...YEARS].sort(() => next() - 0.5)
  }

  pick = list => list[Math.floor(this.next() * list.length)]

  /** The URL of a database through the proxy that kills. */
  through (url) {
    return `${this.server.url}${new URL(url).pathname}`
  }

  /** Runs a command that is killed at one of its writes, and then runs it to its end. @param {string[]} args */
  async twice (...args) {
    const firstRun = startCommand(args)
    this.server.victim = { child: firstRun.child, left: Math.floor(this.next() * LAST), arrives: this.next() < 0.5 }
    const { code, err } = await firstRun.ended
    this.server.victim = undefined
    if (code === null) {
      this.done[args[0]] = (this.done[args[0]] ?? 0) + 1
      // it was killed after its last write
      if (args[0] === 'restore' && await isOpen(this.urls[2])) return
      if (args[0] === 'backup' && existsSync(args[1])) return
      await finishCommand(args)
    } else assert.equal(code, 0, `${args.join(' ')}: ${err}`)
  }

  get model () {
    return (this.models.osm ??= new Model())
  }

  get times () {
    return [...new Set(this.model.standing.map(({ time }) => time))].filter(time => time >= this.model.since)
  }

  async load () {
    const year = this.free.shift()
    if (!year) return this.remove()
    const tiles =
      Object.fromEntries(PLACES.filter(() => this.next() < 0.7).map(({ name }) => [name, this.pick([0, 1, 2])]))
    if (!Object.keys(tiles).length) tiles[PLACES[0].name] = 0
    const folder = path.join(this.dir, `edition-${++this.#runs}`)
    for (const [name, image] of Object.entries(tiles)) {
      await mkdir(path.join(folder, path.dirname(name)), { recursive: true })
      await writeFile(path.join(folder, `${name}.png`), png(image))
    }
    const complete = this.next() < 0.5
    await this.twice('load', folder, '--layer', 'osm', '--time',
      yearStart(year), ...(complete ? ['--complete'] : []), '--db', this.through(this.urls[0]))
    this.model.say(this.#runs, { tiles, complete, time: yearStart(year) })
  }

  async remove () {
    if (!this.times.length) return
    const time = this.pick(this.times)
    await this.twice('remove', 'osm', '--edition', time, '--compact',
      'never', '--yes', '--db', this.through(this.urls[0]))
    this.model.remove(++this.#runs, { time })
    this.free.push(+time.slice(0, 4))
  }

  async prune () {
    if (!this.times.length) return
    await this.twice('prune', 'osm', '--keep-last', '2', '--compact',
      'never', '--yes', '--db', this.through(this.urls[0]))
    // older moments may have been kept or dropped
    this.model.since = /** @type {string} */ (this.times.sort().at(-1))
  }

  async copy () {
    if (!this.model.said.size) return
    await this.twice('copy', 'osm', this.copied, '--db', this.through(this.urls[0]))
    ;(this.models.copy ??= new Model()).hear(this.model.copy)
  }

  async rename () {
    if (!this.models.copy) return
    const to = this.copied === 'two' ? 'three' : 'two'
    await this.twice('copy', this.copied, to, '--move', '--db', this.through(this.urls[0]))
    this.copied = to
  }

  async mirror () {
    if (!this.model.said.size) return
    await this.twice('mirror', this.through(this.urls[0]), this.through(this.urls[1]))
    await this.twice('check', '--only', 'conflicts', '--fix', '--db', this.through(this.urls[1]))
    await this.compare(this.urls[1])
  }

  async restore () {
    if (!this.model.said.size) return
    const file = path.join(this.dir, `backup-${++this.#runs}`)
    await this.twice('backup', file, '--db', this.through(this.urls[0]))
    await this.twice('restore', file, '--yes', '--db', this.through(this.urls[2]))
    await this.compare(this.urls[2])
    await (await Store.open(this.urls[2])).destroy()
  }

  resolve = () => this.twice('check', '--only', 'conflicts', '--fix', '--db', this.through(this.urls[0]))
  repair = () => this.twice('check', '--fix', '--db', this.through(this.urls[0]))
  push = () => this.twice('push', this.through(this.urls[0]))

  async compare (url = this.urls[0]) {
    await checkInvariants(url)
    const store = await Store.open(url)
    for (const [layer, model] of /** @type {[string, Model | undefined][]} */ (
      [['osm', this.models.osm], [this.copied, this.models.copy]]
    )) {
      if (!model) continue
      for (const time of [undefined, ...YEARS.map(yearStart)]) {
        if (time !== undefined && time < model.since) continue
        const [expected, actual] = [{}, {}]
        for (const { name, z, x, y } of PLACES) {
          expected[name] = model.shown(name, time)
          const reading = time ? store.at(layer, z, x, y, time) : store.head(layer, z, x, y)
          const bytes = await reading.then(version => version.bytes,
            error => { assert.equal(error.code, 'TILE_NOT_FOUND', error.message) })
          actual[name] = bytes ? seedOf(bytes) ?? 'something else' : null
        }
        assert.deepEqual(actual, expected, `${layer} ${time ?? 'now'}`)
      }
    }
  }
}

const STEPS =
  ['load', 'load', 'load', 'remove', 'prune', 'copy', 'rename', 'mirror', 'restore', 'resolve', 'repair', 'push']

onEachStore(`commands that are killed (${KILLS}, seed ${SEED})`, backend => {
  const folder = useFolder()

  it('store the expected tiles when they are run again', async function () {
    this.timeout(60000 + KILLS * 20000)
    this.slow(60000)
    const killCounts = /** @type {Record<string, number>} */ ({})
    const next = random(SEED)
    for (let turn = 0, kills = 0; kills < KILLS; turn++) {
      const databases = [await backend.database(), await backend.database(), await backend.database()]
      const server = await startKilling(await backend.url())
      const life = new Life(next, { server, databases, dir: folder.path(`${turn}`) })
      const stepNames = []
      try {
        await mkdir(life.dir)
        await Store.create(databases[0])
        for (let step = 0; step < 14 && kills + server.kills < KILLS; step++) {
          stepNames.push(step < 2 ? 'load' : life.pick(STEPS))
          await life[stepNames[stepNames.length - 1]]()
          await life.compare()
        }
        kills += server.kills
        for (const url of databases) await Store.open(url).then(store => store.destroy(), () => {})
      } catch (error) {
        error.message = `life ${turn}: ${stepNames.join(', ')}: ${error.message}`
        throw error
      } finally {
        await server.close()
        await rm(life.dir, { recursive: true, force: true })
        for (const [name, count] of Object.entries(life.done)) killCounts[name] = (killCounts[name] ?? 0) + count
      }
    }
    if (process.env.TILECOUCH_KILLS) console.log(JSON.stringify(killCounts))
  })
})
