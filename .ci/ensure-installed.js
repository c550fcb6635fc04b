// Runs before `npm start` and `npm test`: installs the dependencies when they are missing or older than the lockfile,
// so that either command works on a fresh clone. With `--omit=dev` what only tests need is left out: a first
// `npm start` takes a third less time. Uses nothing but Node and npm.
import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isNewEnough } from '../server/node-version.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const options = process.argv.slice(2)
const modified = file => statSync(root + file, { throwIfNoEntry: false })?.mtimeMs ?? 0

if (!isNewEnough()) process.exit(1)

// npm writes node_modules/.package-lock.json at the end of an install that went well
const isCurrent = modified('node_modules/.package-lock.json') >= modified('package-lock.json')
const hasAll = options.includes('--omit=dev') || existsSync(`${root}node_modules/mocha`)

if (!isCurrent || !hasAll) {
  console.log('Installing dependencies (npm ci) …')
  const { status } = spawnSync('npm', ['ci', ...options, '--no-audit', '--no-fund', '--loglevel=error'],
    { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' })
  process.exit(status ?? 1)
}
