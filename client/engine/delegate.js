// A control of a map library holds a Timeline or a CompareHandle, and a layer holds its time engine. The holder offers
// the methods of the object that it holds.

/** The methods of HistoryEngine that every layer with a past offers. history-methods.d.ts declares them. */
export const HISTORY_METHODS = [
  'getTime', 'setTime', 'changes', 'extent', 'isShown', 'changedTiles', 'changesByTile', 'preload', 'retry', 'refresh'
]

/** The events of HistoryEngine that every layer with a past fires as well. */
export const HISTORY_EVENTS = 'timechange timeload changes extent layerload storeerror storeback'

/** The public methods of a class that another prototype does not have. */
const newMethods = (Held, prototype) => Object.entries(Object.getOwnPropertyDescriptors(Held.prototype))
  .filter(([name, { value }]) => typeof value === 'function' && !name.startsWith('_') && !(name in prototype))
  .map(([name]) => name)

/**
 * Methods of the held object become methods of its holder. A method that returns the held object returns the holder.
 * @param {Function} Holder @param {Function} Held
 * @param {string} held name of the field with the held object
 * @param {string[]} [fields] fields of the held object that can be read from the holder as well
 * @param {string[]} [methods] the public ones that the holder does not have unless given
 */
export function delegate (Holder, Held, held, fields = [], methods = newMethods(Held, Holder.prototype)) {
  for (const name of methods) {
    Holder.prototype[name] = function (...args) {
      const result = this[held][name](...args)
      return result === this[held] ? this : result
    }
  }
  for (const name of fields) {
    Object.defineProperty(Holder.prototype, name, { get () { return this[held][name] }, configurable: true })
  }
}
