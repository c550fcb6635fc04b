// Starts the embedded store in its own process, which a test can kill and start again on the same data.
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { end, freePort, until } from '../../bench/wait.js'

const script = fileURLToPath(new URL('./embedded-child.js', import.meta.url))

export async function startEmbeddedProcess () {
  const dir = await mkdtemp(path.join(tmpdir(), 'tilecouch-embedded-'))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  let child

  async function start () {
    child = spawn(process.execPath, [script, dir, `${port}`], { stdio: ['ignore', 'ignore', 'inherit'] })
    const startedChild = child
    await until(async () => {
      if (startedChild.exitCode !== null) throw new Error(`the embedded store ended with ${startedChild.exitCode}`)
      return (await fetch(url).catch(() => null))?.ok
    }, { timeout: 20000, what: 'the embedded store to answer' })
  }

  await start()
  return {
    url,
    dir,
    start,
    kill: () => end(child, 'SIGKILL'),
    /** Stops the process, which then neither answers nor closes anything until it is thawed. */
    freeze: () => child.kill('SIGSTOP'),
    thaw: () => child.kill('SIGCONT'),
    async close () {
      await end(child, 'SIGTERM')
      await rm(dir, { recursive: true, force: true, maxRetries: 5 })
    }
  }
}
