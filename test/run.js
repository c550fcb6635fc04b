// npm test: lint, types, and every test that can run here. Prints what it skipped and why; the last line counts.
import { spawn } from 'node:child_process'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
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
const totals = { passed: 0, failed: 0, skipped: 0 }
const skipped = []
const again = []

/**
 * @param {string[]} args @param {Record<string, string | undefined>} [env]
 * @param {string} [file] that gets what it prints
 */
async function run (args, env = {}, file) {
  const to = file ? await open(file, 'w') : undefined
  const stdio = /** @type {import('node:child_process').StdioOptions} */ (to ? ['ignore', to.fd, to.fd] : 'inherit')
  const code = await new Promise(resolve => { spawn(process.execPath, args, { cwd: root, stdio, env: { ...process.env, ...env } }).once('close', resolve) })
  await to?.close()
  return code === 0
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
const named = process.env.COUCHDB_URL
const couchDb = findCouchDb()
if (named) {
  const { version } = await (await fetch(named.replace(/\/\/.*@/, '//'))).json()
  console.log(`CouchDB ${version}: ${scrub(named)}`)
  if (!couchDb) skipped.push('killing a real CouchDB in the middle of a load: COUCHDB_URL names one that is not ours to kill, COUCHDB_BIN starts one that is')
} else if (!couchDb) skipped.push('everything on a real CouchDB: set COUCHDB_URL or COUCHDB_BIN, or put couchdb on the PATH')

await check('lint', [executable('eslint'), '.'])
await check('types', [executable('typescript', 'tsc'), '-p', 'tsconfig.json'])
await checkDependencies()

// In two processes: where Playwright has run, Node 20's async hooks are on, and a call of hostile design functions that
// is cut short may then end the process ("Assertion failed: (env_->execution_async_id()) == (0)").
const suites = {
  'tests in Node': ['--ignore', 'test/{client,examples,offline,viewer}/**'],
  'tests of what runs in browsers': ['--ignore', 'test/!(client|examples|offline|viewer)/**']
}
const traces = path.join(root, 'coverage/tmp') // where c8 looks for what V8 wrote
await rm(path.join(root, 'coverage'), { recursive: true, force: true })

/** @param {string} name @param {string} [file] that gets what it prints */
async function runSuite (name, file) {
  const own = !named && couchDb ? await startCouchDb() : null
  if (own) console.log(`${name}: CouchDB ${(await (await fetch(`http://127.0.0.1:${own.port}`)).json()).version}, ${couchDb}`)
  const report = path.join(work, `${Object.keys(suites).indexOf(name)}.json`)
  const ok = await run([executable('mocha', 'mocha'), 'test/**/*.test.js', ...suites[name], '--retries', '1', '--reporter', 'test/support/reporter.cjs'],
    { TILECOUCH_REPORT: report, NODE_V8_COVERAGE: traces, ...(own && { COUCHDB_URL: own.url }) }, file)
  await own?.close()
  return { name, ok, counted: await readFile(report, 'utf8').then(JSON.parse, () => null) }
}

function count ({ name, ok, counted }) {
  if (counted) for (const kind of ['passed', 'failed', 'skipped']) totals[kind] += counted[kind]
  if (!counted || counted.open || (!ok && !counted.failed)) {
    console.log(`FAILED: ${name}: ${!counted ? 'they did not run to their end' : counted.open ? 'something was left open' : 'their process failed'}`)
    totals.failed++
  }
  skipped.push(...counted?.reasons ?? [])
  again.push(...counted?.again ?? [])
}

const work = await mkdtemp(path.join(tmpdir(), 'tilecouch-tests-'))
const [inNode, inBrowsers] = Object.keys(suites)
const printed = path.join(work, 'printed')
// Side by side, since each of them waits as long as it works; but not on one server, whose settings both change.
const beside = named ? undefined : runSuite(inBrowsers, printed)
console.log(`\n== ${inNode}`)
count(await runSuite(inNode))
console.log(`\n== ${inBrowsers}`)
const other = await (beside ?? runSuite(inBrowsers))
if (beside) process.stdout.write(await readFile(printed, 'utf8'))
count(other)
await rm(work, { recursive: true, force: true })
await check('coverage of both (.c8rc.json has its floor)', [executable('c8'), 'report', '--check-coverage'])

// a browser or a busy machine may be late once; what fails twice has failed, and what failed once is named
if (again.length) console.log(`\nTried a second time:\n${again.map(name => `  - ${name}`).join('\n')}`)
if (skipped.length) console.log(`\nSkipped:\n${[...new Set(skipped)].map(reason => `  - ${reason}`).join('\n')}`)
console.log(`\n${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`)
process.exitCode = totals.failed ? 1 : 0
