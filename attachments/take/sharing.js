// The HTML of a frame, and the pages that may show this one in a frame. Pure except for readEmbedders().

const FRAME = { width: 800, height: 500 } // pixels

/** HTML that shows a link of this page in a frame. @param {string} link @param {string} title */
export function frameCode (link, title) {
  const { width, height } = FRAME
  return `<iframe src="${escaped(embedded(link))}" title="${escaped(title)}" width="${width}" height="${height}" ` +
    'style="border: 0; max-width: 100%" loading="lazy" allowfullscreen></iframe>'
}

/** The address of the same view without the controls of the page. */
function embedded (link) {
  const url = new URL(link)
  url.search = '?embed'
  return url.href
}

/** A text as the value of an attribute, or as the content of an element. */
const escaped = text => text.replace(/[&<>"]/g, letter => `&#${letter.charCodeAt(0)};`)

/**
 * Asks the server which pages may show this one in a frame.
 * @param {string} link @param {AbortSignal} signal
 * @returns {Promise<string[]>} origins besides its own; `*` for all
 */
export async function readEmbedders (link, signal) {
  const answer = await fetch(embedded(link), { signal, cache: 'no-cache' })
  await answer.body?.cancel()
  if (!answer.ok) throw new TypeError(`the page answers ${answer.status}`)
  return embedders(answer.headers.get('content-security-policy'))
}

/** @param {string | null} policy null: no policy, so every page may */
export function embedders (policy) {
  const rules = [...(policy ?? '').matchAll(/(?:^|[;,])\s*frame-ancestors\s+([^;,]*)/gi)]
  const lists = rules.map(([, list]) => list.trim().split(/\s+/))
  if (!lists.length) return ['*']
  return lists.reduce(inBoth).filter(source => !source.startsWith("'"))
}

/** Sources that two lists allow: `*` allows all. @param {string[]} first @param {string[]} second */
function inBoth (first, second) {
  if (second.includes('*')) return first
  return first.includes('*') ? second : first.filter(source => second.includes(source))
}
