// Version and description of this program, from package.json.
import { readFileSync } from 'node:fs'

export const { version, description } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

/** A User-Agent with the version and how to reach the operator, as tile servers require. @param {string} [contact] */
export const userAgentOf = contact =>
  `tilecouch/${version}${contact ? ` (${contact.replace(/[^ -~]|[()]/g, '')})` : ''}`
