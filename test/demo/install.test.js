// What `npm start` and `npm test` install before they run, with a stand-in for npm that says how it was called.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { root } from '../../loader/couchapp/compose.js'
import { useFolder } from '../support/couch-database.js'

describe('the installation before npm start and npm test', () => {
  const folder = useFolder()

  /** Runs the script in a clone with some packages; answers what npm was called with, or nothing. */
  async function install (packages, ...options) {
    const clone = path.join(folder.dir, 'clone')
    for (const file of ['.ci/ensure-installed.js', 'server/node-version.js', 'package.json']) {
      await cp(path.join(root, file), path.join(clone, file))
    }
    await writeFile(path.join(clone, 'package-lock.json'), '{}')
    await utimes(path.join(clone, 'package-lock.json'), 1, 1)
    for (const name of packages) await mkdir(path.join(clone, 'node_modules', name), { recursive: true })
    if (packages.length) await writeFile(path.join(clone, 'node_modules/.package-lock.json'), '{}')
    const npm = path.join(folder.dir, 'npm')
    await writeFile(npm, '#!/bin/sh\necho "npm $@"\n', { mode: 0o755 })
    const env = { ...process.env, PATH: `${folder.dir}${path.delimiter}${process.env.PATH}` }
    const script = path.join(clone, '.ci/ensure-installed.js')
    const { stdout } = await promisify(execFile)(process.execPath, [script, ...options], { env })
    return /^npm (.*)$/m.exec(stdout)?.[1]
  }

  it('leaves out what only tests need before npm start, and adds it before npm test', async () => {
    assert.match(String(await install([], '--omit=dev')), /^ci --omit=dev /)
    assert.equal(await install(['commander'], '--omit=dev'), undefined)
    assert.match(String(await install(['commander'])), /^ci --no-audit /)
    assert.equal(await install(['commander', 'mocha']), undefined)
  })
})
