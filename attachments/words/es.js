// Spanish.
import { counted } from './counted.js'

const count = counted('es')

/** @type {import('./index.js').Words} */
export const es = {
  layers: count({ one: '# capa', other: '# capas' })
}
