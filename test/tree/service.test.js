// What deploy/ tells systemd of trees agrees with what the command takes, and lets it do what it needs.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { nginxDefaults } from '../../loader/export/tree/nginx.js'
import { commandNamed } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { skip } from '../support/tools.js'

const file = name => fileURLToPath(new URL(`../../deploy/${name}`, import.meta.url))
const lines = readFileSync(file('tilecouch-tree@.service'), 'utf8')
  .split('\n').filter(line => line && !line.startsWith('#'))
const service = Object.fromEntries(lines.filter(line => line.includes('=')).map(line => line.split(/=(.*)/s, 2)))

describe('deploy/tilecouch-tree@.service', () => {
  const folder = useFolder()

  it('runs a command that exists, with its options, into the folder that nginx serves', async () => {
    const [, name, layer, root, ...flags] = /tilecouch (\S+) (\S+) (\S+) (.*)$/.exec(service.ExecStart)?.flatMap(
      (part, at) => at === 4 ? part.split(' ') : part
    ) ?? []
    const command = await commandNamed(name)
    assert.deepEqual([name, layer, root], ['export', '%i', nginxDefaults.root])
    for (const flag of flags) assert.ok(command?.options.some(({ long }) => long === flag), flag)
    assert.equal(service.ReadWritePaths, root)
  })

  it('writes files that nginx may read, as a fixed user', () => {
    assert.equal(service.UMask, '0022')
    assert.equal(service.User, 'tilecouch-tree')
    assert.equal(service.DynamicUser, undefined, 'its folders are closed to others')
  })

  it('names the store by variables that the command reads', () => {
    const variables = readFileSync(file('tree.env'), 'utf8').split('\n')
      .flatMap(line => /^#?([A-Z_]+)=/.exec(line)?.[1] ?? [])
    assert.deepEqual(variables, ['COUCHDB_URL', 'COUCHDB_USER', 'COUCHDB_PASSWORD'])
  })

  it('passes systemd-analyze verify, with an exposure level below 2', function () {
    const unit = path.join(folder.dir, 'tilecouch-tree@osm.service')
    copyFileSync(file('tilecouch-tree@.service'), unit)
    const verify = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })
    if (verify.error) skip(this, 'systemd-analyze is not installed')
    assert.deepEqual([verify.stderr, verify.stdout, verify.status], ['', '', 0])
    const security = spawnSync('systemd-analyze', ['security', '--offline=true', unit], { encoding: 'utf8' })
    assert.ok(Number(/exposure level for \S+: ([\d.]+)/.exec(security.stdout)?.[1]) < 2, security.stdout)
  })

  it('has only sections and settings, without comments at the end of a line', () => {
    for (const line of lines) {
      assert.match(line, /^(\[\w+\]|\w+=.*)$/)
      assert.doesNotMatch(line, /\s#/, 'a comment has a line of its own')
    }
  })
})
