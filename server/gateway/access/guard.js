// Stands before the routes of a gateway that has private layers. What is public goes through after one look at its name.
import { takeToken } from './page.js'

/**
 * @typedef {import('../dispatch.js').Route} Route
 * @param {import('./index.js').Access} access
 * @param {Record<string, Route>} routes
 * @returns {Record<string, Route>}
 */
export function guard (access, routes) {
  const kinds = { ...ASK, ...Object.fromEntries(['tile', 'tilejson', 'versions', 'times'].map(kind => [kind, ofLayer])) }
  return Object.fromEntries(Object.entries(routes).map(([kind, route]) => [kind, kinds[kind](access, route)]))
}

/** What names its layer in its address. @returns {Route} */
const ofLayer = (access, route) => (ctx, asked, req, res) => {
  if (!access.isPrivate(asked.layer)) return route(ctx, asked, req, res)
  asked.visitor = access.look(req)
  const entered = asked.visitor.enter(asked.layer, res)
  return entered === undefined ? route(ctx, asked, req, res) : entered.then(() => route(ctx, asked, req, res))
}

/** What looks for itself which layers it is about. @returns {Route} */
const ofSome = (access, route) => (ctx, asked, req, res) => {
  asked.visitor = access.look(req)
  return route(ctx, asked, req, res)
}

/** What names layers, and all of them. @returns {Route} */
const ofAll = (access, route) => async (ctx, asked, req, res) => {
  await access.look(req).enterAll(res)
  return route(ctx, asked, req, res)
}

/** The viewer holds nothing of the store. @returns {Route} */
const page = (access, route) => (ctx, asked, req, res) => {
  if (asked.name === 'index.html' && ctx.options.viewer && takeToken(access, ctx, req, res)) return
  res.setHeader('Referrer-Policy', 'same-origin')
  return route(ctx, asked, req, res)
}

/** Names no layer. @returns {Route} */
const open = (access, route) => route

const ASK = { wmts: ofSome, db: ofSome, metrics: ofAll, file: page, health: open }
