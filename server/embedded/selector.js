// Selectors of the changes feed, as in CouchDB, with the operators that tilecouch, PouchDB and mirrors send:
// comparisons, $regex, $and, $or, $not. They are compiled once for each request and then tested on each document. Every
// reader can send one, and this server has one thread, so a selector must not take long: patterns run in linear time
// (RE2 has no backreferences and no lookaheads), and the steps for each document are counted.
import { RE2JS } from 're2js'
import { HttpError, badRequest } from '../http/errors.js'
import { isObject } from '../../core/values.js'
import { encodeKey } from './views/collate.js'

const MOST_PATTERN = 100000 // characters of all patterns of a selector
const PATTERN = 1000 // characters that each pattern counts for at least, since it is compiled
const MOST_PATHS = 1e6 // steps of the paths of all conditions, which are made before the first document
const MOST_STEPS = 2e6 // conditions and steps of patterns, for each document: a tenth of a second
const SLICE = 20 // milliseconds after which other requests get their turn

function invalid (operator, argument) {
  const argumentText = JSON.stringify(argument)?.slice(0, 200)
  return new HttpError(400, 'bad_arg', `Bad argument for operator ${operator}: ${argumentText}`)
}

let stepsLeft = 0 // steps, of the current document

function count (steps) {
  stepsLeft -= steps
  if (stepsLeft < 0) throw badRequest('Selector error: it takes too long for a document')
}

const keyOf = value => {
  if (typeof value === 'string') count(value.length)
  return encodeKey(value)
}

function comparison (isMatch) {
  return (argument, { isId }) => {
    const key = encodeKey(argument)
    // ids are compared by their characters, as the primary index sorts them
    const areTexts = value => isId && typeof argument === 'string' && typeof value === 'string'
    const order = value => Number(value > argument) - Number(value < argument)
    return value => isMatch(areTexts(value) ? order(value) : keyOf(value).compare(key))
  }
}

function pattern (argument, { spent }) {
  if (typeof argument !== 'string') throw invalid('$regex', argument)
  spent.characters += Math.max(PATTERN, argument.length)
  if (spent.characters > MOST_PATTERN) {
    const most = `${MOST_PATTERN / PATTERN} patterns, or ${MOST_PATTERN} characters of them`
    throw badRequest(`Selector error: more than ${most}`)
  }
  const regex = compiled(argument)
  const size = regex.programSize()
  return value => {
    if (typeof value !== 'string') return false
    count(size * (value.length + 1))
    return regex.test(value)
  }
}

function compiled (text) {
  try {
    return RE2JS.compile(text)
  } catch (error) {
    const advice = 'This store runs patterns as RE2 does: leave out backreferences and lookaheads'
    throw new HttpError(400, 'bad_arg', `Bad argument for operator $regex: ${error.message}. ${advice}`)
  }
}

/**
 * Each operator turns its argument into a test of a value.
 * @type {Record<string, (argument: any, context: any) => (value: any) => boolean>}
 */
const operators = {
  $lt: comparison(order => order < 0),
  $lte: comparison(order => order <= 0),
  $eq: comparison(order => order === 0),
  $ne: comparison(order => order !== 0),
  $gte: comparison(order => order >= 0),
  $gt: comparison(order => order > 0),
  $regex: pattern
}

/** Tests one field with one operator. A missing field matches nothing, also below $not, as in CouchDB. */
function onField (path, operator, argument, isNot, spent) {
  if (!Object.hasOwn(operators, operator)) throw new HttpError(400, 'invalid_operator', `Invalid operator: ${operator}`)
  const test = operators[operator](argument, { isId: path.length === 1 && path[0] === '_id', spent })
  return value => {
    count(1 + path.length)
    const fieldValue = path.reduce(inner, value)
    return fieldValue !== undefined && test(fieldValue) !== isNot
  }
}

function inner (value, name) {
  if (typeof value !== 'object' || value === null || (Array.isArray(value) && name === 'length')) return undefined
  return Object.hasOwn(value, name) ? value[name] : undefined
}

/** The steps of a dotted name; a backslash keeps a dot. */
const stepsOf = name => name.split(/(?<!\\)\./).map(step => step.replaceAll('\\.', '.'))

const allPass = tests => value => tests.every(test => test(value))
const anyPass = tests => value => tests.some(test => test(value))

function testsOf (operator, argument, make) {
  if (!Array.isArray(argument) || !argument.every(isObject)) throw invalid(operator, argument)
  return argument.length ? argument.map(make) : [() => false]
}

/**
 * @param {any} selector a part of a selector, for the value at `path`
 * @param {boolean} isNot below $not
 * @param {{characters: number, steps: number}} spent @returns {(value: any) => boolean}
 */
function condition (selector, path, isNot, spent) {
  spent.steps += path.length + 20
  if (spent.steps > MOST_PATHS) throw badRequest('Selector error: too many conditions, or too long names')
  if (!isObject(selector)) return onField(path, '$eq', selector, isNot, spent)
  const names = Object.keys(selector)
  if (!names.length) return path.length ? onField(path, '$eq', selector, isNot, spent) : () => !isNot
  const tests = names.map(name => {
    const argument = selector[name]
    const each = () => testsOf(name, argument, part => condition(part, path, isNot, spent))
    if (name === '$and') return (isNot ? anyPass : allPass)(each())
    if (name === '$or') return (isNot ? allPass : anyPass)(each())
    if (name === '$not' && !isObject(argument)) throw invalid(name, argument)
    if (name === '$not') return condition(argument, path, !isNot, spent)
    if (name.startsWith('$')) return onField(path, name, argument, isNot, spent)
    return condition(argument, [...path, ...stepsOf(name)], isNot, spent)
  })
  return (isNot ? anyPass : allPass)(tests)
}

/** Compiles a selector, or throws the error of CouchDB. @returns {(doc: any) => boolean} */
export function compileSelector (selector) {
  if (!isObject(selector)) throw badRequest('Selector error: expected a JSON object')
  const test = condition(selector, [], false, { characters: 0, steps: 0 })
  return doc => {
    stepsLeft = MOST_STEPS
    return test(doc)
  }
}

/**
 * Picks the items that match. Other requests get their turn in between.
 * @template T
 * @param {T[]} items @param {(item: T) => boolean} test @returns {Promise<T[]>}
 */
export async function pickFitting (items, test) {
  const matches = []
  let since = performance.now()
  for (const item of items) {
    if (performance.now() - since > SLICE) {
      await new Promise(resolve => setImmediate(resolve))
      since = performance.now()
    }
    if (test(item)) matches.push(item)
  }
  return matches
}
