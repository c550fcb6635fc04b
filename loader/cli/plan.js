// What a command is about to ask of an upstream, said before it does.
import { bytes, plural, table } from './output.js'

const MANY = 1e6 // tiles: said loudly

/**
 * @param {import('./output.js').Output} output
 * @param {string} layer
 * @param {import('../seed/plan.js').Plan} plan
 */
export function announce (output, layer, { tiles, bytes: size, zooms }) {
  output.note([
    `${layer}: ${plural(tiles, 'tile')}, ${size === null ? 'of unknown size: the layer has none yet' : `about ${bytes(size)}`}`,
    ...table(['zoom', 'tiles', 'about'], zooms.map(zoom => [zoom.z, zoom.tiles, zoom.bytes === null ? 'unknown' : bytes(zoom.bytes)])).map(line => `  ${line}`),
    ...(tiles > MANY ? [`That is more than ${plural(MANY, 'tile')}: see that the upstream allows it, and that the disk has room. Ctrl-C stops.`] : [])
  ].join('\n'))
}
