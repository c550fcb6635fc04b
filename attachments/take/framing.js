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

/** @param {string | null} policy null: none is sent, and everybody may */
export function embedders (policy) {
  const lists = [...(policy ?? '').matchAll(/(?:^|[;,])\s*frame-ancestors\s+([^;,]*)/gi)].map(([, list]) => list.trim().split(/\s+/))
  if (!lists.length) return ['*']
  return lists.reduce((all, list) => list.includes('*') ? all : all.includes('*') ? list : all.filter(one => list.includes(one)))
    .filter(source => !source.startsWith("'"))
}
