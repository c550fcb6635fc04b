// Debian's nginx on a configuration of deploy/, adapted as an operator would, with everything it writes in a folder of
// its own.
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { end, freePort, until } from '../../bench/wait.js'
import { tools } from '../support/tools.js'

export const findNginx = () => tools().find(({ name }) => name === 'nginx')?.found

const nginxFile = name => readFileSync(fileURLToPath(new URL(`../../deploy/nginx/${name}`, import.meta.url)), 'utf8')

/** @param {string} text @param {[string | RegExp, string][]} changes each of them has to find its place */
function adapt (text, changes) {
  return changes.reduce((changed, [from, to]) => {
    const next = changed.replace(from, to)
    if (next === changed) throw new Error(`the configuration has no ${from}`)
    return next
  }, text)
}

/**
 * @param {object} options
 * @param {string} options.dir a folder that is there
 * @param {string} [options.file] of deploy/nginx
 * @param {string} [options.text] a configuration, when it is none of these
 * @param {number[]} [options.gateways] ports
 * @param {[string | RegExp, string][]} [options.changes] what else an operator would adapt
 */
export async function startNginx ({ dir, file, text, gateways, changes = [] }) {
  const port = await freePort()
  const at = name => path.join(dir, name)
  for (const name of ['temp', 'cache']) mkdirSync(at(name), { recursive: true })
  writeFileSync(at('tilecouch.conf'), adapt(text ?? nginxFile(file), [
    ...(gateways ? [(['server 127.0.0.1:8080;', gateways.map(gateway => `server 127.0.0.1:${gateway};`).join(' ')])]
      : []),
    ['listen 80;', `listen 127.0.0.1:${port};`],
    ...changes
  ]))
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi',
    'scgi'].map(name => `${name}_temp_path ${at('temp')}/${name};`).join('\n')
  writeFileSync(at('nginx.conf'), `daemon off;
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes 1;
pid ${at('nginx.pid')};
error_log ${at('error.log')} warn;
events { }
http {
${temporary}
log_format test '$request_method $uri $status $upstream_status $upstream_cache_status';
log_subrequest on;
access_log ${at('access.log')} test;
include ${at('tilecouch.conf')};
}
`)
  writeFileSync(at('access.log'), '')
  const child = spawn(findNginx(), ['-p', dir, '-c', at('nginx.conf'), '-e', at('error.log')],
    { stdio: ['ignore', 'inherit', 'pipe'] })
  let complaints = ''
  child.stderr.on('data', part => { complaints += part })
  const base = `http://127.0.0.1:${port}`
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}: ${complaints}`)
    return fetch(`${base}/metrics`).then(answer => answer.status === 404, () => false)
  }, { what: 'nginx to answer' })
  return {
    base,
    /**
     * Requests it answered, and those it made by itself: method, path, status, status of the gateway, state of the
     * cache.
     */
    requests: () => readFileSync(at('access.log'), 'utf8').split('\n').filter(Boolean).map(line => line.split(' ')),
    errors: () => readFileSync(at('error.log'), 'utf8'),
    close: () => end(child, 'SIGTERM')
  }
}
