// A control of a map library holds a Timeline or a CompareHandle, and offers the methods of the object that it holds.
import { forward } from '../engine/layer-methods.js'

/**
 * Methods of the held object become methods of its holder, unless the holder has its own.
 * @param {Function} Holder @param {Function} Held
 * @param {string} field name of the field with the held object
 * @param {string[]} [fields] fields of the held object that can be read from the holder as well
 */
export function delegate (Holder, Held, field, fields = []) {
  const { prototype } = Holder
  const methods = Object.entries(Object.getOwnPropertyDescriptors(Held.prototype))
    .filter(([name, { value }]) => typeof value === 'function' && !name.startsWith('_') && !(name in prototype))
  forward(prototype, field, methods.map(([name]) => name))
  for (const name of fields) {
    Object.defineProperty(prototype, name, { get () { return this[field][name] }, configurable: true })
  }
}
