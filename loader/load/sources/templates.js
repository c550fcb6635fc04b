// Reads templates of tile addresses in documents of other programs.
import { fillTemplate, isSecret } from '../../../core/upstream.js'
import { decodedText } from '../../../core/values.js'
import { TilecouchError } from '../../errors.js'
import { originOfKey } from '../upstream/secrets.js'

/**
 * The complete form of an address in a document.
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
 * Removes keys from a template: they are sent with the requests, and stored nowhere.
 * @param {string} template
 * @param {import('../upstream/secrets.js').SecretsByHost} [userSecrets] they take precedence
 * @returns {{url: string, secrets: import('../upstream/secrets.js').SecretsByHost}}
 */
export function withoutSecrets (template, userSecrets = {}) {
  const [address, query = ''] = template.split(/\?(.*)/s)
  const parts = query.split('&').map(part => {
    const [name, value = ''] = part.split(/=(.*)/s)
    return { part, name: decodedText(name), value: decodedText(value) }
  })
  const keys = parts.filter(({ name }) => isSecret(name))
  if (!keys.length) return { url: template, secrets: userSecrets }
  const otherParts = parts.filter(entry => !keys.includes(entry)).map(({ part }) => part).join('&')
  const moved = Object.fromEntries(keys.map(({ name, value }) => [`?${name}`, value]))
  const filled = fillTemplate(address, () => '1')
  const origin = URL.canParse(filled) ? new URL(filled).origin : ''
  const host = Object.keys(userSecrets).find(key => originOfKey(key) === origin) ?? origin
  return {
    url: address + (otherParts && `?${otherParts}`),
    secrets: { ...userSecrets, [host]: { ...moved, ...userSecrets[host] } }
  }
}

// XML of other programs, read with regular expressions that skip unknown parts.

export const plain = text =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')

/** The texts of all elements of a name. @param {string} tag @param {string} xml */
export const textsOf = (tag, xml) =>
  [...xml.matchAll(new RegExp(`<(?:\\w+:)?${tag}\\b[^<>]*>([^<]*)</`, 'g'))].map(([, text]) => plain(text.trim()))

/**
 * The text after the start tag of each element of a name, up to the next such tag.
 * @param {string} tag @param {string} xml
 */
export const blocksOf = (tag, xml) => xml.split(new RegExp(`<(?:\\w+:)?${tag}(?:\\s[^<>]*)?>`)).slice(1)
