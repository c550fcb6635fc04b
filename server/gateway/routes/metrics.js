// What Prometheus reads.

/**
 * @param {any} ctx @param {any} asked
 * @param {import('node:http').IncomingMessage} req @param {import('node:http').ServerResponse} res
 */
export async function metrics (ctx, asked, req, res) {
  const body = Buffer.from(await ctx.metrics.text())
  res.writeHead(200, { 'Content-Type': ctx.metrics.contentType, 'Content-Length': body.length, 'Cache-Control': 'no-store' })
  res.end(req.method === 'HEAD' ? undefined : body)
}
