// What the viewer consists of, as its service worker keeps it: a version made from the content of all files, which stands
// in every address that the page asks for, so that files of two versions are never taken for one.
import { createHash } from 'node:crypto'

const PAGE = 'index.html'
const WORKER = 'sw.js'

/** @typedef {Record<string, {type: string, bytes: Buffer}>} Files */

/**
 * Writes the version into the addresses of the page, and what belongs to it into the service worker.
 * @param {Files} files @param {(name: string) => boolean} isPart what else is attached is for other pages
 */
export function stamp (files, isPart) {
  const names = Object.keys(files).filter(isPart).sort()
  const version = digest(names.map(name => `${name} ${digest(files[name].bytes)}\n`).join('')).slice(0, 16)
  const page = withDigests(files[PAGE].bytes.toString(), files).replace(/(?<=\b(?:href|src)=")[^":/?#]+(?=")/g, name => names.includes(name) ? `${name}?v=${version}` : name)
  files[PAGE].bytes = Buffer.from(page)
  const shell = Object.fromEntries(names.filter(name => name !== WORKER).map(name => [name, digest(files[name].bytes)]))
  files[WORKER].bytes = Buffer.concat([Buffer.from(`const SHELL=${JSON.stringify({ version, files: shell })};\n`), files[WORKER].bytes])
}

/** Scripts of the page are named with their digests: a browser runs no other, and CouchDB's policy allows these alone. */
const withDigests = (page, files) => page.replace(/(?<=<script src="([^"]+)" integrity=")(?=")/g, (_, name) => integrityOf(files[name].bytes))

/** As the attribute `integrity` and a policy have it. @param {Buffer} bytes */
export const integrityOf = bytes => `sha256-${createHash('sha256').update(bytes).digest('base64')}`

const digest = content => createHash('sha256').update(content).digest('hex')
