// Where clients reach the gateway: the base of absolute links. What a client says of it is believed only as far as it can be a name.

const HOST = /^(?:[a-z0-9](?:[a-z0-9.-]{0,252}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i
const PREFIX = /^(?:\/[\w.~-]{1,64}){1,8}\/?$/

/**
 * @param {{publicUrl?: string | null, trustProxy?: boolean}} options
 * @returns {(req: import('node:http').IncomingMessage) => string} ends in a slash
 */
export function publicUrlOf ({ publicUrl, trustProxy }) {
  if (publicUrl) return () => publicUrl
  return ({ headers, socket }) => {
    const forwarded = name => trustProxy ? first(headers[`x-forwarded-${name}`]) : undefined
    const host = [forwarded('host'), headers.host].find(name => name !== undefined && HOST.test(name)) ?? here(socket)
    const protocol = forwarded('proto')?.toLowerCase() === 'https' ? 'https' : 'http'
    const prefix = forwarded('prefix') ?? ''
    return `${protocol}://${host}${PREFIX.test(prefix) && !prefix.includes('/..') ? prefix.replace(/\/$/, '') : ''}/`
  }
}

/** What the proxy nearest to the client wrote. */
const first = header => header === undefined ? undefined : String(header).split(',')[0].trim()

/** HTTP/1.0 needs no Host. */
function here ({ localAddress = '127.0.0.1', localPort = 80 }) {
  return `${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`
}
