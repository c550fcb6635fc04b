// The layer and the time in the addresses that `tilecouch up` and `tilecouch serve` print.

export const NO_EXAMPLE = { layer: 'LAYER', format: 'png', time: 'TIME' }

/**
 * The first suitable layer of a store, with the time of its middle edition; undefined: there is none.
 * @param {import('../loader/index.js').Store} store @param {(layer: Record<string, any>) => boolean} [isSuitable]
 */
export async function exampleIn (store, isSuitable = () => true) {
  const exampleLayer = (await store.layers()).find(isSuitable)
  if (!exampleLayer) return undefined
  const { layer, format = NO_EXAMPLE.format } = exampleLayer
  const editions = await store.editions(layer)
  return { layer, format, time: editions[editions.length >> 1]?.time ?? NO_EXAMPLE.time }
}
