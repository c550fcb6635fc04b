// Checks the answers of a benchmark. No figure counts if an answer is wrong.

const HEADERS = 2000 // bytes at most of the headers of an answer

/**
 * Throws if a request of a sample failed.
 * @param {string} name
 * @param {{requests: number, errors: Record<string, number>}} sample
 */
function checkErrors (name, { requests, errors }) {
  const occurred = Object.entries(errors).filter(([, count]) => count)
  if (occurred.length) {
    throw new Error(
      `${name}: of ${requests} requests ${occurred.map(([kind, count]) => `${count} ${kind} errors`).join(', ')}`
    )
  }
  if (!requests) throw new Error(`${name}: no request was answered`)
}

/** Checks errors, statuses, and bytes per answer. `length`: of a body; 0 for a 304. */
export function checkSample (name, sample, { connections, length }) {
  checkErrors(name, sample)
  const { requests, bytes } = sample
  const mean = bytes / requests
  // The bytes of unfinished answers count, but not their requests.
  const limit = length + HEADERS + connections * (length + HEADERS) / requests
  if (mean < length || mean > limit) {
    throw new Error(`${name}: ${Math.round(mean)} bytes an answer, ${length} and headers were expected`)
  }
}

/**
 * Compares some answers byte by byte, with their status and a header; throws the first difference.
 * @param {string} name
 * @param {{url: string, requests: {path: string, etag?: string}[], bodies: Buffer[], status: number,
 *   header?: [string, string]}} expected bodies: one per request, ignored for a 304
 */
export async function checkAnswers (name, { url, requests, bodies, status, header }) {
  for (const [index, { path, etag }] of requests.entries()) {
    const response = await fetch(url + path, { redirect: 'manual', headers: etag ? { 'if-none-match': etag } : {} })
    const body = Buffer.from(await response.arrayBuffer())
    const place = `${name}: ${path}`
    if (response.status !== status) {
      throw new Error(`${place}: ${response.status} instead of ${status}: ${body.toString().slice(0, 200)}`)
    }
    const expected = status === 304 ? Buffer.alloc(0) : bodies[index]
    if (!body.equals(expected)) {
      throw new Error(`${place}: ${body.length} bytes that are not the ${expected.length} of the source`)
    }
    if (header && response.headers.get(header[0])?.toLowerCase() !== header[1]) {
      throw Object.assign(new Error(
        `${place}: ${header[0]} is ${response.headers.get(header[0])} instead of ${header[1]}`
      ), { header: true })
    }
  }
}

/** The paths with the ETags that a server sends for them. */
export async function etagsOf (url, paths) {
  const requests = []
  for (const path of paths) {
    const response = await fetch(url + path)
    await response.arrayBuffer()
    const etag = response.headers.get('etag')
    if (response.status !== 200 || !etag) throw new Error(`${url}${path}: ${response.status}, ETag ${etag}`)
    requests.push({ path, etag })
  }
  return requests
}
