/**
 * Makes something when it is first needed: what Intl makes takes milliseconds each, and a page opens with few of them.
 * @template T @param {() => T} make @returns {() => T}
 */
export function lazy (make) {
  /** @type {T | undefined} */
  let made
  return () => (made ??= make())
}
