// The body of a _bulk_docs request. Bytes of attachments are turned into base64 right where they are sent from: nothing
// is searched for quotes, which base64 has none of, and no other copy of a tile outlives a moment.

/**
 * @param {any[]} docs attachments with bytes in `data`, or as CouchDB takes them
 * @param {{newEdits?: boolean}} [options] newEdits: false keeps the revisions as they are, as replicators do
 * @returns {Buffer}
 */
export function bulkBody (docs, { newEdits = true } = {}) {
  /** @type {(string | Buffer)[]} */
  const parts = [newEdits ? '{"docs":[' : '{"new_edits":false,"docs":[']
  docs.forEach(({ _attachments: attachments, ...fields }, index) => {
    if (index) parts.push(',')
    const json = JSON.stringify(fields)
    if (!attachments) return parts.push(json)
    parts.push(`${json.slice(0, -1)}${json === '{}' ? '' : ','}"_attachments":{`)
    Object.entries(attachments).forEach(([name, { data, ...about }], at) => {
      const head = `${at ? ',' : ''}${JSON.stringify(name)}:`
      if (!(data instanceof Uint8Array)) return parts.push(head + JSON.stringify({ ...about, data }))
      const open = JSON.stringify(about)
      parts.push(`${head}${open.slice(0, -1)}${open === '{}' ? '' : ','}"data":"`, toBuffer(data), '"}')
    })
    parts.push('}}')
  })
  parts.push(']}')
  const sizeOf = part => typeof part === 'string' ? Buffer.byteLength(part) : 4 * Math.ceil(part.length / 3)
  const body = Buffer.allocUnsafeSlow(parts.reduce((sum, part) => sum + sizeOf(part), 0))
  let at = 0
  for (const part of parts) {
    at += typeof part === 'string' ? body.write(part, at) : body.write(part.toString('base64'), at, 'latin1')
  }
  return body
}

const toBuffer = bytes => Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
