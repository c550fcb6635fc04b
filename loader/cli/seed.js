// tilecouch seed: fetch tiles from the upstream of a layer in advance, or expired tiles again.
import path from 'node:path'
import { checkLayer, parseZooms } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { seed } from '../seed/index.js'
import { FailureList, readFailures } from '../seed/failures.js'
import { userAgentOf } from '../upstream/index.js'
import { withPatientStore } from './connect.js'
import { addExpiredOptions, expiredCommand } from './expired.js'
import { areaOf, timeOrAgo } from './options.js'
import { bytes, count, duration, plural } from './output.js'
import { ProgressLine, announce } from './progress.js'
import { networksOf, rateOf, requestsOf, secretsOf } from './upstream.js'

const SHOWN_FAILURES = 20 // lines; --failed and --json have more

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addSeedCommand (program, run) {
  const command = program.command('seed')
    .description('fetch the tiles of an area from the upstream of a layer in advance, or expired tiles again')
    .argument('[layers...]', 'one layer; with --expired also several')
    .option('--bbox <w,s,e,n>', 'tiles that touch this box, in degrees')
    .option('--polygon <file>', 'tiles that touch the polygons of this GeoJSON file; with --bbox, what lies in both')
    .option('-z, --zoom <a-b>', 'these zooms')
    .option('--expired', 'instead of an area, fetch tiles again that have expired: changed ones become versions, the others hold longer')
    .option('--live', 'with --expired: run until stopped, and sleep until the next tile expires')
    .option('--refresh-before <time>', 'ask again for what was stored or confirmed before this time, such as 2024-03-01, or longer ago than 7d')
    .option('-n, --dry-run', 'only say how many tiles would be fetched; with --expired, list them')
    .option('--rate <n/s>', 'requests a second at most (default: as the layer says)')
    .option('--concurrency <n>', 'requests in flight at most (default: as the layer says)')
    .option('--failed <file>', 'write the tiles that failed to this file, one JSON object a line')
    .option('--retry-failed <file>', 'fetch the tiles of such a file instead of an area')
    .option('--contact <text>', 'mail address or page that the User-Agent tells the upstream (default: TILECOUCH_CONTACT)')
    .option('--upstream-networks <list>')
    .option('--i-have-permission', 'seed although the terms of the upstream forbid it')
  addExpiredOptions(command)
    .addHelpText('after', `
Examples:
  tilecouch seed relief --bbox 5.9,45.8,10.5,47.8 --zoom 0-12 --dry-run
  tilecouch seed relief --polygon alps.geojson --zoom 8-14 --rate 10/s --failed failed.jsonl
  tilecouch seed relief --retry-failed failed.jsonl --failed still-failed.jsonl
  tilecouch seed relief --bbox 5.9,45.8,10.5,47.8 --zoom 0-12 --refresh-before 7d
  tilecouch seed --expired --all --rate 10/s
  tilecouch seed relief --expired --live

Run a seed that was stopped again: it skips tiles that are fresh. A tile has expired by its own time, or else by the ttl of its
layer. The exit code is 0 only if no tile failed. Keys for upstreams come from TILECOUCH_UPSTREAM_HEADERS, as for \`tilecouch serve\`.`)
    .action(run(seedCommand))
}

async function seedCommand (context, options, layers) {
  checkOptions(options, layers)
  const seeding = {
    rate: rateOf(options.rate),
    concurrency: requestsOf('--concurrency', options.concurrency),
    permission: Boolean(options.iHavePermission),
    userAgent: userAgentOf(options.contact ?? process.env.TILECOUCH_CONTACT),
    secrets: secretsOf(process.env.TILECOUCH_UPSTREAM_HEADERS),
    networks: networksOf(options)
  }
  if (options.expired) return expiredCommand(context, options, layers, { action: 'refresh', seeding })
  return seedArea(context, options, layers[0], seeding)
}

/** What goes with --expired, and what does not. */
function checkOptions (options, layers) {
  const wrong = (option, why) => { throw new TilecouchError('BAD_OPTION', { option, value: layers.join(' '), why }) }
  if (options.expired) {
    for (const [name, option] of [['bbox', '--bbox'], ['polygon', '--polygon'], ['zoom', '--zoom'], ['refreshBefore', '--refresh-before'], ['failed', '--failed'], ['retryFailed', '--retry-failed']]) {
      if (options[name] !== undefined) wrong(option, 'it does not go with --expired')
    }
  } else {
    for (const name of ['all', 'before', 'limit', 'live']) if (options[name] !== undefined) wrong(`--${name}`, 'it goes with --expired')
    if (layers.length !== 1) wrong('LAYER', 'name one layer')
    checkLayer(layers[0])
  }
}

