// Runs the tests. `npm test`: lint, types and the fast tests. `npm run test:deep`: the slow groups of suites.js, the
// fast tests again with other random seeds, coverage, and an audit of the dependencies. `npm test -- kills` adds a deep
// group to the fast tests, `npm run test:deep -- kills` runs it alone. At the end it prints the skipped tests with
// reasons, and the counts.
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
const SHOWN = 60 // lines of failed tests that are printed again at the end

const { values: { deep }, positionals: groups } = parseArgs({
  options: { deep: { type: 'boolean', default: false } }, allowPositionals: true
})
const unknownGroups = groups.filter(group => !Object.hasOwn(deepGroups, group))
if (unknownGroups.length) {
  console.error(`No group of tests: ${unknownGroups.join(', ')}. There are ${Object.keys(deepGroups).join(', ')}`)
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

/** Checks the installed packages for vulnerabilities that npm knows. */
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
  const couchdbUrl = process.env.COUCHDB_URL
  const executable = findCouchDb()
  if (couchdbUrl) {
    const { version } = await (await fetch(couchdbUrl.replace(/\/\/.*@/, '//'))).json()
    console.log(`CouchDB ${version}: ${scrub(couchdbUrl)}`)
    if (!executable) skipped.add('tests that stop or kill a CouchDB: set COUCHDB_BIN to one that may be killed')
  } else if (executable) console.log(`CouchDB: ${executable}`)
  else skipped.add('everything on a real CouchDB: set COUCHDB_URL or COUCHDB_BIN, or put couchdb on the PATH')
}

/** The test files of a run. */
function chooseFiles () {
  const allFiles = readdirSync(path.join(root, 'test'), { recursive: true })
    .map(file => `${file}`.replaceAll(path.sep, '/')).filter(file => file.endsWith('.test.js')).sort()
  const slow = Object.values(deepGroups).flat()
  const wrongNames = slow.filter((file, index) => !allFiles.includes(`${file}.test.js`) || slow.indexOf(file) !== index)
  if (wrongNames.length) {
    const output = `test/suites.js names what is not there, or names it twice: ${wrongNames.join(', ')}`
    count('test/suites.js', { failed: wrongNames.length, output })
  }
  const nameOf = file => file.slice(0, -'.test.js'.length)
  const chosenNames = (groups.length || !deep ? groups : Object.keys(deepGroups)).flatMap(group => deepGroups[group])
  const fast = deep && groups.length ? [] : allFiles.filter(file => !slow.includes(nameOf(file)))
  // slow files first, so that no process waits for a slow file at the end
  return [...allFiles.filter(file => chosenNames.includes(nameOf(file))), ...fast]
}

const runStart = performance.now()
const minutes = ms => `${(ms / 60000).toFixed(1)} min`

/** @param {NodeJS.ProcessEnv} env */
async function runTests (env) {
  const files = chooseFiles().map(file => `test/${file}`)
  const isBrowserFile = file => browserFolders.includes(file.split('/')[1])
  // Browser tests run in separate processes. After Playwright has run, the async hooks of Node 20 are on. A hostile
  // design function that is cut short may then end the process ("Assertion failed: (env_->execution_async_id()) ==
  // (0)").
  const lists = [files.filter(file => !isBrowserFile(file)), files.filter(isBrowserFile)]
  const jobs = Math.max(2, Math.min(4, availableParallelism()))
  const times = []
  const report = ({ file, ms, ...result }, { done, files: total, left }) => {
    times.push({ file, ms })
    for (const reason of result.reasons) skipped.add(reason)
    const counts = `${result.passed} passed${result.failed ? `, ${result.failed} FAILED` : ''}`
    console.log(`${done}/${total}  ${file}: ${counts}, ${(ms / 1000).toFixed(1)} s; about ${minutes(left)} left`)
    count(file, result)
  }
  // Browser tests change settings of the server. On a shared server they run after the others, and one at a time.
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
  const traces = path.join(root, 'coverage/tmp') // the folder in which c8 looks for the output of V8
  await rm(path.join(root, 'coverage'), { recursive: true, force: true })
  await checkDependencies()
  await runTests({ ...process.env, TILECOUCH_SEED: seed, NODE_V8_COVERAGE: traces })
  if (!groups.length) await check('coverage (.c8rc.json has its floor)', 'c8', ['report', '--check-coverage'])
} else {
  await Promise.all([check('lint', 'eslint', ['.']), check('types', 'typescript', ['-p', 'tsconfig.json'], 'tsc')])
  console.log(`lint and types: ${minutes(performance.now() - runStart)}`)
  await runTests(process.env)
}

if (skipped.size) console.log(`\nSkipped:\n${[...skipped].map(reason => `  - ${reason}`).join('\n')}`)
for (const { name, output } of failed) {
  // again, for readers of the end of a long log
  console.log(`\nFailed: ${name}\n${output.trimEnd().split('\n').slice(-SHOWN).join('\n')}`)
}
console.log(`\n${minutes(performance.now() - runStart)}`)
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`)
process.exitCode = totals.failed ? 1 : 0
