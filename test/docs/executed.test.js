// The commands of the README, the tutorial and the task pages, as somebody types them: literally, in their order, with
// the package that npm would install. Only addresses are others: those of the stores and servers that the test starts.
// TILECOUCH_DOCS=write puts what the commands print on the embedded store into the pages.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { end, freePort, until } from '../../bench/wait.js'
import { load, openSource, publish, Store } from '../../loader/index.js'
import { onEachStore } from '../support/backends.js'
import { startUpstream } from '../support/upstream-server.js'
import { writeFixtures, writeTown } from './fixtures.js'
import { blocksOf, root, taskPages, textOf } from './pages.js'

const DATABASES = ['tiles', 'restored'] // that the pages name on a CouchDB
// a page with the store of somebody else has its own in its folder
const OF_OTHERS = /origin:5984|maps\.example\.org\/db/
const WRITE = process.env.TILECOUCH_DOCS === 'write'
const KEEPS_RUNNING = /^tilecouch (up|serve)\b|^tilecouch .* --live\b/
const FIRST_LINE = 180000 // milliseconds: `up` loads the demo before it

const run = promisify(execFile)

/** Addresses as the pages have them, and as they are here. */
class Addresses {
  #here = /** @type {[string, string][]} */ ([])
  #there = /** @type {[string, string][]} */ ([])

