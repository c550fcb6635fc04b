// A server before a store, which ends a program at one of its writes: before the store has it, or before the answer
// comes back.
import { request as ask } from 'node:http'
import { startServer } from '../support/server.js'

const isWrite = ({ method, url }) => ['PUT', 'DELETE'].includes(method) ||
  (method === 'POST' && /\/(_bulk_docs|_purge)(\?|$)/.test(url))

/** @param {string} target URL of a server, may hold a name and password */
export async function startKilling (target) {
  const { hostname, port, username, password } = new URL(target)
  const state = {
    url: '',
    /**
     * Whom to end, at which of its writes.
     * @type {{child: import('node:child_process').ChildProcess, left: number, arrives: boolean} | undefined}
     */
    victim: undefined,
    kills: 0,
    close: async () => {}
  }
  const kill = () => {
    state.victim?.child.kill('SIGKILL')
    state.victim = undefined
    state.kills++
  }
  const { port: own, close } = await startServer((request, response) => {
    const { victim } = state
    const isLast = victim && isWrite(request) && victim.left-- === 0
    if (isLast && !victim.arrives) return kill()
    const forward = ask({ hostname, port, method: request.method, path: request.url, headers: {
      ...request.headers, host: `${hostname}:${port}`
    } }, answer => {
      if (isLast) {
        answer.resume()
        return kill()
      }
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    forward.on('error', () => response.destroy())
    request.on('error', () => forward.destroy())
    response.on('error', () => {})
    request.pipe(forward)
  })
  state.url = `http://${username ? `${username}:${password}@` : ''}127.0.0.1:${own}`
  state.close = close
  return state
}
