// English. A text is a string, or a function of what it says; the other languages have the same fields.
import { counted } from './counted.js'

const count = counted('en')

export const en = {
  layers: count({ one: '# layer', other: '# layers' })
}
