// A control of a map library holds a Timeline or a CompareHandle, a layer holds its time engine: it offers what that
// offers.

/**
 * Methods of the held object become methods of its holder, unless that has its own; who returned itself returns the
 * holder.
 * @param {Function} Holder @param {Function} Held
 * @param {string} held the holder's field
 * @param {string[]} [fields] that can be read from the holder as well
 */
export function delegate (Holder, Held, held, fields = []) {
  const { prototype } = Holder
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(Held.prototype))) {
    if (typeof value !== 'function' || name.startsWith('_') || name in prototype) continue
    prototype[name] = function (...args) {
      const result = this[held][name](...args)
      return result === this[held] ? this : result
    }
  }
  for (const name of fields) {
    Object.defineProperty(prototype, name, { get () { return this[held][name] }, configurable: true })
  }
}
