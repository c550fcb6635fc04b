// A control of a map library holds a Timeline or a CompareHandle, and offers the methods of the object that it holds.

/**
 * Methods of the held object become methods of its holder, unless the holder has its own. A method that returns the
 * held object returns the holder.
 * @param {Function} Holder @param {Function} Held
 * @param {string} field name of the field with the held object
 * @param {string[]} [fields] fields of the held object that can be read from the holder as well
 */
export function delegate (Holder, Held, field, fields = []) {
  const { prototype } = Holder
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(Held.prototype))) {
    if (typeof value !== 'function' || name.startsWith('_') || name in prototype) continue
    prototype[name] = function (...args) {
      const result = this[field][name](...args)
      return result === this[field] ? this : result
    }
  }
  for (const name of fields) {
    Object.defineProperty(prototype, name, { get () { return this[field][name] }, configurable: true })
  }
}
