// tilecouch seed: fetch tiles from the upstream of a layer in advance, or expired tiles again.
import path from 'node:path'
import { checkLayer, parseZooms } from '../../core/index.js'
import { seed } from '../load/seed/index.js'
import { TilecouchError } from '../errors.js'
import { JsonLines } from '../formats/json-lines.js'
import { readFailures } from '../load/seed/failures.js'
import { expiredOptions, expiredCommand } from './expired.js'
import { failureLines } from './load-report.js'
import { areaOf, areaOptions, refuse, timeOrAgo } from './options.js'
import { bytes, count, duration, plural } from './output.js'
import { announce } from './progress.js'
import { runStoreTask } from './task.js'
import { askingOf } from './upstream.js'

/** @type {import('./command.js').Declaration} */
export const seedCommand = {
  arguments: [['[layers...]', 'one layer; with --expired also several']],
  options: [
    ...areaOptions, '--expired', '--live',
    ['--refresh-before <time>', 'fetch tiles again that were last confirmed before this time, or 7d ago',
      { parse: timeOrAgo }],
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
  const settings = { ...seeding, ...await tilesOf(options, layer), refreshBefore, dryRun, signal }
  let plan = /** @type {any} */ (undefined)
  return runStoreTask(context, options, store => ({
    command: 'seed',
    layer,
    unit: 'tiles',
    figures: ({ tiles, failed: failures, failures: examples, fetched, fresh, missing, bytes: size }) => ({
      done: tiles,
      total: plan?.tiles,
      failed: failures,
      failures: examples,
      about: { fetched, fresh, missing, bytes: size }
    }),
    async run (onProgress) {
      // each failure is written at once: a seed may be killed
      const list = failed && !dryRun ? new JsonLines(failed, { gathered: 0, errorOf: notWritable }) : undefined
      return seed(store, layer, {
        ...settings,
        onPlan (newPlan) {
          plan = newPlan
          announce(output, layer, newPlan)
        },
        onProgress,
        onFailure: failure => list?.add(failure),
        onTrouble: error => output.note(`Waiting: ${error.message}`)
      }).finally(() => list?.close())
    },
    facts: () => ({ plan }),
    report: (summary, seconds, ended) => report(summary, seconds, ended, options),
    isFaulty: summary => summary.failed
  }))
}

const notWritable = (file, error) =>
  new TilecouchError('BAD_OPTION', { option: '--failed', value: `${file}: ${error.message}` }, { cause: error })

/** The tiles to seed: those of an area, or tiles that failed before. */
async function tilesOf ({ bbox, polygon, zoom, retryFailed, failed }, layer) {
  if (retryFailed === undefined) return { area: await areaOf({ bbox, polygon }), zooms: parseZooms(zoom ?? '') }
  if (failed !== undefined && path.resolve(failed) === path.resolve(retryFailed)) {
    refuse('--failed', failed, '--retry-failed reads this file: name another one')
  }
  return { only: await readFailures(retryFailed, layer) }
}

function report (summary, seconds, ended, { failed: file, dryRun }) {
  const { layer, planned, tiles, fetched, changed, failed, failures } = summary
  const title = `${layer}${ended}: ${count(tiles)} of ${plural(planned, 'tile')} in ${duration(seconds)}`
  const rate = `${count(Math.round(fetched / seconds))} fetched/s, ${plural(summary.requests, 'request')}`
  const changes = `${count(changed)} changed (${bytes(summary.bytes)} written), ${count(summary.unchanged)} unchanged`
  return [
    dryRun ? `${title}, looked up only` : `${title} (${rate})`,
    dryRun && `  ${count(summary.stale)} would be fetched`,
    !dryRun && `  ${count(fetched)} fetched: ${count(summary.new)} new, ${changes}`,
    !dryRun && `  ${count(summary.missing)} missing: the upstream has none`,
    `  ${count(summary.fresh)} in the store and fresh`,
    summary.outside && `  ${count(summary.outside)} outside of what the upstream has`,
    failureLines({ failed, failures }),
    failed && file && `  All of them are in ${file}: --retry-failed ${file}`,
    failed && !file && '  Run it again to try them again; --failed FILE keeps the list.'
  ]
}
