// Known flaws of the packages that come with an installation, as npm knows them: `node .ci/audit.js`, and a step of
// `npm test`.
// A registry that does not answer audits, or no network, is said and passed over; it is waited for a minute at most.
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const KNOWN = new URL('audit-known.json', import.meta.url)
const LEVELS = ['info', 'low', 'moderate', 'high', 'critical']
const LEAST = 'moderate' // what is milder is not looked at

/**
 * @param {any} report what `npm audit --json` prints
 * @param {Record<string, string>} known advisories that do not apply, with the reason
 * @returns {{skipped?: string, found: string[], passed: string[], stale: string[]}} stale: known ones that npm no
 *   longer knows
 */
export function judge (report, known = {}) {
  const skip = why => ({ skipped: `the registry does not answer audits: ${why}`, found: [], passed: [], stale: [] })
  if (typeof report?.vulnerabilities !== 'object') {
    return skip(report?.error?.summary || report?.message || report?.error?.code || 'no report')
  }
  const advisories = new Map()
  for (const { via } of Object.values(report.vulnerabilities)) {
    // a text names the package below that has the flaw
    for (const one of via) if (typeof one === 'object') advisories.set(nameOf(one), one)
  }
  const bad = [...advisories].filter(([, { severity }]) => LEVELS.indexOf(severity) >= LEVELS.indexOf(LEAST))
  const say = ([name, { severity, name: of, range, title }]) => `${name} (${severity}) in ${of} ${range}: ${title}`
  return {
    found: bad.filter(([name]) => !Object.hasOwn(known, name)).map(say),
    passed: bad.filter(([name]) => Object.hasOwn(known, name)).map(([name]) => `${name}: ${known[name]}`),
    stale: Object.keys(known).filter(name => !advisories.has(name))
  }
}

/** GHSA-…, as everybody calls it. */
const nameOf = ({ url, source }) => /GHSA-[\w-]+/.exec(url ?? '')?.[0] ?? String(source)

/**
 * @param {{command?: string[], timeout?: number}} [options] milliseconds
 */
export async function audit (
  { command = ['npm', 'audit', '--omit=dev', '--workspaces=false',
    '--json', '--fetch-retries=0', '--fetch-timeout=20000'], timeout = 60000 } = {}
) {
  const known = JSON.parse(await readFile(KNOWN, 'utf8'))
  const text = await output(command, timeout)
  let report
  try {
    report = JSON.parse(text)
  } catch {
    report = { message: text === undefined ? `nothing within ${timeout / 1000} s` : 'what it says is no report' }
  }
  return judge(report, known)
}

/** What a command prints, or nothing when it takes too long. @returns {Promise<string | undefined>} */
function output ([command, ...args], timeout) {
  return new Promise(resolve => {
    const child = spawn(command, args,
      { cwd: root, stdio: ['ignore', 'pipe', 'ignore'], shell: process.platform ===
        'win32', timeout, killSignal: 'SIGKILL' })
    let text = ''
    child.stdout.on('data', chunk => { text += chunk })
    child.on('error', () => resolve(''))
    child.on('exit', (code, signal) => { if (signal) resolve(undefined) }) // its own children may hold the pipe open
    child.on('close', (code, signal) => resolve(signal ? undefined : text))
  })
}

/** @param {Awaited<ReturnType<typeof audit>>} result */
export const lines = ({ skipped, found, passed, stale }) => [
  ...(skipped ? [`skipped: ${skipped}`] : []), ...found,
  ...passed.map(text => `known, and does not apply: ${text}`),
  ...(skipped ? [] : stale.map(name => `${name} is no longer known: remove it from .ci/audit-known.json`))
]

if (process.argv[1] && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const result = await audit()
  console.log(lines(result).join('\n') || 'no known flaws')
  process.exitCode = result.found.length ? 1 : 0
}
