// tilecouch load --dry-run
import { checkComplete } from '../load/index.js'
import { planLoad } from '../load/plan.js'
import { openSource } from '../load/sources/index.js'
import { Store } from '../store/index.js'
import { withDatabase } from './connect.js'
import { timeWords, warningLines } from './load-report.js'
import { boxWords, count, plural, table } from './output.js'

/** @param {import('./program.js').Context} context */
export async function dryRun (context, options, { settings, opening, source }) {
  const { output, signal } = context
  const { layer, time, complete = false } = settings
  const { area, zooms } = opening
  const show = async url => {
    const store = url === undefined ? undefined : await openIfThere(url)
    const own = source ?? await openSource(url, { ...opening, home: url })
    try {
      checkComplete(own, complete)
      const plan = await planLoad(store, own, { layer, time, complete, area, zooms, signal })
      output.result({ ...plan, dryRun: true }, lines(plan, { time, complete, source: own }))
    } finally {
      if (!source) await own.close()
    }
  }
  try {
    return await withDatabase(context, options, show)
  } catch (error) {
    if (error.code !== 'DATABASE_NOT_FOUND' || !error.details.folder || !source) throw error
    return show(undefined)
  }
}

const openIfThere = url => Store.open(url, { retries: 3 }).catch(error => {
  if (error.code !== 'DATABASE_NOT_FOUND') throw error
  return undefined
})

function lines (plan, { time, complete, source }) {
  const { layer, tiles, zooms, bounds, isNew, before, gone } = plan
  return [
    `Would load ${plural(tiles, 'tile')} as ${layer}@${plan.time}${isNew ? ', a new layer' : ''}`,
    ...(time ? [] : [`  ${timeWords[source.time ? 'source' : 'clock']}`]),
    ...(bounds ? [`  bounds ${boxWords(bounds)}`, `  place: ${plan.place}`] : []),
    ...(before === null ? [] : [`  There is an edition of this time${before && `, from ${before}`}: its tiles stay as they are`]),
    ...(complete ? [goneWords(gone)] : []),
    ...table(['zoom', 'tiles'], zooms.map(zoom => [zoom.z, zoom.tiles])).map(line => `  ${line}`),
    ...(plan.warnings ?? []).flatMap(warningLines),
    'Nothing was changed.'
  ]
}

const goneWords = gone => gone === null
  ? '  Tiles that the source lacks become gone; how many is known when the store has its indexes'
  : `  ${count(gone)} tiles of the layer are not in the source and would become gone`
