// Strong ETags, compared as HTTP has it.

/**
 * Whether an If-None-Match names this ETag: then the client has it already.
 * @param {string | undefined} header
 * @param {string} etag quoted
 */
export function isKnown (header, etag) {
  if (header === undefined) return false
  return header.trim() === '*' || header.split(',').some(tag => tag.trim().replace(/^W\//, '') === etag)
}
