// Values before and after a change, as people read them.
import { isExactTime } from '../../../core/times.js'
import { count, time } from '../../format.js'
import { html } from '../../html.js'
import { texts } from '../words.js'

const MOST = 160 // characters of a value that are shown
const SECONDS = /^(ttl|expires)$/

const words = texts.activity

/** The name of a field; one that has no name here is told as it is. @param {string} field */
export const labelOf = field => Object.hasOwn(words.fields, field)
  ? words.fields[field]
  : Object.hasOwn(texts.layers.labels, field) ? texts.layers.labels[field] : field

/** `Streets → Roads`; a value alone where there was none before. @param {{before?: any, after?: any}} change */
export function changeText (field, { before, after }) {
  const [old, now] = [before, after].map(value => textOf(field, value))
  if (before === undefined || before === null) return now
  const isGone = after === undefined || after === null
  return html`<del>${old}</del> → ${isGone ? html`<i>${words.nothing}</i>` : html`<ins>${now}</ins>`}`
}

function textOf (field, value) {
  const text = plain(field, value)
  return text.length > MOST ? `${text.slice(0, MOST - 1)}…` : text
}

function plain (field, value) {
  if (value === undefined || value === null) return words.nothing
  if (typeof value === 'boolean') return value ? words.yes : words.no
  if (typeof value === 'number') return SECONDS.test(field) ? words.seconds(value) : count(value)
  if (typeof value === 'string') return isExactTime(value) ? time(value) : value === '' ? '""' : value
  if (Array.isArray(value)) return value.length ? value.map(each => plain('', each)).join(', ') : words.nobody
  const { names, roles, ...others } = value
  // who may do something: `anna, the role staff`
  if (Array.isArray(names) && Array.isArray(roles) && !Object.keys(others).length) {
    return [...names, ...roles.map(words.role)].join(', ') || words.nobody
  }
  const textIn = (name, each) => typeof each === 'object' && each !== null ? JSON.stringify(each) : plain(name, each)
  const parts = Object.entries(value).map(([name, each]) => `${labelOf(name)}: ${textIn(name, each)}`)
  return parts.join('; ') || words.nothing
}
