// Filters of the changes feed: the built-in ones, and the functions of design documents.
import { badRequest, notFound } from './errors.js'
import { functionOf } from './design/cache.js'
import { requestObject } from './design/request.js'
import { parseJson } from './json.js'
import { compileSelector, pickFitting } from './selector.js'

/** No filter. */
export const everything = { needsDocs: false, pass: changes => changes }

function docIdsOf (ex, body) {
  const ids = body.doc_ids ?? (ex.query.doc_ids === undefined ? undefined : parseJson(ex.query.doc_ids))
  if (!Array.isArray(ids)) throw badRequest('`doc_ids` filter parameter is not a list of doc ids.')
  return ids
}

const builtIn = {
  _doc_ids: (ex, body) => ({ needsDocs: false, docIds: docIdsOf(ex, body), pass: changes => changes }),
  _design: () => ({ needsDocs: false, pass: changes => changes.filter(({ id }) => id.startsWith('_design/')) }),
  _selector (ex, body) {
    if (body.selector === undefined) throw badRequest('Selector must be specified in POST payload')
    const fits = compileSelector(body.selector)
    return { needsDocs: true, pass: changes => pickFitting(changes, ({ doc }) => fits(doc)) }
  },
  async _view (ex) {
    if (ex.query.view === undefined) throw badRequest('`view` filter parameter is not provided.')
    const [ddocName, name, ...rest] = ex.query.view.split('/')
    if (!name || rest.length) throw badRequest('`view` must be of the form `designname/viewname`')
    const runtime = await ex.db.designs.get(ddocName)
    const { views = {} } = runtime.ddoc
    if (typeof (Object.hasOwn(views, name) ? views[name]?.map : undefined) !== 'string') throw notFound(`missing json key: ${name}`)
    return byFunction(runtime, 'filterView', { source: views[name].map })
  }
}

const byFunction = (runtime, kind, payload) => ({
  needsDocs: true,
  async pass (changes) {
    const verdicts = await runtime.callEach(kind, payload, changes.map(({ doc }) => doc))
    return changes.filter((change, i) => verdicts[i])
  }
})

/**
 * @param {import('./exchange.js').Exchange} ex
 * @param {any} body
 * @returns {Promise<{needsDocs: boolean, docIds?: string[], pass: (changes: any[]) => any[] | Promise<any[]>}>}
 */
export async function changeFilter (ex, body) {
  const { filter } = ex.query
  if (filter === undefined || filter === '') return everything
  if (filter.startsWith('_')) {
    if (!Object.hasOwn(builtIn, filter)) throw badRequest('unknown builtin filter name')
    return builtIn[filter](ex, body)
  }
  const [ddocName, name, ...rest] = filter.split('/')
  if (!name || rest.length) throw badRequest('`filter` must be of the form `designname/filtername`')
  const runtime = await ex.db.designs.get(ddocName)
  return byFunction(runtime, 'filter', { source: functionOf(runtime.ddoc, 'filters', name), req: await requestObject(ex, null) })
}
