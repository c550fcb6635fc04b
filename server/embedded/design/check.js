// What CouchDB refuses in a design document when it is written, rather than when it is used.
import { HttpError } from '../errors.js'
import { isObject } from '../exchange.js'
import { isBuiltIn } from '../views/reduce.js'
import { DesignRuntime } from './runtime.js'

const invalid = reason => new HttpError(400, 'invalid_design_doc', reason)

/** @param {any} ddoc @param {import('./threads.js').DesignThreads} threads */
export async function checkDesign (ddoc, threads) {
  for (const group of ['views', 'shows', 'lists', 'filters', 'updates', 'options']) {
    if (ddoc[group] !== undefined && !isObject(ddoc[group])) throw invalid(`\`${group}\` field must have object type`)
  }
  for (const group of ['shows', 'lists', 'filters', 'updates']) {
    for (const [name, source] of Object.entries(ddoc[group] ?? {})) {
      if (typeof source !== 'string') throw invalid(`\`${group}.${name}\` field must have string type`)
    }
  }
  for (const name of ['validate_doc_update', 'language']) {
    if (ddoc[name] !== undefined && typeof ddoc[name] !== 'string') throw invalid(`\`${name}\` field must have string type`)
  }
  const { rewrites } = ddoc
  if (rewrites !== undefined && typeof rewrites !== 'string' && !Array.isArray(rewrites)) throw invalid('`rewrites` field must have array or string type')
  if ((ddoc.language ?? 'javascript') !== 'javascript') return
  const functions = Object.entries(ddoc.views ?? {}).flatMap(([name, view]) => functionsOf(name, view))
  if (functions.length) await parse(functions, new DesignRuntime(ddoc, threads))
}

/** The functions of a view, once its fields are right. */
function functionsOf (name, view) {
  if (name === 'lib') return []
  if (!isObject(view)) throw invalid(`\`views.${name}\` field must have object type`)
  if (view.map !== undefined && typeof view.map !== 'string') throw invalid(`\`views.${name}.map\` field must have string type`)
  if (view.reduce !== undefined && typeof view.reduce !== 'string') throw invalid(`\`views.${name}.reduce\` field must have string type`)
  if (view.reduce?.startsWith('_') && !isBuiltIn(view.reduce)) throw invalid(`\`${view.reduce}\` is not a supported reduce function.`)
  return ['map', 'reduce'].filter(part => view[part] && !isBuiltIn(view[part])).map(part => ({ name, part, source: view[part] }))
}

/** Parses functions, and runs none. @param {{name: string, part: string, source: string}[]} functions @param {DesignRuntime} runtime */
async function parse (functions, runtime) {
  const faults = await runtime.call('parse', { sources: functions.map(({ source }) => source) })
  functions.forEach(({ name, part, source }, i) => {
    if (faults[i]) throw new HttpError(400, 'compilation_error', `Compilation of the ${part} function in the '${name}' view failed: ${faults[i]} (${source})`)
  })
}
