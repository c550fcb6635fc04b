// Addresses of upstreams: templates of tiles and services, what may stand in their braces, and what is too secret for them.

/** What may stand in braces, in small letters, by type. */
const PLACES = {
  xyz: ['z', 'x', 'y', '-y', 'quadkey', 's', 'r'],
  tms: ['z', 'x', 'y', '-y', 's', 'r'],
  wmts: ['z', 'x', 'y', 's', 'r', 'tilematrix', 'tilecol', 'tilerow', 'tilematrixset', 'style', 'layer']
}
const NAMES = { tilematrix: 'TileMatrix', tilecol: 'TileCol', tilerow: 'TileRow', tilematrixset: 'TileMatrixSet', style: 'Style', layer: 'Layer' }

/** Some of each line must be in a template: otherwise every tile would have one address. */
const NEEDED = [['z', 'tilematrix', 'quadkey'], ['x', 'tilecol', 'quadkey'], ['y', '-y', 'tilerow', 'quadkey']]

// parameters that are keys, tokens, passwords; in headers the word is enough, wherever it stands
const SECRET_PARAMETER = /^(x-)?(api|app|access|auth|client|subscription|license|map|maps|tile|tiles)?[-_]?(key|keys|token|secret|code|pass|passwd|password|pwd|auth|authorization|authentication|credentials?|signature|sig|session|sessionid|user|username|login|jwt|bearer)$/i
const SECRET_HEADER = /auth|cookie|token|secret|key|passw|credential|signature|session|jwt/i

/** Whether a name is one of something that must not be read by everybody. @param {string} name @param {boolean} [header] */
export const isSecret = (name, header = false) => (header ? SECRET_HEADER : SECRET_PARAMETER).test(name)

/** Where an address or a template leads, for messages. @param {string} url */
export const hostOf = url => /^\w+:\/\/([^/?#]*)/.exec(url)?.[1] ?? url

/** Whether these are the servers of OpenStreetMap, whose terms forbid bulk. */
export const isOpenStreetMap = url => /^https?:\/\/([^/?#]*\.)?tile\.(openstreetmap|osm)\.org([:/?#]|$)/i.test(url)

/**
 * Fills a template.
 * @param {string} url
 * @param {(name: string) => string | undefined} value of a name in small letters
 */
export const fillTemplate = (url, value) => url.replace(/\{([^{}]*)\}/g, (whole, name) => value(name.toLowerCase()) ?? whole)

/** @typedef {(field: string, why: string, value?: unknown) => never} Refuse */

/**
 * @param {'xyz' | 'tms' | 'wmts'} type
 * @param {string} url
 * @param {{subdomains?: string[], layers?: string}} given
 * @param {Refuse} refuse
 */
export function checkTemplate (type, url, { subdomains, layers }, refuse) {
  const found = [...url.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name.toLowerCase())
  const known = PLACES[type]
  for (const name of found) {
    if (!known.includes(name)) refuse('url', `holds {${name}}: in a ${type} template there may be ${known.map(place => `{${NAMES[place] ?? place}}`).join(' ')}`)
  }
  for (const needed of NEEDED) {
    if (!needed.some(name => found.includes(name))) refuse('url', `needs ${needed.filter(name => known.includes(name)).map(name => `{${NAMES[name] ?? name}}`).join(' or ')}`)
  }
  if (found.includes('s') !== Boolean(subdomains)) refuse('subdomains', subdomains ? 'are given, but there is no {s} in the url' : 'are needed: the url has {s}')
  if (found.includes('layer') && layers === undefined) refuse('layers', 'are needed: the url has {Layer}')
  const [, authority] = /^[a-z]+:\/\/([^/\\?#]*)/i.exec(url) ?? []
  if (authority && /\{(?!s\})/i.test(authority)) refuse('url', 'may have {s} in the name of the host, and nothing else in braces')
  checkParsed(fillTemplate(url, () => '1'), refuse)
}

/**
 * @param {string} url of a service
 * @param {RegExp} own parameters that requests have of their own
 * @param {Refuse} refuse
 */
export function checkAddress (url, own, refuse) {
  if (/[{}]/.test(url)) refuse('url', 'of a wms is the address of the service, without anything in braces')
  for (const name of checkParsed(url, refuse).searchParams.keys()) {
    if (own.test(name)) refuse('url', `holds the parameter ${name}, which every request has of its own: leave it out`)
  }
}

/**
 * Messages do not repeat the address: what is wrong with it may be a password.
 * @param {string} url
 * @param {Refuse} refuse
 */
function checkParsed (url, refuse) {
  // without two slashes and the name of a host, the parser takes the next best word for one: what stands in braces, too
  if (!/^[a-z]+:\/\/[^/\\?#]/i.test(url) || !URL.canParse(url)) refuse('url', 'is not an address, such as https://example.org/{z}/{x}/{y}.png')
  const parsed = new URL(url)
  if (!/^https?:$/.test(parsed.protocol)) refuse('url', 'must begin with http:// or https://')
  if (parsed.username || parsed.password) refuse('url', 'holds a name or password, and everybody can read it here')
  for (const name of parsed.searchParams.keys()) {
    if (isSecret(name)) refuse('url', `holds the parameter ${name}, which is secret, and everybody can read it here`)
  }
  if (parsed.hash) refuse('url', 'has a #, which no server ever sees')
  return parsed
}
