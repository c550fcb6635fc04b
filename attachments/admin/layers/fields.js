// The fields of a form. A typed value is a text, or an object of texts for a field with several inputs. read() makes it
// a value of a document.
import { parseBbox } from '../../../core/grid.js'
import { parseDuration } from '../../../core/times.js'
import { html } from '../../html.js'
import { Fold, Select } from '../../parts.js'
import { texts } from '../words.js'

const words = texts.layers

/**
 * Converts texts to values of a document and back. read: throws with a message for users
 * @typedef {{read: (text: string) => any, show: (value: any) => string, mode?: string}} Format
 *
 * @typedef {object} Field
 * @property {string} name
 * @property {string} label
 * @property {string} [hint]
 * @property {(value: any) => any} show the typed form of a value of the document
 * @property {(typed: any) => any} read undefined for none; throws with a message for users, and `inner` if one input
 *   is wrong
 * @property {(props: FieldProps) => any} component
 *
 * @typedef {object} FieldProps
 * @property {any} typed
 * @property {(typed: any) => void} onType
 * @property {{text: string, inner?: string}} [problem]
 * @property {any} [note] text under the field
 */

/** @param {string} text for users @param {string} [inner] the input that is wrong @returns {never} */
export const refuse = (text, inner) => { throw Object.assign(new Error(text), inner && { inner }) }

/** @param {number} least @param {number} most @returns {Format} */
export const wholeFormat = (least, most) => ({
  mode: 'numeric',
  read (text) {
    const value = /^\d{1,15}$/.test(text) ? +text : NaN
    return value >= least && value <= most ? value : refuse(words.bad.whole({ least, most }))
  },
  show: String
})

/** @param {number} least @param {number} most @returns {Format} */
export const numberFormat = (least, most) => ({
  mode: 'decimal',
  read (text) {
    const value = Number(text.replace(',', '.'))
    return value >= least && value <= most ? value : refuse(words.bad.number({ least, most }))
  },
  show: String
})

/** @type {Format} */
export const textFormat = {
  read: text => text,
  show: value => typeof value === 'string' ? value : JSON.stringify(value)
}

const UNITS = /** @type {[string, number][]} */ ([
  ['y', 31536000], ['w', 604800], ['d', 86400], ['h', 3600], ['m', 60], ['s', 1]
])

/** `7d`, in the largest unit that gives a whole number. @param {number} seconds */
export function durationText (seconds) {
  const [unit, length] = UNITS.find(([, unitLength]) => seconds % unitLength === 0 && seconds > 0) ?? ['s', 1]
  return `${seconds / length}${unit}`
}

/** Reads with a function of core; throws a message for users if it throws. */
const readWith = (parse, text) => value => {
  try {
    return parse(value)
  } catch {
    return refuse(text)
  }
}

const listText = value => Array.isArray(value) ? value.join(', ') : JSON.stringify(value)

/** @type {Format} */
export const durationFormat = {
  read: readWith(parseDuration, words.bad.duration),
  show: value => Number.isFinite(value) ? durationText(value) : JSON.stringify(value)
}

/** @type {Format} */
export const boundsFormat = { read: readWith(parseBbox, words.bad.bounds), show: listText }

/** @type {Format} */
export const centerFormat = {
  read (text) {
    const parts = text.split(',').map(part => part.trim() === '' ? NaN : Number(part))
    return parts.length === 3 && parts.every(Number.isFinite) ? parts : refuse(words.bad.center)
  },
  show: listText
}

/** @type {Format} */
export const listFormat = { read: text => text.split(',').map(part => part.trim()).filter(Boolean), show: listText }

/** Lines `name: value`. @type {Format} */
export const pairsFormat = {
  read: text => Object.fromEntries(text.split('\n').filter(line => line.trim()).map(line => {
    const colon = line.indexOf(':')
    return colon > 0 ? [line.slice(0, colon).trim(), line.slice(colon + 1).trim()] : refuse(words.bad.pairs)
  })),
  show: value => Object.entries(value).map(([name, text]) => `${name}: ${text}`).join('\n')
}

/** A control with its label, hint, note and problem. control: a function of the attributes that every control has */
export function FieldBox ({ name, label, hint = '', isWide = false, hidden = false, problem = '', note, control }) {
  const id = `layer-${name.replace('.', '-')}`
  const attributes = {
    id,
    'data-field': name,
    'aria-describedby': `${id}-hint ${id}-problem`,
    'aria-invalid': problem ? 'true' : null
  }
  return html`<div class="field${isWide ? ' wide' : ''}" hidden=${hidden}>
    <label for=${id}>${label}</label>
    ${control(attributes)}
    <small id="${id}-hint">${hint}</small>
    <div class="noted" role="status">${note}</div>
    <p class="problem" id="${id}-problem">${problem}</p>
  </div>`
}

