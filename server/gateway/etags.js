// Strong ETags, compared as HTTP has it.

/**
 * Whether an If-None-Match names this ETag: then the client has it already. If-Modified-Since is not looked at: after a removal
 * an older version is the answer, and one second may have seen two.
 * @param {string | undefined} header
 * @param {string} etag quoted
 */
export function isKnown (header, etag) {
  if (header === undefined) return false
  return header === etag || header.trim() === '*' || header.split(',').some(tag => tag.trim().replace(/^W\//, '') === etag)
}
