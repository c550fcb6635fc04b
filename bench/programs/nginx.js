// Runs nginx with Debian's settings, but without an access log: on a folder of tiles, or with the configuration of
// deploy/ in front of a gateway.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import path from 'node:path'
import { freePort } from '../wait.js'
import { findProgram, outputOf, startProgram } from './program.js'

export const MISSING = 'not installed: apt-get install nginx'

export const findNginx = (env = process.env) => findProgram(env.NGINX_BIN, 'nginx', env)

export const nginxVersion = async bin => /nginx\/(\S+)/.exec(await outputOf(bin, ['-v']))?.[1] ?? 'unknown'

/** The main configuration. The process writes only into its own folder. */
export const mainConf = ({ dir, http, workers = cpus().length, root = process.getuid?.() === 0 }) => `
${root ? 'user root;' : ''}
worker_processes ${workers};
daemon off;
pid ${dir}/nginx.pid;
error_log ${dir}/error.log warn;
events { worker_connections 1024; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  types { image/png png; }
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(kind => `${kind}_temp_path ${dir}/${kind};`).join('\n  ')}
${http}
}
`

/** `http`: the content of http { }; `probe`: path of a tile. */
export async function startNginx (bin, { dir, http, probe }) {
  await mkdir(dir)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const file = path.join(dir, 'nginx.conf')
  await writeFile(file, mainConf({ dir, http: http(port) }))
  const program =
    await startProgram('nginx', bin, ['-p', dir, '-e', path.join(dir, 'error.log'), '-c', file], { ready: url + probe })
  return { ...program, url }
}

/** Serves a folder of tiles. */
export const filesConf = root => port => `  server { listen 127.0.0.1:${port}; root ${root}; }`

/**
 * The configuration of deploy/ with other addresses and folders; throws if the upstream or the port is missing.
 * @returns {(port: number) => string}
 */
export const proxyCacheConf = (text, { gateway, cache }) => port => [
  [/(\n\s*server\s+)127\.0\.0\.1:8080(?=[; ])/g, `$1${new URL(gateway).host}`],
  [/(\n\s*listen\s+)80(?=[; ])/g, `$1127.0.0.1:${port}`],
  [/(\n\s*listen\s+)\[::\]:80(?=[; ])[^\n]*/g, ''],
  [/(\n\s*proxy_cache_path\s+)\S+/g, `$1${cache}`],
  [/\n\s*access_log[^\n]*/g, '']
].reduce((conf, [from, to], index) => {
  const replaced = conf.replace(/** @type {RegExp} */ (from), /** @type {string} */ (to))
  if (replaced === conf && index < 2) throw new Error(`deploy/nginx/proxy-cache.conf has no ${from}`)
  return replaced
}, text)

export const readProxyCacheConf =
  () => readFile(new URL('../../deploy/nginx/proxy-cache.conf', import.meta.url), 'utf8')
