// Runs Python applications with gunicorn, with the settings that MapProxy's manual recommends.
import { writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import path from 'node:path'
import { freePort } from '../wait.js'
import { startProgram } from './program.js'

const THREADS = 8 // per worker

/** `dir`: an existing folder; `code`: source of a module that defines `application`; `probe`: path of a tile. */
export async function startGunicorn (name, { python, gunicorn }, { dir, code, probe }) {
  await writeFile(path.join(dir, 'tiles.py'), code)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const workers = cpus().length
  const program = await startProgram(name, python, ['-m', 'gunicorn', '--chdir', dir, '--bind', `127.0.0.1:${port}`,
    '--workers', workers, '--worker-class', 'gthread', '--threads',
    THREADS, '--keep-alive', 60, '--log-level', 'warning', 'tiles:application'], {
    cwd: dir, ready: url + probe
  })
  return { ...program, url, settings: `gunicorn ${gunicorn}, ${workers} workers of ${THREADS} threads` }
}