/**
 * @param {{name: string, label: string, hint?: string, isWide?: boolean, isLong?: boolean, placeholder?: string,
 *   list?: string, format?: Format}} about list: the id of a datalist
 * @returns {Field}
 */
export function inputField ({ format = textFormat, isLong = false, placeholder, list, ...about }) {
  const shared = { placeholder, list, autocomplete: 'off', inputmode: format.mode }
  return {
    ...about,
    show: value => value === undefined || value === null ? '' : format.show(value),
    read: typed => typed.trim() === '' ? undefined : format.read(typed.trim()),
    component: ({ typed, onType, problem, ...props }) => html`<${FieldBox}
      ...${about} problem=${problem?.text} ...${props}
      control=${attributes => {
        const input = { ...shared, ...attributes, value: typed, onInput: ({ target }) => onType(target.value) }
        return isLong ? html`<textarea ...${input} />` : html`<input type="text" spellcheck=${false} ...${input} />`
      }} />`
  }
}

/**
 * @param {{name: string, label: string, hint?: string}} about
 * @param {[any, string][]} options value and text; undefined for none
 * @returns {Field}
 */
export function choiceField (about, options) {
  const keyOf = value => value === undefined || value === null ? '' : JSON.stringify(value)
  const choices = options.map(([value, text]) => [keyOf(value), text])
  return {
    ...about,
    show: keyOf,
    read: typed => typed === '' ? undefined : JSON.parse(typed),
    component: ({ typed, onType, problem, ...props }) => {
      const isKnown = choices.some(([key]) => key === typed)
      const all = isKnown ? choices : [...choices, [typed, typed]] // the value of another program
      return html`<${FieldBox} ...${about} problem=${problem?.text} ...${props} control=${attributes => html`
        <${Select} ...${attributes} options=${all} value=${typed} onChange=${onType} />`} />`
    }
  }
}

/**
 * Makes fields from a table of settings of inputs, or options of choices.
 * @param {Record<string, any>} table @param {(name: string) => {name: string, label: string, hint?: string}} aboutOf
 * @returns {Map<string, Field>} by name
 */
export const fieldsOf = (table, aboutOf) => new Map(Object.entries(table).map(([name, input]) =>
  [name, Array.isArray(input) ? choiceField(aboutOf(name), input) : inputField({ ...aboutOf(name), ...input })]))

/** The typed form of each field of a group. @param {Map<string, Field>} fields */
export const showGroup = (fields, values) =>
  Object.fromEntries([...fields].map(([name, field]) => [name, field.show(values[name])]))

/** The values that a group of fields has. @param {Map<string, Field>} fields */
export function readGroup (fields, typed) {
  const values = {}
  for (const [name, field] of fields) {
    try {
      const value = field.read(typed[name])
      if (value !== undefined) values[name] = value
    } catch (error) {
      throw Object.assign(error, { inner: name })
    }
  }
  return values
}

/**
 * The inputs of a group of fields. Fields that are not in `first` are folded away under `more`.
 * @param {FieldProps & {fields: Map<string, Field>, first?: string[], more?: string,
 *   isHidden: (name: string) => boolean, class?: string}} props
 */
export function FieldGroup ({
  fields, first = [...fields.keys()], more = '', isHidden, typed, onType, problem, note, ...others
}) {
  const inner = problem?.inner && fields.has(problem.inner) && !isHidden(problem.inner) ? problem.inner : ''
  const inputOf = name => html`<${fields.get(name)?.component} key=${name} typed=${typed[name]}
    hidden=${isHidden(name)} problem=${inner === name ? problem : undefined}
    onType=${value => onType({ ...typed, [name]: value })} />`
  const foldedNames = [...fields.keys()].filter(name => !first.includes(name))
  return html`<div ...${others}>
    <div class="fields">${first.map(inputOf)}</div>
    ${foldedNames.length > 0 && html`<${Fold} class="more" head=${more}
      open=${foldedNames.includes(inner) || undefined}>
      <div class="fields">${foldedNames.map(inputOf)}</div>
    <//>`}
    <div class="noted" role="status">${note}</div>
    <p class="problem">${problem && !inner && problem.text}</p>
  </div>`
}
