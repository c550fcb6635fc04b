// The inputs of a form: each has its label, a hint and a place for what is wrong with it, reads a value and shows one.
import { element, write } from '../../../client/timeline/dom.js'
import { parseDuration } from '../../../core/times.js'
import { parseBbox } from '../../../core/grid.js'
import { texts } from '../words.js'

const words = texts.layers

/**
 * @typedef {object} Field
 * @property {string} name
 * @property {string} label
 * @property {HTMLElement} element
 * @property {() => any} read undefined for none; throws with a text for people
 * @property {(value: any) => void} show
 * @property {() => string} state of its inputs, to see whether somebody has touched it
 * @property {(text: string, inner?: string) => void} complain '' takes it back; inner: the part that is wrong
 * @property {(node: any) => void} note a text and buttons under it; null takes it back
 * @property {() => void} focus
 */

/**
 * How an input reads and writes a value: texts on one side, values of a document on the other.
 * @typedef {{read: (text: string) => any, show: (value: any) => string, type?: string, mode?: string}} Form
 */

const refuse = text => { throw new Error(text) }

/** @param {number} least @param {number} most @returns {Form} */
export const wholeForm = (least, most) => ({
  mode: 'numeric',
  read (text) {
    const value = /^\d{1,15}$/.test(text) ? +text : NaN
    return value >= least && value <= most ? value : refuse(words.bad.whole({ least, most }))
  },
  show: String
})

/** @returns {Form} */
export const numberForm = (least, most) => ({
  mode: 'decimal',
  read (text) {
    const value = Number(text.replace(',', '.'))
    return value >= least && value <= most ? value : refuse(words.bad.number({ least, most }))
  },
  show: String
})

/** @type {Form} */
export const textForm = { read: text => text, show: value => typeof value === 'string' ? value : JSON.stringify(value) }

const UNITS = /** @type {[string, number][]} */ ([['y', 31536000], ['w', 604800], ['d', 86400], ['h', 3600], ['m', 60], ['s', 1]])

/** `7d`, in the largest unit that gives a whole number. @param {number} seconds */
export function durationText (seconds) {
  const [unit, length] = UNITS.find(([, each]) => seconds % each === 0 && seconds > 0) ?? ['s', 1]
  return `${seconds / length}${unit}`
}

/** @type {Form} */
export const durationForm = {
  read (text) {
    try {
      return parseDuration(text)
    } catch {
      return refuse(words.bad.duration)
    }
  },
  show: value => Number.isFinite(value) ? durationText(value) : JSON.stringify(value)
}

/** @type {Form} */
export const boundsForm = {
  read (text) {
    try {
      return parseBbox(text)
    } catch {
      return refuse(words.bad.bounds)
    }
  },
  show: value => Array.isArray(value) ? value.join(', ') : JSON.stringify(value)
}

/** @type {Form} */
export const centerForm = {
  read (text) {
    const parts = text.split(',').map(part => part.trim() === '' ? NaN : Number(part))
    return parts.length === 3 && parts.every(Number.isFinite) ? parts : refuse(words.bad.center)
  },
  show: boundsForm.show
}

/** @type {Form} */
export const listForm = {
  read: text => text.split(',').map(part => part.trim()).filter(Boolean),
  show: value => Array.isArray(value) ? value.join(', ') : JSON.stringify(value)
}

/** Lines `name: value`. @type {Form} */
export const pairsForm = {
  read: text => Object.fromEntries(text.split('\n').filter(line => line.trim()).map(line => {
    const at = line.indexOf(':')
    return at > 0 ? [line.slice(0, at).trim(), line.slice(at + 1).trim()] : refuse(words.bad.pairs)
  })),
  show: value => Object.entries(value).map(([name, each]) => `${name}: ${each}`).join('\n')
}

let ids = 0

/**
 * A control with its label, hint and problem.
 * @param {any} control @param {{name: string, label: string, hint?: string, isWide?: boolean}} about
 * @param {{read: () => any, show: (value: any) => void, state?: () => string}} how
 * @returns {Field}
 */
export function fieldOf (control, { name, label, hint = '', isWide = false }, { read, show, state }) {
  const id = `layer-field-${ids++}`
  write(control, { id, 'data-field': name, 'aria-describedby': `${id}-hint ${id}-problem` })
  const problem = element('p', { class: 'problem', id: `${id}-problem` })
  const noted = element('div', { class: 'noted', role: 'status' })
  const box = element('div', { class: `field${isWide ? ' wide' : ''}` },
    element('label', { for: id }, label), control, element('small', { id: `${id}-hint` }, hint), noted, problem)
  return {
    name,
    label,
    element: box,
    read,
    show,
    state: state ?? (() => control.value),
    complain (text) {
      problem.textContent = text
      write(control, { 'aria-invalid': text ? 'true' : null })
    },
    note: node => noted.replaceChildren(...[node].flat().filter(Boolean)),
    focus: () => control.focus()
  }
}

/**
 * @param {{name: string, label: string, hint?: string, isWide?: boolean, isLong?: boolean, placeholder?: string, list?:
 *   string, form?: Form}} about list: the id of a datalist
 * @returns {Field}
 */
export function inputField ({ form = textForm, isLong = false, placeholder, list, ...about }) {
  const shared = { placeholder, list, spellcheck: isLong ? null : 'false', autocomplete: 'off', inputmode: form.mode }
  const control = isLong ? element('textarea', shared) : element('input', { type: 'text', ...shared })
  return fieldOf(control, about, {
    read () {
      const text = control.value.trim()
      return text === '' ? undefined : form.read(text)
    },
    show (value) { control.value = value === undefined || value === null ? '' : form.show(value) }
  })
}

/**
 * @param {{name: string, label: string, hint?: string}} about
 * @param {[any, string][]} options value and text; undefined for none
 * @returns {Field}
 */
export function choiceField (about, options) {
  let all = options
  const select = element('select')
  const offer = () => select.replaceChildren(...all.map(([, text], at) => element('option', { value: String(at) }, text)))
  offer()
  return fieldOf(select, about, {
    read: () => all[select.value]?.[0],
    show (value) {
      const isOffered = options.some(([each]) => each === value)
      all = isOffered || value === null ? options : [...options, [value, JSON.stringify(value)]] // of another program
      if (select.options.length !== all.length) offer()
      select.value = String(Math.max(0, all.findIndex(([each]) => each === value)))
    }
  })
}

/** Values that say the same, in whatever order their fields are. */
export const same = (one, other) => JSON.stringify(sorted(one)) === JSON.stringify(sorted(other))

function sorted (value) {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const keys = Object.keys(value).sort().filter(key => value[key] !== undefined)
  return Object.fromEntries(keys.map(key => [key, sorted(value[key])]))
}
