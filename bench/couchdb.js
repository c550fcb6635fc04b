// Starts a CouchDB for a test or benchmark, from COUCHDB_BIN or a `couchdb` on the PATH, on a free port and with a
// temporary data folder. It can be killed and started again on the same data.
import { spawn } from 'node:child_process'
import { accessSync, constants, realpathSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { end, freePort, until } from './wait.js'

const ADMIN = { name: 'admin', password: 'test' }

/** The path of the couchdb executable, or undefined. */
export function findCouchDb (env = process.env) {
  const candidates =
    [env.COUCHDB_BIN, ...(env.PATH ?? '').split(path.delimiter).map(folder => path.join(folder, 'couchdb'))]
  return candidates.find(file => {
    try {
      if (!file) return false
      accessSync(file, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

const hex = () => Array.from({ length: 32 }, () => Math.floor(Math.random() * 16).toString(16)).join('')

/** Settings that all nodes of a cluster share. */
export const newCluster = async () => ({ distribution: await freePort(), cookie: hex(), uuid: hex(), secret: hex() })

/**
 * @param {string} [bin]
 * @param {object} [options]
 * @param {string} [options.settings] more lines for its ini file
 * @param {string} [options.host] the address it listens on, also in the name of its node in a cluster
 * @param {string[]} [options.prefix] a command that runs it, such as `ip netns exec NAME`
 * @param {Awaited<ReturnType<typeof newCluster>>} [options.cluster] the cluster that this node joins; it then starts
 *   without databases, also without the system databases
 */
export async function startCouchDb (bin = findCouchDb(),
  { settings = '', host = '127.0.0.1', prefix = [], cluster } = {}) {
  if (!bin) throw new Error('no couchdb executable: set COUCHDB_BIN')
  const executable = bin
  const home = path.dirname(path.dirname(realpathSync(bin)))
  const dir = await mkdtemp(path.join(tmpdir(), 'tilecouch-couchdb-'))
  const port = await freePort()
  const distribution = cluster?.distribution ?? await freePort()
  const nodeHost = cluster ? host : '127.0.0.1' // the address at which nodes talk to each other
  await mkdir(path.join(dir, 'data'))
  await writeFile(path.join(dir, 'own.ini'), `[couchdb]
single_node = ${!cluster}
uuid = ${cluster?.uuid ?? hex()}
database_dir = ${dir}/data
view_index_dir = ${dir}/data
[chttpd]
port = ${port}
bind_address = ${host}
[chttpd_auth]
secret = ${cluster?.secret ?? hex()}
[chttpd_auth_lockout]
; many wrong passwords come from one address, and the admin's name is everybody's
mode = off
[admins]
${ADMIN.name} = ${ADMIN.password}
[log]
writer = file
file = ${dir}/couchdb.log
level = warning
[dreyfus]
; without a name server, looking for the search node would end at this very node and wait: let it be refused at once
name = clouseau@127.0.0.254
${settings}
`)
  // Each node has its own name and distribution port. No name server keeps running after the test.
  await writeFile(path.join(dir, 'vm.args'), `-name ${cluster ? 'couchdb' : `tilecouch${port}`}@${nodeHost}
${cluster ? `-setcookie ${cluster.cookie}\n` : ''}-kernel inet_dist_use_interface {${nodeHost.replaceAll('.', ',')}}
-start_epmd false
-erl_epmd_port ${distribution}
-kernel error_logger silent
-sasl sasl_error_logger false
+SDio 16
+Bd -noinput
`)
  const url = `http://${ADMIN.name}:${ADMIN.password}@${host}:${port}`
  let child

  async function start () {
    child = spawn(prefix[0] ?? executable, prefix.length ? [...prefix.slice(1), executable] : [], {
      env: {
        ...process.env, COUCHDB_INI_FILES: `${home}/etc/default.ini ${dir}/own.ini`, COUCHDB_ARGS_FILE: `${dir}/vm.args`
      },
      stdio: 'ignore'
    })
    const startedProcess = child
    await until(async () => {
      if (startedProcess.exitCode !== null) throw new Error(`couchdb ended with ${startedProcess.exitCode}`)
      const answer = await fetch(`http://${host}:${port}/_up`).catch(() => null)
      if (cluster) return answer?.ok
      // CouchDB creates the system databases shortly after its first answer.
      return answer?.ok &&
        (await fetch(`${url.replace(/\/\/.*@/, '//')}/_users`,
          { headers: { authorization: `Basic ${btoa(`${ADMIN.name}:${ADMIN.password}`)}` } })).ok
    }, { timeout: 30000, what: 'couchdb to answer' })
  }

  await start()
  return {
    url,
    port,
    dir,
    start,
    kill: () => end(child, 'SIGKILL'),
    /** Stops the process: it neither answers nor closes connections until `thaw`. */
    freeze: () => child.kill('SIGSTOP'),
    thaw: () => child.kill('SIGCONT'),
    async close () {
      await end(child, 'SIGTERM')
      await rm(dir, { recursive: true, force: true, maxRetries: 5 })
    }
  }
}
