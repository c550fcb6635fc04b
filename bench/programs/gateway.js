// Starts a gateway as users do: `tilecouch serve` in its own process.
import { fileURLToPath } from 'node:url'
import { freePort } from '../wait.js'
import { startProgram } from './program.js'

const bin = fileURLToPath(new URL('../../server/bin.js', import.meta.url))

/**
 * @param {string} db URL of the database, may contain a name and password: the list of processes does not show it
 * @param {Record<string, string | number | boolean>} options of `tilecouch serve`
 * @param {string} probe path of a tile
 */
export async function startGateway (db, options, probe) {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const args = Object.entries(options).flatMap(([name, value]) => ['--set', `${name}=${value}`])
  // The gateway gets only these options, and none from the environment.
  const clearedVariables =
    Object.fromEntries(Object.keys(process.env).filter(name => name.startsWith('TILECOUCH_')).map(name => [name, '']))
  const { pid, close } = await startProgram('the gateway', process.execPath, [bin, 'serve', '--port', port, ...args], {
    ready: url + probe, env: { ...clearedVariables, TILECOUCH_DB: db, NODE_ENV: 'production' }
  })
  return { url, pid, close, settings: `tilecouch serve ${args.join(' ')}` }
}
