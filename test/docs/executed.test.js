// Runs the commands of the README, the tutorial and the task pages as a reader types them: literally, in their order,
// with the package that npm would install. Only addresses are replaced, by those of stores and servers of the test.
// TILECOUCH_DOCS=write puts the output on the embedded store into the pages.
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

const DATABASES = ['tiles', 'restored'] // databases that the pages name on a CouchDB
// a page that names a store of another operator keeps its own store in its folder
const FOREIGN_STORE = /origin:5984|maps\.example\.org\/db/
const WRITE = process.env.TILECOUCH_DOCS === 'write'
const KEEPS_RUNNING = /^tilecouch (up|serve)\b|^tilecouch .* --live\b/
const FIRST_LINE = 180000 // milliseconds: `up` loads the demo before its first line

const run = promisify(execFile)

/** Replaces the addresses of the pages by real ones, and back. */
class Addresses {
  #here = /** @type {[string, string][]} */ ([])
  #there = /** @type {[string, string][]} */ ([])

  /** @param {string} real @param {string[]} written `there` writes the first one */
  add (real, ...written) {
    for (const address of written) this.#here.push([address, real])
    this.#there.push([real, written[0]])
    for (const list of [this.#here, this.#there]) list.sort(([first], [second]) => second.length - first.length)
  }

  here = text => replaceAll(text, this.#here)
  there = text => replaceAll(text, this.#there)
}

const replaceAll = (text, pairs) => pairs.reduce((changed, [from, to]) => changed.replaceAll(from, to), text)

/** A line with placeholders for the parts that differ each time. */
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
    for (const upstream of upstreams.splice(0)) await upstream.close()
  })

  for (const [index, page] of taskPages.entries()) {
    it(`work as ${page} shows them`, async () => {
      const text = textOf(page)
      const addresses = new Addresses()
      const env = await startOthers(text, addresses)
      const { password, ...couchEnv } = backend.name === 'embedded' || FOREIGN_STORE.test(text)
        ? {} : await useCouchDb(addresses)
      const shell = await openShell(site, `${index}`, { ...env, ...couchEnv }, password)
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

  /**
   * Starts the foreign servers that a page names.
   * @returns {Promise<Record<string, string>>} environment of its commands
   */
  async function startOthers (text, addresses) {
    const port = `${await freePort()}`
    addresses.add(`127.0.0.1:${port}`, '127.0.0.1:8080', 'localhost:8080')
    const env = { TILECOUCH_PORT: port }
    if (FOREIGN_STORE.test(text)) {
      const { host, pathname } = new URL(await originStore())
      const namedAddresses =
        ['http://origin:5984/tiles', 'https://maps.example.org/db'].filter(address => text.includes(address))
      addresses.add(`http://${host}${pathname}`, ...namedAddresses)
    }
    if (!/tiles\.example\.org|maps\.example\.org\/wms/.test(text)) return env
    const upstream = await startUpstream()
    upstreams.push(upstream)
    addresses.add(`${upstream.url}/wms`, 'https://maps.example.org/wms')
    addresses.add(`${upstream.url}/xyz`, 'https://tiles.example.org')
    return { ...env, TILECOUCH_UPSTREAM_NETWORKS: upstream.host }
  }

  /** A published store with a layer `osm` that anonymous users can read. */
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
   * Puts the store of the page on the CouchDB.
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
    const { page, line, commands, code: expectedCode, prints } = block
    let output = ''
    for (const [index, command] of commands.entries()) {
      const { code, output: printed } = await shell.type(addresses.here(command))
      if (backend.name === 'embedded' && command.startsWith('tilecouch up')) {
        const [, host] = /http:\/\/(127\.0\.0\.1:\d+)\/tiles$/m.exec(printed) ?? []
        if (host) addresses.add(host, '127.0.0.1:5984', 'localhost:5984')
      }
      output += addresses.there(printed).replaceAll(shell.folder, '.')
      assert.equal(code, index === commands.length - 1 ? expectedCode : 0,
        `${page}:${line}: the exit code of ${command}\n${output}`)
    }
    if (prints && !WRITE) {
      const lines = new Set(output.split('\n').map(shape))
      const missing = prints.lines.filter(text => text.trim() && text.trim() !== '…' && !lines.has(shape(text)))
      assert.deepEqual(missing, [], `${page}:${prints.line}: it does not print this, but\n${output}`)
    }
    return output
  }
}, { timeout: 600000 })

/** Puts the output into the page. Where the page leaves out lines, only the lines that it shows are replaced. */
async function writePrinted (page, text, printed) {
  const lines = text.split('\n')
  for (const { block: { prints }, output } of printed.reverse()) { // from the end, so that line numbers stay valid
    if (!prints) continue
    const real = output.trimEnd().split('\n').map(line => line.trimEnd())
    const isWhole = !prints.lines.some(line => line.trim() === '…')
    const newLines = isWhole ? real : prints.lines.map(line => real.find(one => shape(one) === shape(line)) ?? line)
    const indent = /^ */.exec(lines[prints.line - 1])?.[0] ?? ''
    lines.splice(prints.line, prints.lines.length, ...newLines.map(line => line && indent + line))
  }
  await writeFile(path.join(root, page), lines.join('\n'))
}

/** Settings that keep npm offline, and inside the folder. @param {string} dir */
const npmIn =
  dir => ({ npm_config_offline: 'true', npm_config_update_notifier: 'false', npm_config_cache: path.join(dir, '.npm') })

/**
 * Installs the package that npm would publish, as npm does, with its declared dependencies only. They are links to
 * those of the repository, so that nothing is downloaded.
 * @returns {Promise<string>} the folder, with node_modules
 */
async function install () {
  const dir = await realpath(await mkdtemp(path.join(tmpdir(), 'tilecouch-docs-')))
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', dir],
    { cwd: root, env: { ...process.env, ...npmIn(dir) } })
  const [archive] = (await readdir(dir)).filter(name => name.endsWith('.tgz'))
  const modules = path.join(dir, 'node_modules')
  const packageFolder = path.join(modules, 'tilecouch')
  await mkdir(packageFolder, { recursive: true })
  await run('tar', ['-xzf', path.join(dir, archive), '-C', packageFolder, '--strip-components', '1'])
  const { dependencies, bin } = JSON.parse(await readFile(path.join(packageFolder, 'package.json'), 'utf8'))
  for (const name of Object.keys(dependencies)) {
    await mkdir(path.dirname(path.join(modules, name)), { recursive: true })
    await symlink(await realpath(path.join(root, 'node_modules', name)), path.join(modules, name))
  }
  await mkdir(path.join(modules, '.bin'))
  for (const [name, file] of Object.entries(bin)) {
    await chmod(path.join(packageFolder, file), 0o755)
    await symlink(path.join('../tilecouch', file), path.join(modules, '.bin', name))
  }
  return dir
}

/**
 * @param {string} site the folder of `install`
 * @param {string} name of its folder
 * @param {Record<string, string>} env of its commands, besides PATH and HOME
 * @param {string} [password] of the CouchDB, in ~/.couchdb-password
 */
async function openShell (site, name, env, password) {
  const dir = path.join(site, name)
  const home = path.join(dir, 'home')
  const state = path.join(dir, 'state') // the shell state after `export` and `cd`
  const folder = path.join(dir, 'work')
  for (const each of [home, folder]) await mkdir(each, { recursive: true })
  await writeFile(state, `cd '${folder}'\n`)
  const passwordFile = path.join(home, '.couchdb-password')
  if (password) await writeFile(passwordFile, `${password}\n`, { mode: 0o600 })
  const shellEnv = {
    PATH: `${path.join(site, 'node_modules/.bin')}${path.delimiter}${process.env.PATH}`,
    HOME: home, LANG: 'C.UTF-8', STATE: state, ...npmIn(site), ...env,
    ...(password && { COUCHDB_PASSWORD_FILE: passwordFile })
  }
  const processes = []

  function startScript (script) {
    const child = spawn('bash', ['-c', script], { cwd: folder, env: shellEnv, stdio: ['ignore', 'pipe', 'pipe'] })
    const printed = { out: '', all: '' }
    child.stdout.setEncoding('utf8').on('data', text => { printed.out += text; printed.all += text })
    child.stderr.setEncoding('utf8').on('data', text => { printed.all += text })
    const ended = new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, signal) => resolve(signal ?? code))
    })
    return { child, said: printed, ended }
  }

  return {
    folder,

    /**
     * Runs a command. A command that keeps running is left alone after its first output.
     * @param {string} command @returns {Promise<{code: number | string, output: string}>}
     */
    async type (command) {
      if (!KEEPS_RUNNING.test(command)) {
        const { said: printed, ended } = startScript(
          `. "$STATE"\n${command}\nstatus=$?; export -p > "$STATE"; printf 'cd %q\\n' "$PWD" >> "$STATE"; exit $status`
        )
        return { code: await ended, output: printed.all }
      }
      const { child, said: printed, ended } = startScript(`. "$STATE"\nexec ${command}`)
      const isOver = () => child.exitCode !== null || child.signalCode !== null
      processes.push(child)
      // a gateway may first log to standard error
      const isUp = () => isOver() || printed.out || (/ --live\b/.test(command) && printed.all)
      await until(isUp, { timeout: FIRST_LINE, what: `the first line of ${command}` })
      return { code: isOver() ? await ended : 0, output: printed.all }
    },

    /** Ends the running commands, the last one first: an edge before its origin. */
    async close () {
      for (const child of processes.reverse()) await end(child, 'SIGTERM')
    }
  }
}
