// Templates of tile addresses as documents of others write them.
import { fillTemplate, isSecret } from '../../../core/upstream.js'
import { decodedText } from '../../../core/values.js'
import { TilecouchError } from '../../errors.js'
import { originOf } from '../upstream/secrets.js'

/**
 * An address in a document, complete.
 * @param {string} address
 * @param {{name: string, base?: URL}} where the document came from
 */
export function absolute (address, { name, base }) {
  if (/^[a-z][\w+.-]*:\/\//i.test(address)) return address
  if (!base) {
    const why = `the address in it, ${address.slice(0, 200)}, is not complete: load it from its server`
    throw new TilecouchError('SOURCE_UNREADABLE', { value: name, why })
  }
  const url = new URL(address, base)
  url.username = url.password = ''
  return url.href.replace(/%7b/gi, '{').replace(/%7d/gi, '}')
}

/**
 * Takes keys out of a template: they are sent with the requests, and stored nowhere.
 * @param {string} template
 * @param {import('../upstream/secrets.js').SecretsByHost} [given] those of the user, which count
 * @returns {{url: string, secrets: import('../upstream/secrets.js').SecretsByHost}}
 */
export function withoutSecrets (template, given = {}) {
  const [address, query = ''] = template.split(/\?(.*)/s)
  const parts = query.split('&').map(part => {
    const [name, value = ''] = part.split(/=(.*)/s)
    return { part, name: decodedText(name), value: decodedText(value) }
  })
  const keys = parts.filter(({ name }) => isSecret(name))
  if (!keys.length) return { url: template, secrets: given }
  const rest = parts.filter(one => !keys.includes(one)).map(({ part }) => part).join('&')
  const moved = Object.fromEntries(keys.map(({ name, value }) => [`?${name}`, value]))
  const filled = fillTemplate(address, () => '1')
  const origin = URL.canParse(filled) ? new URL(filled).origin : ''
  const host = Object.keys(given).find(key => originOf(key) === origin) ?? origin
  return { url: address + (rest && `?${rest}`), secrets: { ...given, [host]: { ...moved, ...given[host] } } }
}

// XML of others, read with expressions that take what they know and skip the rest.

export const plain = text =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')

/** The texts of all elements of a name. @param {string} tag @param {string} xml */
export const textsOf = (tag, xml) =>
  [...xml.matchAll(new RegExp(`<(?:\\w+:)?${tag}\\b[^<>]*>([^<]*)</`, 'g'))].map(([, text]) => plain(text.trim()))

/**
 * What follows the beginning of each element of a name, up to that of the next.
 * @param {string} tag @param {string} xml
 */
export const blocksOf = (tag, xml) => xml.split(new RegExp(`<(?:\\w+:)?${tag}(?:\\s[^<>]*)?>`)).slice(1)
