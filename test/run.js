// Runs the tests. `npm test`: lint, types and the fast tests. `npm run test:deep`: the groups of suites.js that take
// long, the fast tests once more with other random seeds, coverage, and an audit of the dependencies.
// `npm test -- kills` adds a deep group to the fast tests, `npm run test:deep -- kills` runs it alone.
// Prints what was skipped and why; the last line counts.
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { audit, lines } from '../.ci/audit.js'
import { findCouchDb } from '../bench/couchdb.js'
import { scrub } from '../core/index.js'
import { browserFolders, deepGroups } from './suites.js'
import { runFiles } from './support/pool.js'
import { tools } from './support/tools.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const require = createRequire(import.meta.url)
const totals = { passed: 0, failed: 0, skipped: 0 }
const skipped = new Set()
/** @type {{name: string, output: string}[]} */
const failed = []
const SHOWN = 60 // lines of what failed that are printed again at the end

const { values: { deep }, positionals: groups } = parseArgs({
  options: { deep: { type: 'boolean', default: false } }, allowPositionals: true
})
const unknown = groups.filter(group => !Object.hasOwn(deepGroups, group))
if (unknown.length) {
  console.error(`No group of tests: ${unknown.join(', ')}. There are ${Object.keys(deepGroups).join(', ')}`)
  process.exit(2)
}

/**
 * Runs a program of a package.
 * @param {string} name
 * @param {string} module
 * @param {string[]} args
 * @param {string} [program]
 */
