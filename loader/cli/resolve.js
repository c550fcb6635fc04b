// tilecouch resolve
import { TilecouchError, checkLayer, now } from '../../core/index.js'
import { resolve } from '../resolve/index.js'
import { withPatientStore } from './connect.js'
import { sayStates } from './following.js'
import { count, plural, secondsSince } from './output.js'

const SHOWN = 20 // documents named; --json has more
const RETRIES = 2 // of a request while following: that the store is away is said soon, and waited out

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addResolveCommand (program, run) {
  program.command('resolve')
    .description('put right what masters that were loaded apart have made of one tile: the newest stays, the others become its past')
    .option('--layer <names>', 'only these layers, separated by commas')
    .option('--live', 'go on until it is stopped, whenever something changes')
    .option('--dry-run', 'only say what there is to be done')
    .addHelpText('after', `
Run it at one master or at all of them, before or after they have replicated: what comes of it is the same. Tiles become what
the editions of all masters have said of them. An image that is nowhere is named with the edition to load again.

Examples:
  tilecouch resolve --db http://localhost:5984/tiles
  tilecouch resolve --layer osm --dry-run
  tilecouch resolve --live`)
    .action(run(resolveCommand))
}

const WHAT = { left: 'left as it is', refused: 'refused', unknown: 'image missing' }

async function resolveCommand (context, options) {
  const { output, signal } = context
  const { live = false, dryRun = false } = options
  if (live && dryRun) throw new TilecouchError('BAD_OPTION', { option: '--live', value: true, why: 'it does not go with --dry-run' })
  const layers = options.layer?.split(',').map(name => checkLayer(name.trim()))
  return withPatientStore(context, options, async store => {
    if (live) store.couch.options.retries = RETRIES
    const started = performance.now()
    const summary = await resolve(store, { layers, live, dryRun, signal, ...(live && following(output)) })
    output.result({ ...summary, seconds: secondsSince(started) }, [
      ...words(summary, dryRun),
      ...summary.named.slice(0, SHOWN).map(({ id, what, reason }) => `  ${WHAT[what]}: ${id}: ${reason}`),
      ...(summary.named.length > SHOWN ? [`  and ${count(summary.left + summary.refused + summary.unknown - SHOWN)} more`] : [])
    ])
    return summary.left + summary.refused + summary.unknown ? 1 : 0
  })
}

/** What is said while following: a line when something was put right, and when the store goes and comes. */
function following (output) {
  let ended = 0
  return {
    onState: sayStates(output, 'Looking for conflicts as they come.'),
    onProgress: tally => {
      if (tally.ended === ended) return
      output.line(`${now()}  ${plural(tally.ended - ended, 'losing revision')} ended, ${count(tally.ended)} in all`)
      ended = tally.ended
    }
  }
}

/** @param {import('../resolve/index.js').ResolveSummary} summary @param {boolean} dryRun */
function words ({ conflicts, ended, past, contested, promoted, merged, settled }, dryRun) {
  if (!conflicts && !settled) return ['No conflicts.']
  const would = dryRun ? 'would be ' : ''
  return [
    ...(conflicts ? [`${plural(conflicts, 'document')} with conflicts: ${plural(ended, 'losing revision')} ${would}ended`] : ['No conflicts.']),
    ...(settled ? [`  ${plural(settled, 'tile')} ${would}put in order by what editions said`] : []),
    ...(past ? [`  ${plural(past, 'version')} ${would}copied to the past`] : []),
    ...(contested ? [`  ${plural(contested, 'version')} ${would}moved to an earlier second, since another image has the same time`] : []),
    ...(promoted ? [`  ${plural(promoted, 'past version')} ${would}made the newest`] : []),
    ...(merged ? [`  ${plural(merged, 'document')} of layers, editions or the store ${would}put together`] : [])
  ]
}