async function seedArea (context, options, layer, seeding) {
  const { output, signal } = context
  const settings = {
    ...seeding,
    ...await whatOf(options, layer),
    refreshBefore: options.refreshBefore === undefined ? undefined : timeOrAgo(options.refreshBefore),
    dryRun: Boolean(options.dryRun)
  }
  return withPatientStore(context, options, async store => {
    const started = performance.now()
    const progress = new SeedProgress(output)
    const list = options.failed && !settings.dryRun ? await FailureList.open(options.failed) : undefined
    let plan
    const ended = (summary, how = '') => {
      progress.end()
      if (summary) report(output, summary, plan, started, options, how)
    }
    try {
      const summary = await seed(store, layer, {
        ...settings,
        signal,
        onPlan: made => { plan = made; announce(output, layer, made); progress.begin(made.tiles) },
        onProgress: tally => progress.show(tally),
        onFailure: failure => list?.add(failure),
        onTrouble: error => { progress.end(); output.note(`Waiting: ${error.message}`) }
      })
      ended(summary)
      await list?.close()
      return summary.failed ? 1 : 0
    } catch (error) {
      ended(error.summary, error.code === 'ABORTED' ? 'stopped' : 'given up')
      await list?.close().catch(() => {})
      throw error
    }
  })
}

async function whatOf ({ bbox, polygon, zoom, retryFailed, failed }, layer) {
  if (retryFailed !== undefined) {
    if (bbox !== undefined || polygon !== undefined || zoom !== undefined) throw new TilecouchError('BAD_OPTION', { option: '--retry-failed', value: `${retryFailed} with an area` })
    if (failed !== undefined && path.resolve(failed) === path.resolve(retryFailed)) throw new TilecouchError('BAD_OPTION', { option: '--failed', value: `${failed}, which --retry-failed reads` })
    return { only: await readFailures(retryFailed, layer) }
  }
  return { area: await areaOf({ bbox, polygon }), zooms: parseZooms(zoom ?? '') }
}

function report (output, summary, plan, started, { failed: file, dryRun }, ended = '') {
  const seconds = (performance.now() - started) / 1000
  const { layer, tiles, fresh, stale, fetched, new: created, changed, unchanged, missing, outside, failed, requests, bytes: size, failures } = summary
  const title = `${layer}${ended && ` (${ended})`}: ${count(tiles)} of ${plural(summary.planned, 'tile')} in ${duration(seconds)}`
  const lines = dryRun
    ? [`${title}, looked up only`, `  ${count(stale)} would be asked for`]
    : [
        `${title} (${count(Math.round(fetched / seconds))} fetched/s, ${plural(requests, 'request')})`,
        `  ${count(fetched)} fetched: ${count(created)} new, ${count(changed)} changed (${bytes(size)} written), ${count(unchanged)} unchanged`,
        `  ${count(missing)} missing: the upstream has none`
      ]
  lines.push(`  ${count(fresh)} in the store and fresh`)
  if (outside) lines.push(`  ${count(outside)} outside of what the upstream has`)
  if (failed) {
    lines.push(`  ${count(failed)} failed:`)
    for (const { id, code, reason } of failures.slice(0, SHOWN_FAILURES)) lines.push(`    ${id}  ${reason} [${code}]`)
    if (failed > SHOWN_FAILURES) lines.push(`    … and ${count(failed - SHOWN_FAILURES)} more`)
    lines.push(file ? `  All of them are in ${file}: --retry-failed ${file}` : '  Run it again to try them again; --failed FILE keeps the list.')
  }
  output.result({ ...summary, seconds: +seconds.toFixed(3), plan }, lines)
}

class SeedProgress extends ProgressLine {
  #total = 0

  begin (total) {
    this.#total = total
  }

  show ({ tiles, fetched, fresh, missing, failed, bytes: size }) {
    this.draw(tiles, this.#total, rate => [
      bytes(size), `${count(Math.round(rate))}/s`, `${count(fetched)} fetched`,
      ...(fresh ? [`${count(fresh)} fresh`] : []), ...(missing ? [`${count(missing)} missing`] : []), ...(failed ? [`${count(failed)} failed`] : [])
    ])
  }
}