async function check (name, module, args, program = module) {
  const { bin } = require(`${module}/package.json`)
  const script = path.join(path.dirname(require.resolve(`${module}/package.json`)), bin[program] ?? bin)
  const child = spawn(process.execPath, [script, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', text => { output += text })
  const code = await new Promise(resolve => { child.once('close', resolve) })
  count(name, { [code === 0 ? 'passed' : 'failed']: 1, output })
}

/** @param {string} name @param {{passed?: number, failed?: number, skipped?: number, output?: string}} result */
function count (name, result) {
  for (const kind of ['passed', 'failed', 'skipped']) totals[kind] += result[kind] ?? 0
  if (result.failed) {
    failed.push({ name, output: result.output ?? '' })
    console.log(`\n${result.output}`)
  }
}

/** Flaws that npm knows of the packages which an installation brings. */
async function checkDependencies () {
  const result = await audit()
  const output = lines(result).join('\n')
  if (result.skipped) skipped.add(`the audit of dependencies: ${result.skipped}`)
  else count('audit', { [result.found.length ? 'failed' : 'passed']: 1, output })
}

function checkTools () {
  for (const { name, found, needed } of tools()) {
    if (found) continue
    if (process.env.CI === 'true' && needed) {
      count(name, { failed: 1, output: `${name} is missing, and CI must have it` })
    } else skipped.add(`tests that need ${name}: it is not installed`)
  }
}

/** Says which CouchDB the tests run on. */
async function describeCouchDb () {
  const named = process.env.COUCHDB_URL
  const executable = findCouchDb()
  if (named) {
    const { version } = await (await fetch(named.replace(/\/\/.*@/, '//'))).json()
    console.log(`CouchDB ${version}: ${scrub(named)}`)
    if (!executable) skipped.add('tests that stop or kill a CouchDB: set COUCHDB_BIN to one that may be killed')
  } else if (executable) console.log(`CouchDB: ${executable}`)
  else skipped.add('everything on a real CouchDB: set COUCHDB_URL or COUCHDB_BIN, or put couchdb on the PATH')
}

/** The test files of a run. */
function chooseFiles () {
  const all = readdirSync(path.join(root, 'test'), { recursive: true })
    .map(file => `${file}`.replaceAll(path.sep, '/')).filter(file => file.endsWith('.test.js')).sort()
  const slow = Object.values(deepGroups).flat()
  const wrong = slow.filter((file, at) => !all.includes(`${file}.test.js`) || slow.indexOf(file) !== at)
  if (wrong.length) {
    const output = `test/suites.js names what is not there, or names it twice: ${wrong.join(', ')}`
    count('test/suites.js', { failed: wrong.length, output })
  }
  const nameOf = file => file.slice(0, -'.test.js'.length)
  const wanted = (groups.length || !deep ? groups : Object.keys(deepGroups)).flatMap(group => deepGroups[group])
  const fast = deep && groups.length ? [] : all.filter(file => !slow.includes(nameOf(file)))
  // the slow ones come first: at the end, no process waits for a slow file of another
  return [...all.filter(file => wanted.includes(nameOf(file))), ...fast]
}

const began = performance.now()
const minutes = ms => `${(ms / 60000).toFixed(1)} min`

/** @param {NodeJS.ProcessEnv} env */
async function runTests (env) {
  const files = chooseFiles().map(file => `test/${file}`)
  const isOfBrowsers = file => browserFolders.includes(file.split('/')[1])
  // In processes of their own: where Playwright has run, Node 20's async hooks are on, and a call of hostile design
  // functions that is cut short may then end the process ("Assertion failed: (env_->execution_async_id()) == (0)").
  const lists = [files.filter(file => !isOfBrowsers(file)), files.filter(isOfBrowsers)]
  const jobs = Math.max(2, Math.min(4, availableParallelism()))
  const times = []
  const report = ({ file, ms, ...result }, { done, files: all, left }) => {
    times.push({ file, ms })
    for (const reason of result.reasons) skipped.add(reason)
    const counts = `${result.passed} passed${result.failed ? `, ${result.failed} FAILED` : ''}`
    console.log(`${done}/${all}  ${file}: ${counts}, ${(ms / 1000).toFixed(1)} s; about ${minutes(left)} left`)
    count(file, result)
  }
  // tests in browsers change settings of the server: where all share one, they wait for the others, and for each other
  const runs = env.COUCHDB_URL ? [{ lists: [lists[0]], jobs }, { lists: [lists[1]], jobs: 1 }] : [{ lists, jobs }]
  for (const run of runs) {
    const faults = await runFiles(run.lists, { jobs: run.jobs, env, onFile: report })
    for (const output of faults) count('what tests left open', { failed: 1, output })
  }
  const slowest = times.sort((a, b) => b.ms - a.ms).slice(0, 10)
  console.log(
    `\nThe slowest files:\n${slowest.map(({ file, ms }) => `  ${(ms / 1000).toFixed(1)} s  ${file}`).join('\n')}`
  )
}

checkTools()
await describeCouchDb()
if (deep) {
  const seed = process.env.TILECOUCH_SEED ?? `${Math.floor(Math.random() * 1e6)}`
  console.log(`TILECOUCH_SEED=${seed} repeats the random tests of this run`)
  const traces = path.join(root, 'coverage/tmp') // where c8 looks for what V8 wrote
  await rm(path.join(root, 'coverage'), { recursive: true, force: true })
  await checkDependencies()
  await runTests({ ...process.env, TILECOUCH_SEED: seed, NODE_V8_COVERAGE: traces })
  if (!groups.length) await check('coverage (.c8rc.json has its floor)', 'c8', ['report', '--check-coverage'])
} else {
  await Promise.all([check('lint', 'eslint', ['.']), check('types', 'typescript', ['-p', 'tsconfig.json'], 'tsc')])
  console.log(`lint and types: ${minutes(performance.now() - began)}`)
  await runTests(process.env)
}

if (skipped.size) console.log(`\nSkipped:\n${[...skipped].map(reason => `  - ${reason}`).join('\n')}`)
for (const { name, output } of failed) {
  // once more: who reads the end of a long log sees what went wrong
  console.log(`\nFailed: ${name}\n${output.trimEnd().split('\n').slice(-SHOWN).join('\n')}`)
}
console.log(`\n${minutes(performance.now() - began)}`)
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`)
process.exitCode = totals.failed ? 1 : 0
