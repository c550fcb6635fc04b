// French.
import { counted } from './counted.js'

const count = counted('fr')

/** @type {import('./index.js').Words} */
export const fr = {
  layers: count({ one: '# couche', other: '# couches' })
}
