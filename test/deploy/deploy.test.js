// The settings of deploy/ for systemd and Compose agree with the options of the gateway. Nothing is started here.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { findCouchDb, startCouchDb } from '../../bench/couchdb.js'
import { nginxDefaults } from '../../loader/export/tree/nginx.js'
import { mirrorOptions, wantedOf } from '../../server/edge/options.js'
import { resolveOptions } from '../../server/gateway/config.js'
import { longFlag, options } from '../../server/gateway/options.js'
import { restartDefaults } from '../../server/gateway/workers/index.js'
import { commandNamed } from '../support/cli.js'
import { skip } from '../support/tools.js'
import { parseMetrics } from '../support/gateway/prometheus.js'
import { useFolder } from '../support/folder.js'

// the YAML parser of the test runner
const yaml = createRequire(createRequire(import.meta.url).resolve('mocha/package.json'))('js-yaml')
const file = name => fileURLToPath(new URL(`../../${name}`, import.meta.url))
const read = name => readFileSync(file(name), 'utf8')
const seconds = text => Number(/^(\d+)s?$/.exec(text)?.[1])

/** The longest time that the processes of a gateway need to stop. */
const longestStop = resolveOptions().grace + restartDefaults.kill / 1000

describe('deploy/compose.yaml', () => {
  const { services, volumes, networks } =
    yaml.load(read('deploy/compose.yaml'), { schema: yaml.CORE_SCHEMA.withTags(yaml.mergeTag) })
  const { couchdb, prepare, user, gateway, nginx } = services

  it('sets only variables and values that the gateway accepts', () => {
    const env = gateway.environment
    const allowed = [...options.flatMap(option => [option.env, option.fallback]), 'COUCHDB_USER', 'COUCHDB_PASSWORD']
    for (const name of Object.keys(env)) assert.ok(allowed.includes(name), name)
    for (const [name, value] of Object.entries(env)) assert.equal(typeof value, 'string', `${name} is a text`)
    const filledEnv = Object.fromEntries(Object.entries(env)
      .map(([name, value]) => [name, [1, 2].reduce(text => text.replace(/\$\{\w+:-([^{}]*)\}/, '$1'), value)]))
    const { host, port, opsHost, opsPort, workers, trustProxy, publicUrl, db } = resolveOptions({ env: filledEnv })
    assert.deepEqual({ host, port, opsHost, opsPort, workers, trustProxy, publicUrl }, {
      host: '0.0.0.0', port: 8080, opsHost: '0.0.0.0', opsPort: 9090,
      workers: 2, trustProxy: true, publicUrl: 'http://localhost:8080/'
    })
    assert.equal(new URL(db).hostname, 'couchdb')
    assert.ok(services[new URL(db).hostname])
  })

  it('points nginx, whose port alone is published, at the gateway, and keeps its cache in a volume', () => {
    const { port } = resolveOptions({ env: { TILECOUCH_PORT: gateway.environment.TILECOUCH_PORT } })
    const [, from, to, mounted] = /sed 's\/([^/]+)\/([^/]+)\/' (\S+) /.exec(nginx.command.join(' ')) ?? []
    assert.equal(to, `gateway:${port}`)
    const [source, target] = nginx.volumes[0].split(':')
    assert.equal(target, mounted)
    const configuration = read(`deploy/${source}`)
    assert.equal(configuration.split(from).length, 2, `${from} is there once`)
    assert.ok(configuration.includes(nginx.volumes[1].split(':')[1]), 'the cache is kept')
    const [, listen] = /listen (\d+);/.exec(configuration) ?? []
    assert.deepEqual(nginx.ports, [`\${PORT:-8080}:${listen}`])
    for (const [name, { ports }] of Object.entries(services)) if (name !== 'nginx') assert.equal(ports, undefined, name)
  })

  it('takes passwords from the environment, and gives neither gateway nor nginx that of the admin', () => {
    for (const { environment } of [couchdb, prepare, user]) {
      assert.equal(environment.COUCHDB_USER, 'admin')
      assert.match(environment.COUCHDB_PASSWORD, /^\$\{COUCHDB_PASSWORD:\?/)
    }
    for (const service of [gateway, nginx]) assert.doesNotMatch(JSON.stringify(service), /admin|\{COUCHDB_PASSWORD/)
    assert.deepEqual([gateway.environment.COUCHDB_USER, gateway.environment.COUCHDB_PASSWORD],
      [user.environment.GATEWAY_USER, user.environment.GATEWAY_PASSWORD])
    assert.match(gateway.environment.COUCHDB_PASSWORD, /^\$\{GATEWAY_PASSWORD:\?/)
    assert.match(read('.gitignore'), /^\.env$/m)
  })

  it('starts each service after those it depends on, checks its health, and gives it time to stop', () => {
    const conditionsOf = ({ depends_on: dependencies }) =>
      Object.entries(dependencies).map(([name, { condition }]) => [name, condition])
    assert.deepEqual([prepare, user, gateway, nginx].map(conditionsOf),
      [[['couchdb', 'service_healthy']], [['prepare', 'service_completed_successfully']],
        [['user', 'service_completed_successfully']], [['gateway', 'service_healthy']]])
    assert.ok(couchdb.healthcheck && gateway.healthcheck)
    for (const service of [prepare, user]) assert.equal(service.restart, undefined, 'it ends')
    const [address] = /http:[^']+/.exec(gateway.healthcheck.test.join(' ')) ?? []
    assert.equal(address, `http://127.0.0.1:${gateway.environment.TILECOUCH_OPS_PORT}/health`)
    assert.ok(seconds(gateway.stop_grace_period) > longestStop)
  })

  it('restricts the rights, files, memory and networks of all services', () => {
    for (const [name, service] of Object.entries(services)) {
      assert.deepEqual(service.cap_drop, ['ALL'], name)
      assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name)
      assert.match(service.mem_limit, /^\d+[mg]$/, name)
      assert.ok(service.pids_limit > 0, name)
      if (name !== 'couchdb') assert.equal(service.read_only, true, name)
      if (name !== 'nginx') assert.equal(service.cap_add, undefined, name)
    }
    assert.match(couchdb.user, /^[1-9]\d*:[1-9]\d*$/)
    assert.deepEqual([couchdb.networks, nginx.networks, networks.store],
      [['store'], ['front'], { internal: true }], 'nobody but the gateway stands between')
    const cached = nginx.volumes.map(volume => volume.split(':')[1])
    for (const folder of ['/etc/nginx/conf.d', '/run', '/tmp', '/var/cache/nginx']) {
      assert.ok([...nginx.tmpfs, ...cached].includes(folder), `nginx writes ${folder}`)
    }
  })

  it('creates a user for the gateway with no other role than the given one', async function () {
    this.timeout(60000)
    if (!findCouchDb()) return skip(this, 'no couchdb executable: set COUCHDB_BIN')
    const server = await startCouchDb()
    try {
      const { origin, username, password } = new URL(server.url)
      const admin = { COUCHDB_URL: `${origin}/tiles`, COUCHDB_USER: username, COUCHDB_PASSWORD: password }
      const makeUser = env => spawnSync(process.execPath, [file(user.entrypoint[1].replace('/app/', ''))],
        { encoding: 'utf8', env: { PATH: process.env.PATH, ...admin, ...env } })
      const session = async word => {
        const answer =
          await fetch(`${origin}/_session`, { headers: { authorization: `Basic ${btoa(`gateway:${word}`)}` } })
        return answer.ok ? (await answer.json()).userCtx : answer.status
      }
      const names = { GATEWAY_USER: user.environment.GATEWAY_USER, GATEWAY_ROLE: user.environment.GATEWAY_ROLE }
      for (const word of ['first-word', 'second-word']) {
        const { status, stderr, stdout } = makeUser({ ...names, GATEWAY_PASSWORD: word })
        assert.deepEqual([status, stderr], [0, ''])
        assert.ok(!stdout.includes(word))
        assert.deepEqual(await session(word), { name: 'gateway', roles: ['tilecouch-writer'] })
      }
      assert.equal(makeUser({ ...names, GATEWAY_ROLE: '', GATEWAY_PASSWORD: 'third-word' }).status, 0)
      assert.deepEqual(await session('third-word'), { name: 'gateway', roles: [] })
      assert.equal(await session('first-word'), 401)
      for (const env of [names, { ...names, GATEWAY_USER: username, GATEWAY_PASSWORD: 'x' }]) {
        assert.notEqual(makeUser(env).status, 0)
      }
    } finally {
      await server.close()
    }
  })

  it('runs existing commands, from an image with all files and volumes that they need', async () => {
    for (const { command: [name, ...args] } of [prepare, gateway]) {
      const command = await commandNamed(name)
      assert.ok(command, name)
      for (const flag of args) assert.ok(command.options.some(({ long }) => long === flag), flag)
    }
    assert.ok(user.entrypoint[1].startsWith('/app/deploy/') &&
      read('deploy/Dockerfile.dockerignore').includes(`\n!${user.entrypoint[1].slice('/app/'.length)}\n`))
    const image = read(`deploy/${gateway.build.dockerfile.replace('deploy/', '')}`)
    const ignored = read('deploy/Dockerfile.dockerignore')
    const { files, engines } = JSON.parse(read('package.json'))
    // bundles and files for other users, and a file that would name another database than the environment
    const unusedFiles = ['bundles', 'dist', 'deploy', 'CHANGELOG.md', '.couchapprc']
    for (const name of files.filter(entry => !unusedFiles.includes(entry))) {
      assert.match(image, new RegExp(`^COPY ${name} ${name}$`, 'm'))
      assert.match(ignored, new RegExp(`^!${name}$`, 'm'))
    }
    assert.match(image, /^RUN npm run prepack$/m) // makes the bundles
    assert.doesNotMatch(image, /couchapprc \./)
    assert.ok(Number(/^FROM node:(\d+)/m.exec(image)?.[1]) >= Number(/\d+/.exec(engines.node)?.[0]))
    assert.match(image, /^USER node$/m)
    assert.ok(
      image.includes(`COPY ${user.entrypoint[1].slice('/app/'.length)} ${user.entrypoint[1].slice('/app/'.length)}\n`)
    )
    const volumeNames = Object.values(services).flatMap(service => service.volumes ?? [])
      .map(volume => volume.split(':')[0]).filter(name => !name.startsWith('.'))
    assert.deepEqual(volumeNames.sort(), Object.keys(volumes).sort())
  })
})

const linesOf = name => read(`deploy/${name}`).split('\n').filter(line => line && !line.startsWith('#'))
/** The settings of a systemd unit. */
const settingsOf = name =>
  Object.fromEntries(linesOf(name).filter(line => line.includes('=')).map(line => line.split(/=(.*)/s, 2)))
const timers = readdirSync(file('deploy')).filter(name => name.endsWith('.timer'))
const TASKS = ['backup', 'check', 'doctor', 'prune', 'seed']
const INSTANCES = {
  'tilecouch-care@': [...timers, ...TASKS.map(task => `tilecouch-care@${task}.service`)],
  'tilecouch-tree@': ['tilecouch-tree@osm.service']
}

for (const unit of ['tilecouch', 'tilecouch-edge', 'tilecouch-care@', 'tilecouch-tree@']) {
  describe(`deploy/${unit}.service`, () => {
    const folder = useFolder()
    const service = settingsOf(`${unit}.service`)

    it('has only sections and settings, without comments at the end of a line', () => {
      for (const line of linesOf(`${unit}.service`)) {
        assert.match(line, /^(\[\w+\]|\w+=.*)$/)
        assert.doesNotMatch(line, /\s#/, 'a comment has a line of its own')
      }
    })

    it('passes systemd-analyze verify, with an exposure level below 2', function () {
      const copies = (INSTANCES[unit] ?? [`${unit}.service`]).map(name => folder.path(name))
      for (const copy of copies) copyFileSync(file(`deploy/${path.basename(copy).replace(/@\w+/, '@')}`), copy)
      const verify = spawnSync('systemd-analyze', ['verify', ...copies], { encoding: 'utf8' })
      if (verify.error) skip(this, 'systemd-analyze is not installed')
      assert.deepEqual([verify.stderr, verify.stdout, verify.status], ['', '', 0])
      const rated = ['security', '--offline=true', String(copies.at(-1))]
      const { stdout } = spawnSync('systemd-analyze', rated, { encoding: 'utf8' })
      assert.ok(Number(/exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1]) < 2, stdout)
    })

    if (unit !== 'tilecouch-tree@') it('limits its memory, and denies the metadata addresses of clouds', () => {
      assert.match(service.MemoryMax, /^\d+G$/)
      assert.match(service.IPAddressDeny, /^169\.254\.0\.0\/16/)
    })

    if (unit.endsWith('@')) it('writes files that others can read, as a static user', () => {
      assert.deepEqual([service.UMask, service.User, service.DynamicUser], ['0022', unit.slice(0, -1), undefined],
        'the folders of a dynamic user are closed to others')
    })
  })
}

const gateways = [['tilecouch', 'gateway.json', options], ['tilecouch-edge', 'edge.json', mirrorOptions]]
for (const [unit, config, table] of gateways) describe(`deploy/${unit}.service for a gateway`, () => {
  const service = settingsOf(`${unit}.service`)

  it('runs its command with existing options and variables', () => {
    const [, ...words] = / tilecouch (.*)$/.exec(service.ExecStart)?.[0].trim().split(' ') ?? []
    assert.equal(words[0], 'serve')
    for (const flag of words.filter(word => word.startsWith('--'))) {
      assert.ok(table.some(option => longFlag(option) === flag), flag)
    }
    for (const variable of service.Environment.split(' ')) {
      const [name] = variable.split('=')
      assert.ok(name === 'NODE_ENV' || table.some(({ env }) => env === name), name)
    }
    const [credential, source] = service.LoadCredential.split(':')
    assert.ok(service.ExecStart.endsWith(`%d/${credential}`))
    assert.equal(source, `/etc/tilecouch/${config}`)
  })

  it('restricts the gateway, but allows what Node needs, and enough time to stop by itself', () => {
    for (const name of ['DynamicUser', 'NoNewPrivileges', 'PrivateTmp', 'PrivateDevices', 'ProtectHome',
      'ProtectKernelModules', 'RestrictNamespaces', 'LockPersonality']) assert.equal(service[name], 'yes', name)
    const { ProtectSystem, CapabilityBoundingSet, MemoryDenyWriteExecute, KillMode } = service
    assert.deepEqual([ProtectSystem, CapabilityBoundingSet, MemoryDenyWriteExecute, KillMode],
      ['strict', '', undefined, 'mixed'])
    assert.ok(Number(service.TasksMax) > 0)
    assert.ok(seconds(service.TimeoutStopSec) > longestStop)
  })
})

describe('deploy/gateway.json', () => {
  it('is a configuration that the gateway accepts', () => {
    const resolved = resolveOptions({ file: JSON.parse(read('deploy/gateway.json')) })
    assert.deepEqual([resolved.port, resolved.workers, resolved.memory, resolved.trustProxy], [8080, 2, 512e6, true])
    // its password is in a separate file
    const unit = read('deploy/tilecouch.service')
    const [, credential] = /^LoadCredential=([\w-]+):\/etc\/tilecouch\/couchdb-password$/m.exec(unit) ?? []
    assert.match(unit, new RegExp(`^Environment=COUCHDB_PASSWORD_FILE=%d/${credential}$`, 'm'))
    assert.equal(new URL(resolved.db).username, 'gateway')
  })
})

describe('deploy/edge.json', () => {
  it('is a configuration that an edge accepts', async () => {
    const resolved = resolveOptions({ table: mirrorOptions, file: JSON.parse(read('deploy/edge.json')) })
    assert.deepEqual([resolved.from, resolved.layer, resolved.maxLag, resolved.upstream],
      ['https://maps.example.org/db', ['osm'], 3600, false])
    const { layers, zooms, area } = await wantedOf(resolved)
    assert.deepEqual([layers, zooms, area?.bbox], [['osm'], { min: 0, max: 14 }, [13, 52.3, 13.8, 52.7]])
  })
})

// The timers of deploy/ run commands with options that exist, and record when they were done.

const care = settingsOf('tilecouch-care@.service')

/** The variables that systemd reads from a file. */
const env = Object.fromEntries(linesOf('care.env').map(line => line.split(/=(.*)/s, 2))
  .map(([name, value]) => [name, value.replace(/^'(.*)'$/, '$1')]))

/** A line of the unit, as the shell of an instance receives it. */
const shellOf = (line, task, state) => /^\/bin\/sh -c '(.*)'$/.exec(line)?.[1].replaceAll('%i', task)
  .replaceAll('%S', state).replaceAll('%%', '%').replaceAll('$$', '$').replaceAll('\\\\', '\\') ?? ''

describe('deploy/tilecouch-care@.service by the clock', () => {
  const folder = useFolder()

  it('runs each command with existing options', async () => {
    assert.deepEqual(Object.keys(env).filter(name => name.startsWith('ARGS_')).sort(),
      TASKS.map(task => `ARGS_${task}`))
    // runs the line as systemd and the shell do, with a command that prints its arguments
    const bin = folder.path('tilecouch')
    writeFileSync(bin, '#!/bin/sh\nfor word in "$@"; do printf "%s\\n" "$word"; done\n', { mode: 0o755 })
    for (const task of TASKS) {
      const { stdout, stderr } = spawnSync('/bin/sh', ['-c', shellOf(care.ExecStart, task, folder.dir)],
        { encoding: 'utf8', env: { ...env, PATH: `${folder.dir}:/usr/bin:/bin` } })
      assert.equal(stderr, '')
      const [name, ...words] = stdout.trim().split('\n')
      assert.equal(name, task)
      const command = await commandNamed(name)
      assert.ok(command, task)
      for (const flag of words.filter(word => word.startsWith('--'))) {
        assert.ok(command.options.some(({ long }) => long === flag), `${task} ${flag}`)
      }
      if (task === 'backup') assert.match(words[0], /^\/var\/backups\/tilecouch\/tiles-\d{4}-\d\d-\d\dT\d{4}Z\.tcb$/)
      if (task === 'doctor') assert.ok(words.includes(`/var/lib/${care.StateDirectory}/doctor.prom`))
    }
    assert.ok(care.ReadWritePaths.includes('/var/backups/tilecouch'))
  })

  it('writes the time of the last success of a command for node_exporter', () => {
    mkdirSync(folder.path('tilecouch-care'))
    const { stderr, status } =
      spawnSync('/bin/sh', ['-c', shellOf(care.ExecStartPost, 'prune', folder.dir)], { encoding: 'utf8' })
    assert.deepEqual([stderr, status], ['', 0])
    assert.deepEqual(readdirSync(folder.path('tilecouch-care')), ['prune.prom'])
    const { type, samples } = parseMetrics(readFileSync(folder.path('tilecouch-care/prune.prom'), 'utf8'))
      .get('tilecouch_task_success_timestamp_seconds') ?? { samples: [] }
    assert.equal(type, 'gauge')
    assert.deepEqual(samples.map(({ labels }) => labels), [{ task: 'prune' }])
    assert.ok(Math.abs(samples[0].value - Date.now() / 1000) < 60)
  })

  it('is started by timers, each at a time that systemd understands', function () {
    assert.deepEqual(timers.map(name => /^tilecouch-(\w+)\.timer$/.exec(name)?.[1]), TASKS)
    for (const [index, name] of timers.entries()) {
      const timer = settingsOf(name)
      assert.deepEqual([timer.Unit, timer.WantedBy], [`tilecouch-care@${TASKS[index]}.service`, 'timers.target'])
      const { error, status, stderr } =
        spawnSync('systemd-analyze', ['calendar', timer.OnCalendar], { encoding: 'utf8' })
      if (error) skip(this, 'systemd-analyze is not installed')
      assert.equal(status, 0, stderr)
    }
  })
})

describe('deploy/tilecouch-tree@.service for nginx', () => {
  const { ExecStart, ReadWritePaths } = settingsOf('tilecouch-tree@.service')

  it('runs a command that exists, with its options, into the folder of nginx; its variables are read', async () => {
    const [, name, layer, root, flags] = /tilecouch (\S+) (\S+) (\S+) (.*)$/.exec(ExecStart) ?? []
    assert.deepEqual([name, layer, root, ReadWritePaths], ['export', '%i', nginxDefaults.root, nginxDefaults.root])
    const command = await commandNamed(name)
    for (const flag of flags.split(' ')) assert.ok(command?.options.some(({ long }) => long === flag), flag)
    assert.deepEqual(read('deploy/tree.env').split('\n').flatMap(line => /^#?([A-Z_]+)=/.exec(line)?.[1] ?? []),
      ['COUCHDB_URL', 'COUCHDB_USER', 'COUCHDB_PASSWORD'])
  })
})
