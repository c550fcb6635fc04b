// Pages of any origin may read, as on a CouchDB that `tilecouch setup --fix --cors '*'` has prepared. They may not write: any page that
// the owner of the store happens to look at can connect. Browsers ask before they send what is not plain reading, and are told no.

const READ = /^(_all_docs|_all_docs\/queries|_bulk_get|_changes|_find|_revs_diff|_design\/[^/]+\/_view\/[^/]+(\/queries)?)$/

/**
 * @param {import('node:http').IncomingMessage} req @param {import('node:http').ServerResponse} res
 * @returns {boolean} whether that was all: a browser only asked
 */
export function allowReaders ({ method = '', url = '', headers }, res) {
  if (headers.origin === undefined) return false
  res.setHeader('Access-Control-Allow-Origin', '*')
  res.setHeader('Access-Control-Expose-Headers', 'Content-Type, Cache-Control, Accept-Ranges, ETag, X-Tilecouch-Time')
  const wanted = headers['access-control-request-method']
  if (method !== 'OPTIONS' || wanted === undefined) return false
  const reads = wanted === 'GET' || wanted === 'HEAD' || (wanted === 'POST' && isReading(url))
  res.writeHead(reads ? 204 : 405, reads ? {
    'Access-Control-Allow-Methods': 'GET, HEAD, POST',
    'Access-Control-Allow-Headers': 'Accept, Content-Type, If-None-Match, Range',
    'Access-Control-Max-Age': '600'
  } : { Allow: 'GET, HEAD, POST' }).end()
  return true
}

function isReading (url) {
  const [, ...rest] = url.replace(/\?.*/, '').split('/').filter(Boolean) // the first is the database
  return READ.test(rest.join('/').replace(/^_design\/[^/]+\/_rewrite\/db\//, ''))
}
