// What random histories are made of: times, parts of the map, styles, and sources of tiles.
import { parseArea, parseDocumentId } from '../../core/index.js'
import { png } from '../support/tiles.js'
import { PLACES } from './readers.js'

export const YEARS = [2019, 2020, 2021, 2022, 2023]
export const T = year => `${year}-01-01T00:00:00Z`

/** Parts of the map that are mirrored: how a mirror selects them, and which tiles belong to them. */
export const PARTS = {
  west: {
    selection: { area: parseArea({ bbox: [-170, -80, -10, 80] }) },
    has: tile => tile === '0/0/0' || +tile.split('/')[1] < 4
  },
  deep: { selection: { zooms: { min: 3, max: 3 } }, has: tile => tile !== '0/0/0' }
}

/** Styles that a layer may have. */
export const STYLES =
  ['one', 'two'].map(name => ({ style: { version: 8, name, sources: {}, layers: [] }, digest: name }))

/** A source of tiles in order. @returns {any} */
export const sourceOf = tiles => ({
  name: 'memory',
  fields: { format: 'png' },
  counts: undefined,
  total: undefined,
  diff: Object.values(tiles).includes(null),
  async * tiles () {
    for (const { name, z, x, y } of PLACES) {
      if (name in tiles) {
        yield { z, x, y, ...(tiles[name] === null ? { gone: true } : { read: async () => png(tiles[name]) }) }
      }
    }
  },
  async close () {}
})

/** Tiles of a layer, and what editions and removals say of them. @param {string} id @param {string} layer */
export const isOfMap = (id, layer) => {
  const { kind, layer: own } = parseDocumentId(id) ?? {}
  return id.startsWith(`${layer}:`) || id.startsWith('block:') || (own === layer && kind !== 'style')
}
