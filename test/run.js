// npm test: lint, types, and every test that can run here. Prints what it skipped and why; the last line counts.
import { spawn } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { audit, lines } from '../.ci/audit.js'
import { findCouchDb, startCouchDb } from '../bench/couchdb.js'
import { scrub } from '../core/index.js'
import { tools } from './support/tools.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const require = createRequire(import.meta.url)
const executable = (module, name = module) => path.join(path.dirname(require.resolve(`${module}/package.json`)), require(`${module}/package.json`).bin[name] ?? require(`${module}/package.json`).bin)
const report = path.join(tmpdir(), `tilecouch-tests-${process.pid}.json`)
const totals = { passed: 0, failed: 0, skipped: 0 }
const skipped = []
const again = []

function run (args, env = {}) {
  return new Promise(resolve => {
    spawn(process.execPath, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } }).once('close', code => resolve(code === 0))
  })
}

async function check (name, args) {
  console.log(`\n== ${name}`)
  const ok = await run(args)
  totals[ok ? 'passed' : 'failed']++
  console.log(ok ? 'ok' : 'FAILED')
}

/** What npm knows to be wrong with the packages that are installed with this one, where its registry says. */
async function checkDependencies () {
  console.log('\n== dependencies')
  const result = await audit()
  for (const line of lines(result)) console.log(line)
  if (result.skipped) return skipped.push(`the audit of dependencies: ${result.skipped}`)
  totals[result.found.length ? 'failed' : 'passed']++
  console.log(result.found.length ? 'FAILED' : 'ok')
}

for (const { name, found, needed } of tools()) {
  if (found) continue
  if (process.env.CI === 'true' && needed) {
    console.log(`${name} is missing, and CI must have it`)
    totals.failed++
  } else skipped.push(`tests that need ${name}: it is not installed`)
}
// one server for every suite: the one that was named, or one of our own
const own = !process.env.COUCHDB_URL && findCouchDb() ? await startCouchDb() : null
const couchDb = process.env.COUCHDB_URL ?? own?.url
if (couchDb) {
  const { version } = await (await fetch(couchDb.replace(/\/\/.*@/, '//'))).json()
  console.log(`CouchDB ${version}: ${own ? findCouchDb() : scrub(couchDb)}`)
} else skipped.push('everything on a real CouchDB: set COUCHDB_URL or COUCHDB_BIN, or put couchdb on the PATH')
if (process.env.COUCHDB_URL && !findCouchDb()) skipped.push('killing a real CouchDB in the middle of a load: COUCHDB_URL names one that is not ours to kill, COUCHDB_BIN starts one that is')

await check('lint', [executable('eslint'), '.'])
await check('types', [executable('typescript', 'tsc'), '-p', 'tsconfig.json'])
await checkDependencies()

// In two processes: where Playwright has run, Node 20's async hooks are on, and a call of hostile design functions that
// is cut short may then end the process ("Assertion failed: (env_->execution_async_id()) == (0)").
const suites = {
  'tests in Node': ['--ignore', 'test/{client,examples,offline,viewer}/**'],
  'tests of what runs in browsers': ['--ignore', 'test/!(client|examples|offline|viewer)/**']
}
const last = Object.keys(suites).at(-1)
for (const [name, choice] of Object.entries(suites)) {
  console.log(`\n== ${name}`)
  const mocha = [executable('mocha', 'mocha'), 'test/**/*.test.js', ...choice, '--retries', '1', '--reporter', 'test/support/reporter.cjs']
  // coverage is that of both together
  const coverage = [executable('c8'), ...(name === last ? ['--clean=false'] : ['--check-coverage=false', '--reporter=none'])]
  const ok = await run([...coverage, process.execPath, ...mocha], { TILECOUCH_REPORT: report, ...(couchDb && { COUCHDB_URL: couchDb }) })
  const counted = await readFile(report, 'utf8').then(JSON.parse, () => null)
  await rm(report, { force: true })
  if (counted) for (const kind of ['passed', 'failed', 'skipped']) totals[kind] += counted[kind]
  if (!counted || counted.open || (!ok && !counted.failed)) {
    console.log(`FAILED: ${!counted ? 'the tests did not run to their end' : counted.open ? 'the tests left something open' : 'coverage is below its floor (.c8rc.json)'}`)
    totals.failed++
  }
  skipped.push(...counted?.reasons ?? [])
  again.push(...counted?.again ?? [])
}
await own?.close()

// a browser or a busy machine may be late once; what fails twice has failed, and what failed once is named
if (again.length) console.log(`\nTried a second time:\n${again.map(name => `  - ${name}`).join('\n')}`)
if (skipped.length) console.log(`\nSkipped:\n${[...new Set(skipped)].map(reason => `  - ${reason}`).join('\n')}`)
console.log(`\n${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`)
process.exitCode = totals.failed ? 1 : 0
