// tilecouch seed: fetch tiles from the upstream of a layer in advance, or expired tiles again.
import path from 'node:path'
import { checkLayer, parseZooms } from '../../core/index.js'
import { seed } from '../load/seed/index.js'
import { FailureList, readFailures } from '../load/seed/failures.js'
import { expiredOptions, expiredCommand } from './expired.js'
import { failureLines } from './load-report.js'
import { areaOf, areaOptions, refuse, timeOrAgo } from './options.js'
import { bytes, count, countWords, duration, plural } from './output.js'
import { ProgressLine, announce, reportEnd } from './progress.js'
import { askingOf } from './upstream.js'
import { withStoreWork } from './store.js'

/** @type {import('./command.js').Declaration} */
export const seedCommand = {
  name: 'seed',
  description: 'fetch tiles of an area, or expired tiles, from a tile server',
  arguments: [['[layers...]', 'one layer; with --expired also several']],
  options: [
    ...areaOptions, '--expired', '--live',
    ['--refresh-before <time>', 'fetch tiles again that were stored or confirmed before this time, or longer ago, ' +
      'such as 7d', { read: timeOrAgo }],
    '-n, --dry-run', '--rate <n/s>', '--concurrency <n>',
    ['--failed <file>', 'write the tiles that failed to this file, one JSON object a line'],
    ['--retry-failed <file>', 'fetch the tiles of such a file instead of an area'],
    '--contact <text>', '--upstream-networks <list>', '--i-have-permission', ...expiredOptions
  ],
  needs: [['--all', '--expired'], ['--before', '--expired'], ['--limit', '--expired'], ['--live', '--expired']],
  excludes: [
    ['--expired', ['--bbox', '--polygon', '--zoom', '--refresh-before', '--failed', '--retry-failed']],
    ['--retry-failed', ['--bbox', '--polygon', '--zoom'], 'leave out the area']
  ],
  help: `Examples:
  tilecouch seed relief --polygon alps.geojson --zoom 8-14 --rate 10/s --failed failed.jsonl
  tilecouch seed relief --retry-failed failed.jsonl --failed still-failed.jsonl
  tilecouch seed --expired --all --rate 10/s

Run a seed that was stopped again: it skips tiles that are fresh. The exit code is 0 only if no tile failed. Keys for
upstreams come from TILECOUCH_UPSTREAM_HEADERS. See docs/seeding.md.`,
  run: runSeed
}

async function runSeed (context, options, layers) {
  const { requests: concurrency, ...asking } = askingOf(options)
  const seeding = { ...asking, concurrency }
  if (options.expired) return expiredCommand(context, options, layers, { action: 'refresh', seeding })
  if (layers.length !== 1) refuse('LAYER', layers.join(' '), 'name one layer')
  return seedArea(context, options, checkLayer(layers[0]), seeding)
}

async function seedArea (context, options, layer, seeding) {
  const { output, signal } = context
  const { refreshBefore, dryRun = false, failed } = options
  const settings = { ...seeding, ...await tilesOf(options, layer), refreshBefore, dryRun }
  return withStoreWork(context, options, { command: 'seed', layer, unit: 'tiles' }, async (store, work) => {
    const progress = new ProgressLine(output)
    const list = failed && !dryRun ? await FailureList.open(failed) : undefined
    let plan = /** @type {any} */ (undefined)
    try {
      const summary = await reportEnd(progress, () => seed(store, layer, {
        ...settings,
        signal,
        onPlan: made => { plan = made; announce(output, layer, made) },
        onProgress (tally) {
          showProgress(progress, tally, plan.tiles)
          work.show(figuresOf(tally, plan.tiles))
        },
        onFailure: failure => list?.add(failure),
        onTrouble: error => output.note(`Waiting: ${error.message}`)
      }), (tally, seconds, how) => report(output, { ...tally, seconds, plan }, options, how))
      work.show(figuresOf(summary, plan?.tiles))
      await list?.close()
      return summary.failed ? 1 : 0
    } catch (error) {
      await list?.close().catch(() => {})
      throw error
    }
  })
}

const figuresOf = ({ tiles, failed, failures, fetched, fresh, missing, bytes: size }, total) =>
  ({ done: tiles, total, failed, failures, about: { fetched, fresh, missing, bytes: size } })

/** The tiles to seed: of an area, or those that failed before. */
async function tilesOf ({ bbox, polygon, zoom, retryFailed, failed }, layer) {
  if (retryFailed === undefined) return { area: await areaOf({ bbox, polygon }), zooms: parseZooms(zoom ?? '') }
  if (failed !== undefined && path.resolve(failed) === path.resolve(retryFailed)) {
    refuse('--failed', failed, '--retry-failed reads this file: name another one')
  }
  return { only: await readFailures(retryFailed, layer) }
}

function report (output, summary, { failed: file, dryRun }, how) {
  const {
    seconds, layer, planned, tiles, fresh, stale, fetched, new: created, changed, unchanged, missing, outside, failed,
    requests, bytes: size, failures
  } = summary
  const title = `${layer}${how ? ` (${how})` : ''}: ${count(tiles)} of ${plural(planned, 'tile')} in ` +
    `${duration(seconds)}`
  const rate = count(Math.round(fetched / seconds))
  const changes = `${count(changed)} changed (${bytes(size)} written), ${count(unchanged)} unchanged`
  output.result(summary, [
    ...(dryRun
      ? [`${title}, looked up only`, `  ${count(stale)} would be fetched`]
      : [
          `${title} (${rate} fetched/s, ${plural(requests, 'request')})`,
          `  ${count(fetched)} fetched: ${count(created)} new, ${changes}`,
          `  ${count(missing)} missing: the upstream has none`
        ]),
    `  ${count(fresh)} in the store and fresh`,
    outside && `  ${count(outside)} outside of what the upstream has`,
    ...failureLines({ failed, failures }),
    failed && file && `  All of them are in ${file}: --retry-failed ${file}`,
    failed && !file && '  Run it again to try them again; --failed FILE keeps the list.'
  ])
}

function showProgress (progress, { tiles, fetched, fresh, missing, failed, bytes: size }, total) {
  progress.draw(tiles, total, () => [
    bytes(size), `${count(fetched)} fetched`, ...countWords({ fresh, missing, failed })
  ])
}
