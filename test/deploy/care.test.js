// What deploy/ tells systemd to do by the clock agrees with what the commands take, and says afterwards when it was
// done.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseMetrics } from '../support/gateway/prometheus.js'
import { commandNamed } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { skip } from '../support/tools.js'

const file = name => fileURLToPath(new URL(`../../deploy/${name}`, import.meta.url))
const linesOf = name => readFileSync(file(name), 'utf8').split('\n').filter(line => line && !line.startsWith('#'))
const lines = linesOf('tilecouch-care@.service')
const service = Object.fromEntries(lines.filter(line => line.includes('=')).map(line => line.split(/=(.*)/s, 2)))
const timers = readdirSync(file('.')).filter(name => name.endsWith('.timer'))
const TASKS = ['backup', 'check', 'doctor', 'prune', 'seed']

/** The variables that systemd reads of a file. */
const env = Object.fromEntries(linesOf('care.env').map(line => line.split(/=(.*)/s, 2))
  .map(([name, value]) => [name, value.replace(/^'(.*)'$/, '$1')]))

/** A line of the unit as the shell of an instance gets it. */
const shellOf = (line, task, state) => /^\/bin\/sh -c '(.*)'$/.exec(line)?.[1].replaceAll('%i', task)
  .replaceAll('%S', state).replaceAll('%%', '%').replaceAll('$$', '$').replaceAll('\\\\', '\\') ?? ''

describe('deploy/tilecouch-care@.service', () => {
  const folder = useFolder()

  it('runs each command with existing options', async () => {
    assert.deepEqual(Object.keys(env).filter(name => name.startsWith('ARGS_')).sort(),
      TASKS.map(task => `ARGS_${task}`))
    // as systemd and the shell would, with a command that tells what it was given
    const bin = path.join(folder.dir, 'tilecouch')
    writeFileSync(bin, '#!/bin/sh\nfor word in "$@"; do printf "%s\\n" "$word"; done\n', { mode: 0o755 })
    for (const task of TASKS) {
      const { stdout, stderr } = spawnSync('/bin/sh', ['-c', shellOf(service.ExecStart, task, folder.dir)],
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
      if (task === 'doctor') assert.ok(words.includes(`/var/lib/${service.StateDirectory}/doctor.prom`))
    }
    assert.ok(service.ReadWritePaths.includes('/var/backups/tilecouch'))
  })

  it('writes the time of the last success of a command for node_exporter', () => {
    mkdirSync(path.join(folder.dir, 'tilecouch-care'))
    const { stderr, status } =
      spawnSync('/bin/sh', ['-c', shellOf(service.ExecStartPost, 'prune', folder.dir)], { encoding: 'utf8' })
    assert.deepEqual([stderr, status], ['', 0])
    assert.deepEqual(readdirSync(path.join(folder.dir, 'tilecouch-care')), ['prune.prom'])
    const { type, samples } = parseMetrics(readFileSync(path.join(folder.dir, 'tilecouch-care/prune.prom'), 'utf8'))
      .get('tilecouch_task_success_timestamp_seconds') ?? { samples: [] }
    assert.equal(type, 'gauge')
    assert.deepEqual(samples.map(({ labels }) => labels), [{ task: 'prune' }])
    assert.ok(Math.abs(samples[0].value - Date.now() / 1000) < 60)
  })

  it('is started by timers, each at a time that systemd understands', function () {
    assert.deepEqual(timers.map(name => /^tilecouch-(\w+)\.timer$/.exec(name)?.[1]), TASKS)
    for (const [at, name] of timers.entries()) {
      const timer =
        Object.fromEntries(linesOf(name).filter(line => line.includes('=')).map(line => line.split(/=(.*)/s, 2)))
      assert.equal(timer.Unit, `tilecouch-care@${TASKS[at]}.service`)
      assert.equal(timer.WantedBy, 'timers.target')
      const { error, status, stderr } =
        spawnSync('systemd-analyze', ['calendar', timer.OnCalendar], { encoding: 'utf8' })
      if (error) skip(this, 'systemd-analyze is not installed')
      assert.equal(status, 0, stderr)
    }
  })

  it('passes systemd-analyze verify, with an exposure level below 2', function () {
    const units =
      [...timers, ...TASKS.map(task => `tilecouch-care@${task}.service`)].map(name => path.join(folder.dir, name))
    for (const unit of units) copyFileSync(file(path.basename(unit).replace(/@\w+/, '@')), unit)
    const verify = spawnSync('systemd-analyze', ['verify', ...units], { encoding: 'utf8' })
    if (verify.error) skip(this, 'systemd-analyze is not installed')
    assert.deepEqual([verify.stderr, verify.stdout, verify.status], ['', '', 0])
    const security =
      spawnSync('systemd-analyze', ['security', '--offline=true', units.at(-1) ?? ''], { encoding: 'utf8' })
    assert.ok(Number(/exposure level for \S+: ([\d.]+)/.exec(security.stdout)?.[1]) < 2, security.stdout)
  })

  it('limits its memory, and denies the metadata addresses of clouds', () => {
    assert.match(service.MemoryMax, /^\d+G$/)
    assert.match(service.IPAddressDeny, /^169\.254\.0\.0\/16/)
  })

  it('writes files that node_exporter can read, as a static user', () => {
    assert.equal(service.UMask, '0022')
    assert.equal(service.User, 'tilecouch-care')
    assert.equal(service.DynamicUser, undefined, 'its folders are closed to others')
  })
})
