// A source that is opened, loaded and closed.
import { load, openSource } from '../../loader/index.js'

/**
 * @param {import('../../loader/store/index.js').Store} store
 * @param {string} name path or address of the source
 * @param {Parameters<typeof load>[2]} options
 * @param {Parameters<typeof openSource>[1]} [opening]
 */
export async function loadFrom (store, name, options, opening) {
  const source = await openSource(name, opening)
  try {
    return await load(store, source, options)
  } finally {
    await source.close()
  }
}
