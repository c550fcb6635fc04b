// How a command names the store of this page.

/**
 * @param {import('../index.js').App} app
 * @returns {Promise<{isEmbedded: boolean, url: string | null}>} url: with the name of who has signed in; null behind a
 *   gateway, which no command writes to
 */
export async function storeAddress ({ couch, user }) {
  if (couch.server.endsWith('/admin/couch/')) return { isEmbedded: false, url: null }
  const isEmbedded = await couch.isEmbedded()
  if (isEmbedded) return { isEmbedded, url: null }
  const url = new URL(couch.db)
  if (user.name) url.username = encodeURIComponent(user.name)
  return { isEmbedded, url: url.href }
}
