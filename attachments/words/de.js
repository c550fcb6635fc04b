// German.
import { counted } from './counted.js'

const count = counted('de')

/** @type {import('./index.js').Words} */
export const de = {
  layers: count({ one: '# Ebene', other: '# Ebenen' })
}
