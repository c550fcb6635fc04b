// What CouchDB refuses in a design document when it is written, rather than when it is used.
import vm from 'node:vm'
import { HttpError } from '../errors.js'
import { isObject } from '../exchange.js'
import { isBuiltIn } from '../views/reduce.js'

const invalid = reason => new HttpError(400, 'invalid_design_doc', reason)

/** @param {any} ddoc */
export function checkDesign (ddoc) {
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
  if ((ddoc.language ?? 'javascript') === 'javascript') Object.entries(ddoc.views ?? {}).forEach(([name, view]) => checkView(name, view))
}

function checkView (name, view) {
  if (name === 'lib') return
  if (!isObject(view)) throw invalid(`\`views.${name}\` field must have object type`)
  if (view.map !== undefined && typeof view.map !== 'string') throw invalid(`\`views.${name}.map\` field must have string type`)
  if (view.reduce !== undefined && typeof view.reduce !== 'string') throw invalid(`\`views.${name}.reduce\` field must have string type`)
  if (view.map) compiles(name, 'map', view.map)
  if (view.reduce?.startsWith('_') ? !isBuiltIn(view.reduce) : false) throw invalid(`\`${view.reduce}\` is not a supported reduce function.`)
  if (view.reduce && !isBuiltIn(view.reduce)) compiles(name, 'reduce', view.reduce)
}

function compiles (view, part, source) {
  try {
    new vm.Script(`(${source.replace(/;\s*$/, '')}\n)`) // parsed, never run
  } catch (error) {
    throw new HttpError(400, 'compilation_error', `Compilation of the ${part} function in the '${view}' view failed: ${error} (${source})`)
  }
}
