// Processes that a test may kill and start again on the same data: a browser, and stores.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { chromium } from 'playwright-core'
import { findCouchDb, startCouchDb } from '../../../bench/couchdb.js'
import { until } from '../../../bench/wait.js'
import { chromiumFor, flags } from '../../viewer/browser.js'
import { startEmbeddedProcess } from '../embedded-process.js'

/** @param {Mocha.Context} context skipped where there is no Chromium */
export async function startProfile (context) {
  const executable = chromiumFor(context)
  const dir = await mkdtemp(path.join(tmpdir(), 'tilecouch-profile-'))
  let child, browser

  /** @returns {Promise<import('playwright-core').BrowserContext>} the one context of the profile */
  async function start () {
    await rm(path.join(dir, 'DevToolsActivePort'), { force: true })
    // its own process group, so that all processes end at once, as in a power failure
    child = spawn(executable, [...flags, '--headless=new', '--no-first-run',
      '--remote-debugging-port=0', `--user-data-dir=${dir}`, 'about:blank'], { stdio: 'ignore', detached: true })
    const port = await until(async () => {
      if (child.exitCode !== null) throw new Error(`Chromium ended with ${child.exitCode}`)
      return (await readFile(path.join(dir, 'DevToolsActivePort'), 'utf8').catch(() => '')).split('\n')[0]
    }, { timeout: 20000, what: 'Chromium to start' })
    browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`)
    return browser.contexts()[0]
  }

  async function kill () {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    process.kill(-child.pid, 'SIGKILL')
    await ended
    await browser.close().catch(() => {}) // the connection to the browser is gone already
  }

  return {
    start,
    kill,
    async close () {
      await kill()
      await rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    }
  }
}

/**
 * One store of each kind, as backends of a suite: `database()` starts it, a test kills it with `server()`.
 */
export function killableStores () {
  const embedded = killableStore('embedded', startEmbeddedProcess)
  return findCouchDb() ? [embedded, killableStore('CouchDB', () => startCouchDb())] : [embedded]
}

function killableStore (name, start) {
  let server
  return {
    name,
    async database () {
      server = await start()
      return `${server.url}/tiles`
    },
    server: () => server,
    close: () => server?.close(),
    /**
     * Saves the data, and returns a function that restores them. Both stop the server for a moment.
     */
    async keep () {
      const { dir } = server
      await server.kill()
      await rm(`${dir}.kept`, { recursive: true, force: true })
      await cp(dir, `${dir}.kept`, { recursive: true })
      await server.start()
      return async () => {
        await server.kill()
        await rm(dir, { recursive: true, force: true })
        await cp(`${dir}.kept`, dir, { recursive: true })
        await rm(`${dir}.kept`, { recursive: true, force: true })
        await server.start()
      }
    }
  }
}