  /** @param {string} real @param {string[]} written the first is how `there` writes it */
  add (real, ...written) {
    for (const one of written) this.#here.push([one, real])
    this.#there.push([real, written[0]])
    for (const list of [this.#here, this.#there]) list.sort(([one], [other]) => other.length - one.length)
  }

  here = text => replaceAll(text, this.#here)
  there = text => replaceAll(text, this.#there)
}

const replaceAll = (text, pairs) => pairs.reduce((changed, [from, to]) => changed.replaceAll(from, to), text)

/** A line without what is different each time. */
const shape = line => line
  .replaceAll('localhost', '127.0.0.1')
  .replace(/^Store: .*/, 'Store: the one that is found')
  .replace(/\b20(2[5-9]|[3-9]\d)-\d\d-\d\dT[\d:.]+Z/g, 'NOW')
  .replace(/\d[\d,.]* (B|kB|MB|GB)\b/g, 'SIZE')
  .replace(/\d[\d,.]*\/s\b/g, 'RATE')
  .replace(/\b\d+:\d\d\b(?!:\d)/g, 'TIME')
  .replace(/\b\d+(\.\d+)? s\b/g, 'TIME')
  .replace(/\b[\da-f]{16,}\b/g, 'DIGEST')
  .replace(/\s+/g, ' ').trim()

onEachStore('the commands of the documentation', backend => {
  let site = ''
  const upstreams = []

  before(async function () {
    this.timeout(120000)
    site = await install()
  })

  after(() => site && rm(site, { recursive: true, force: true, maxRetries: 5 }))

  afterEach(async () => {
    for (const each of upstreams.splice(0)) await each.close()
  })

  for (const [index, page] of taskPages.entries()) {
    it(`work as ${page} shows them`, async () => {
      const text = textOf(page)
      const addresses = new Addresses()
      const env = await startOthers(text, addresses)
      const { password, ...own } = backend.name === 'embedded' || OF_OTHERS.test(text)
        ? {} : await useCouchDb(addresses)
      const shell = await openShell(site, `${index}`, { ...env, ...own }, password)
      const blocks = blocksOf(page)
        .filter(({ reason, couchDb }) => !reason && (!couchDb || backend.name !== 'embedded'))
      await writeFixtures(shell.folder, blocks.flatMap(({ commands }) => commands).join('\n'))
      const printed = []
      try {
        for (const block of blocks) printed.push({ block, output: await runBlock(shell, block, addresses) })
      } finally {
        await shell.close()
      }
      if (WRITE && backend.name === 'embedded') await writePrinted(page, text, printed)
    })
  }

  /** The servers of others that a page names. @returns {Promise<Record<string, string>>} environment of its commands */
  async function startOthers (text, addresses) {
    const port = `${await freePort()}`
    addresses.add(`127.0.0.1:${port}`, '127.0.0.1:8080', 'localhost:8080')
    const env = { TILECOUCH_PORT: port }
    if (OF_OTHERS.test(text)) {
      const { host, pathname } = new URL(await originStore())
      const written =
        ['http://origin:5984/tiles', 'https://maps.example.org/db'].filter(address => text.includes(address))
      addresses.add(`http://${host}${pathname}`, ...written)
    }
    if (!/tiles\.example\.org|maps\.example\.org\/wms/.test(text)) return env
    const upstream = await startUpstream()
    upstreams.push(upstream)
    addresses.add(`${upstream.url}/wms`, 'https://maps.example.org/wms')
    addresses.add(`${upstream.url}/xyz`, 'https://tiles.example.org')
    return { ...env, TILECOUCH_UPSTREAM_NETWORKS: upstream.host }
  }

  /** A published store with a layer `osm`, of which everybody can read. */
  async function originStore () {
    const url = await backend.database()
    const store = await Store.create(url, { public: false })
    const folder = path.join(site, path.basename(new URL(url).pathname))
    await writeTown(folder)
    const source = await openSource(folder)
    try {
      await load(store, source, { layer: 'osm', time: '2024-03-01', title: 'Spring' })
    } finally {
      await source.close()
    }
    await publish(store)
    return url
  }

  /**
   * The store of the page is on the CouchDB.
   * @returns {Promise<Record<string, string>>} environment of its commands, and the password
   */
  async function useCouchDb (addresses) {
    const { host, username, password } = new URL(await backend.url())
    for (const name of DATABASES) {
      addresses.add(`${host}${new URL(await backend.database()).pathname}`,
        `127.0.0.1:5984/${name}`, `localhost:5984/${name}`)
    }
    addresses.add(host, '127.0.0.1:5984', 'localhost:5984')
    if (username !== 'admin') {
      addresses.add(`//${username}@`, '//admin@')
      addresses.add(`COUCHDB_USER=${username}`, 'COUCHDB_USER=admin')
    }
    return {
      COUCHDB_URL: addresses.here('http://localhost:5984/tiles'),
      COUCHDB_USER: decodeURIComponent(username),
      password: decodeURIComponent(password)
    }
  }

  async function runBlock (shell, block, addresses) {
    const { page, line, commands, code: wanted, prints } = block
    let output = ''
    for (const [at, command] of commands.entries()) {
      const { code, output: said } = await shell.type(addresses.here(command))
      if (backend.name === 'embedded' && command.startsWith('tilecouch up')) {
        const [, host] = /http:\/\/(127\.0\.0\.1:\d+)\/tiles$/m.exec(said) ?? []
        if (host) addresses.add(host, '127.0.0.1:5984', 'localhost:5984')
      }
      output += addresses.there(said).replaceAll(shell.folder, '.')
      assert.equal(code, at === commands.length - 1 ? wanted : 0,
        `${page}:${line}: the exit code of ${command}\n${output}`)
    }
    if (prints && !WRITE) {
      const lines = new Set(output.split('\n').map(shape))
      const missing = prints.lines.filter(one => one.trim() && one.trim() !== '…' && !lines.has(shape(one)))
      assert.deepEqual(missing, [], `${page}:${prints.line}: it does not print this, but\n${output}`)
    }
    return output
  }
}, { timeout: 600000 })

/** Puts what was printed into the page. Where the page leaves lines out, only those that it shows are written anew. */
async function writePrinted (page, text, printed) {
  const lines = text.split('\n')
  for (const { block: { prints }, output } of printed.reverse()) { // from the end: lines before it keep their numbers
    if (!prints) continue
    const real = output.trimEnd().split('\n').map(line => line.trimEnd())
    const isWhole = !prints.lines.some(line => line.trim() === '…')
    const next = isWhole ? real : prints.lines.map(line => real.find(one => shape(one) === shape(line)) ?? line)
    const indent = /^ */.exec(lines[prints.line - 1])?.[0] ?? ''
    lines.splice(prints.line, prints.lines.length, ...next.map(line => line && indent + line))
  }
  await writeFile(path.join(root, page), lines.join('\n'))
}

/** npm stays offline, and writes nothing outside of the folder. @param {string} dir */
const npmIn =
  dir => ({ npm_config_offline: 'true', npm_config_update_notifier: 'false', npm_config_cache: path.join(dir, '.npm') })

/**
 * Installs the package that npm would publish, as npm does. Only the dependencies that it declares are there; they are
 * links to those of the repository, so that nothing is downloaded.
 * @returns {Promise<string>} the folder, with node_modules
 */
async function install () {
  const dir = await realpath(await mkdtemp(path.join(tmpdir(), 'tilecouch-docs-')))
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', dir],
    { cwd: root, env: { ...process.env, ...npmIn(dir) } })
  const [archive] = (await readdir(dir)).filter(name => name.endsWith('.tgz'))
  const modules = path.join(dir, 'node_modules')
  const own = path.join(modules, 'tilecouch')
  await mkdir(own, { recursive: true })
  await run('tar', ['-xzf', path.join(dir, archive), '-C', own, '--strip-components', '1'])
  const { dependencies, bin } = JSON.parse(await readFile(path.join(own, 'package.json'), 'utf8'))
  for (const name of Object.keys(dependencies)) {
    await mkdir(path.dirname(path.join(modules, name)), { recursive: true })
    await symlink(await realpath(path.join(root, 'node_modules', name)), path.join(modules, name))
  }
  await mkdir(path.join(modules, '.bin'))
  for (const [name, file] of Object.entries(bin)) {
    await chmod(path.join(own, file), 0o755)
    await symlink(path.join('../tilecouch', file), path.join(modules, '.bin', name))
  }
  return dir
}

/**
 * @param {string} site of install
 * @param {string} name of its folder
 * @param {Record<string, string>} env of its commands, besides PATH and HOME
 * @param {string} [password] of the CouchDB, in ~/.couchdb-password
 */
async function openShell (site, name, env, password) {
  const dir = path.join(site, name)
  const home = path.join(dir, 'home')
  const state = path.join(dir, 'state') // what `export` and `cd` did
  const folder = path.join(dir, 'work')
  for (const each of [home, folder]) await mkdir(each, { recursive: true })
  await writeFile(state, `cd '${folder}'\n`)
  const passwordFile = path.join(home, '.couchdb-password')
  if (password) await writeFile(passwordFile, `${password}\n`, { mode: 0o600 })
  const all = {
    PATH: `${path.join(site, 'node_modules/.bin')}${path.delimiter}${process.env.PATH}`,
    HOME: home, LANG: 'C.UTF-8', STATE: state, ...npmIn(site), ...env,
    ...(password && { COUCHDB_PASSWORD_FILE: passwordFile })
  }
  const running = []

  function begin (script) {
    const child = spawn('bash', ['-c', script], { cwd: folder, env: all, stdio: ['ignore', 'pipe', 'pipe'] })
    const said = { out: '', all: '' }
    child.stdout.setEncoding('utf8').on('data', text => { said.out += text; said.all += text })
    child.stderr.setEncoding('utf8').on('data', text => { said.all += text })
    const ended = new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, signal) => resolve(signal ?? code))
    })
    return { child, said, ended }
  }

  return {
    folder,

    /**
     * Runs a command; one that keeps running is left to run once it has printed something.
     * @param {string} command @returns {Promise<{code: number | string, output: string}>}
     */
    async type (command) {
      if (!KEEPS_RUNNING.test(command)) {
        const { said, ended } = begin(
          `. "$STATE"\n${command}\nstatus=$?; export -p > "$STATE"; printf 'cd %q\\n' "$PWD" >> "$STATE"; exit $status`
        )
        return { code: await ended, output: said.all }
      }
      const { child, said, ended } = begin(`. "$STATE"\nexec ${command}`)
      const isOver = () => child.exitCode !== null || child.signalCode !== null
      running.push(child)
      // the log of a gateway may come first, on standard error
      const isUp = () => isOver() || said.out || (/ --live\b/.test(command) && said.all)
      await until(isUp, { timeout: FIRST_LINE, what: `the first line of ${command}` })
      return { code: isOver() ? await ended : 0, output: said.all }
    },

    /** Ends what still runs, the last first: an edge before its origin. */
    async close () {
      for (const child of running.reverse()) await end(child, 'SIGTERM')
    }
  }
}
