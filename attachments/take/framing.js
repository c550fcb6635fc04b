// Which pages may show this one in a frame, as the server says it with the page.

/**
 * @param {string} address of the page as it is in a frame
 * @param {AbortSignal} signal
 * @returns {Promise<string[]>} origins besides its own; `*` for all
 */
export async function framing (address, signal) {
  const answer = await fetch(address, { signal, cache: 'no-cache' })
  await answer.body?.cancel()
  if (!answer.ok) throw new TypeError(`the page answers ${answer.status}`)
  return embedders(answer.headers.get('content-security-policy'))
}

/** Sources that two lists allow: `*` allows all. @param {string[]} first @param {string[]} second */
function inBoth (first, second) {
  if (second.includes('*')) return first
  return first.includes('*') ? second : first.filter(source => second.includes(source))
}

/** @param {string | null} policy null: none is sent, and everybody may */
export function embedders (policy) {
  const rules = [...(policy ?? '').matchAll(/(?:^|[;,])\s*frame-ancestors\s+([^;,]*)/gi)]
  const lists = rules.map(([, list]) => list.trim().split(/\s+/))
  if (!lists.length) return ['*']
  return lists.reduce(inBoth).filter(source => !source.startsWith("'"))
}
