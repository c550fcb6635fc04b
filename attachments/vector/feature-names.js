const NAMES = ['name', 'name:latin', 'name:en', 'title', 'ref'] // attributes that can hold the name of a feature

/** @returns {string | undefined} */
export function nameOf ({ properties }) {
  const key = NAMES.find(name => typeof properties[name] === 'string' && properties[name])
  return key && properties[key]
}
