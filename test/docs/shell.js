// An installed tilecouch, and a shell in an empty folder to type commands into.
import { execFile, spawn } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, readdir, realpath, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { end, until } from '../../bench/wait.js'
import { root } from './pages.js'

const run = promisify(execFile)

const KEEPS_RUNNING = /^tilecouch (up|serve)\b|^tilecouch .* --live\b/
const FIRST_LINE = 180000 // milliseconds: `up` loads the demo before it

/** npm stays offline, and writes nothing outside of the folder. @param {string} dir */
const npmIn =
  dir => ({ npm_config_offline: 'true', npm_config_update_notifier: 'false', npm_config_cache: path.join(dir, '.npm') })

/**
 * Installs the package that npm would publish, as npm does. Only the dependencies that it declares are there; they are
 * links to those of the repository, so that nothing is downloaded.
 * @returns {Promise<string>} the folder, with node_modules
 */
export async function install () {
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
export async function openShell (site, name, env, password) {
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
