// tilecouch expire
import { TilecouchError, now } from '../../core/index.js'
import { expire } from '../expire.js'
import { userAgentOf } from '../upstream/index.js'
import { withPatientStore } from './connect.js'
import { sayStates } from './following.js'
import { timeOrAgo, wholeNumber } from './options.js'
import { bytes, count, plural, secondsSince, table } from './output.js'
import { ProgressLine } from './progress.js'
import { NETWORKS_FLAG, networksOf, rateOf, requestsOf, secretsOf } from './upstream.js'

const SHOWN = 20 // tiles named; --limit says otherwise, --json has more
const RETRIES = 2 // of a request of a live one: that the store is away is said soon, and waited out
const LIVE_PATIENCE = 30 // seconds for the upstream of a layer, before the others have their turn

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addExpireCommand (program, run) {
  program.command('expire')
    .description('tiles that have expired: list them, fetch them again, or remove them')
    .argument('[layers...]', 'of these layers')
    .option('--all', 'of all layers')
    .option('--list', 'say which tiles have expired, and how long ago (the default)')
    .option('--refresh', 'ask the upstream of their layer again: what has changed becomes a version, the rest holds longer')
    .option('--remove', 'remove them; a tile with a past keeps it, and is gone from the time it expired')
    .option('--with-past', 'with --remove: remove the past of such tiles as well')
    .option('--purge', 'with --remove: leave no trace of what is removed (CouchDB only)')
    .option('--before <time>', 'only what expired before this time, such as 2024-03-01, or longer ago than 7d; --list may look ahead')
    .option('--limit <n>', `so many tiles at most; of a list, name so many (default: ${SHOWN})`)
    .option('--live', 'with --refresh or --remove: go on, and sleep until the next tile expires')
    .option('-n, --dry-run', 'only say what there is to be done')
    .option('--rate <n/s>', 'with --refresh: requests a second at most (default: as the layer says)')
    .option('--concurrency <n>', 'with --refresh: requests in flight at most (default: as the layer says)')
    .option('--contact <text>', 'mail address or page that the User-Agent tells the upstream (default: TILECOUCH_CONTACT)')
    .option(...NETWORKS_FLAG)
    .option('--i-have-permission', 'refresh although the terms of the upstream forbid fetching ahead')
    .addHelpText('after', `
Examples:
  tilecouch expire osm
  tilecouch expire --all --refresh --rate 10/s
  tilecouch expire radar --remove --before 7d --dry-run
  tilecouch expire --all --refresh --live

What has expired is what the gateway takes for expired: by the tile's own time, else by the ttl of its layer. The clock is
that of this machine. The exit code is 0 only if nothing failed, was refused or had to be left.`)
    .action(run(expireCommand))
}

async function expireCommand (context, options, names) {
  const { output, signal } = context
  const settings = settingsOf(options, names)
  const { action, live } = settings
  return withPatientStore(context, options, async store => {
    if (live) store.couch.options.retries = RETRIES
    const started = performance.now()
    const progress = new ProgressLine(output)
    let listed = 0
    try {
      const tally = await expire(store, {
        ...settings,
        signal,
        ...(live ? following(output) : { onProgress: done => progress.draw(done.expired, undefined, () => partsOf(action, done)) }),
        onTile: ({ id, expires, seconds, bytes: size }) => {
          if (!listed++) output.line('expired               ago      bytes  tile')
          output.line(`${expires}  ${ago(seconds).padEnd(7)}  ${bytes(size).padStart(6)}  ${id}`)
        },
        onTrouble: error => { progress.end(); output.note(`Waiting: ${error.message}`) }
      })
      progress.end()
      report(output, tally, { ...settings, seconds: secondsSince(started) })
      return tally.failed + tally.refused + tally.left + tally.troubles.length ? 1 : 0
    } catch (error) {
      progress.end()
      if (error.summary) report(output, error.summary, { ...settings, seconds: secondsSince(started), how: ' (stopped)' })
      throw error
    }
  })
}

function settingsOf (options, names) {
  const wrong = (option, why) => { throw new TilecouchError('BAD_OPTION', { option, value: true, why }) }
  if (options.all ? names.length : !names.length) throw new TilecouchError('BAD_OPTION', { option: 'LAYER', value: names.join(' '), why: 'name layers, or say --all' })
  const actions = ['list', 'refresh', 'remove'].filter(action => options[action])
  if (actions.length > 1) wrong(`--${actions[1]}`, `it does not go with --${actions[0]}`)
  const action = /** @type {import('../expire.js').Action} */ (actions[0] ?? 'list')
  for (const [name, needed] of [['withPast', 'remove'], ['purge', 'remove'], ['rate', 'refresh'], ['concurrency', 'refresh'], ['iHavePermission', 'refresh']]) {
    if (options[name] !== undefined && action !== needed) wrong(`--${name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`, `it goes with --${needed}`)
  }
  const live = Boolean(options.live)
  return {
    action,
    live,
    layers: options.all ? undefined : /** @type {string[]} */ (names),
    before: options.before === undefined ? undefined : timeOrAgo(options.before),
    limit: wholeNumber('--limit', options.limit, 9) ?? (action === 'list' && !options.json ? SHOWN : undefined),
    dryRun: Boolean(options.dryRun),
    withPast: Boolean(options.withPast),
    purge: Boolean(options.purge),
    seeding: {
      rate: rateOf(options.rate),
      concurrency: requestsOf('--concurrency', options.concurrency),
      permission: Boolean(options.iHavePermission),
      userAgent: userAgentOf(options.contact ?? process.env.TILECOUCH_CONTACT),
      secrets: secretsOf(process.env.TILECOUCH_UPSTREAM_HEADERS),
      networks: networksOf(options),
      ...(live && { patience: { patience: LIVE_PATIENCE } })
    }
  }
}

/** `90` -> `1m 30s`; the two largest units say enough. */
function ago (seconds) {
  if (seconds < 0) return `in ${ago(-seconds)}`
  const units = /** @type {[string, number][]} */ ([['d', 86400], ['h', 3600], ['m', 60], ['s', 1]])
  const at = Math.max(0, units.findIndex(([, size]) => seconds >= size))
  let rest = seconds
  return units.slice(at, at + 2).flatMap(([unit, size]) => {
    const whole = Math.floor(rest / size)
    rest -= whole * size
    return whole ? [`${whole}${unit}`] : []
  }).join(' ') || 'now'
}

const partsOf = (action, { changed, unchanged, failed, removed, ended }) => action === 'refresh'
  ? [`${count(changed)} changed`, `${count(unchanged)} unchanged`, ...(failed ? [`${count(failed)} failed`] : [])]
  : action === 'remove' ? [`${count(removed)} removed`, `${count(ended)} gone`] : []

/** What is said by a live one: a line when something was done, and when the store goes and comes. */
function following (output) {
  const fields = ['changed', 'unchanged', 'missing', 'failed', 'removed', 'ended']
  let before = /** @type {Record<string, number>} */ ({})
  return {
    onState: sayStates(output, 'Waiting for tiles to expire.'),
    onProgress: tally => {
      const news = fields.filter(field => tally[field] > (before[field] ?? 0))
      if (news.length) output.line(`${now()}  ${news.map(field => `${count(tally[field] - (before[field] ?? 0))} ${field === 'ended' ? 'gone' : field}`).join(', ')}`)
      before = Object.fromEntries(fields.map(field => [field, tally[field]]))
    }
  }
}

function report (output, tally, { action, dryRun, live, seconds, how = '' }) {
  const would = dryRun ? 'would be ' : ''
  const layers = Object.entries(tally.layers).filter(([, { tiles }]) => tiles)
  const lines = [
    ...(tally.listed.length ? [''] : []),
    `${plural(tally.expired, 'tile')} ${tally.expired === 1 ? 'has' : 'have'} expired (${bytes(tally.bytes)})${how}`,
    ...(layers.length > 1 || action === 'list' ? table(['layer', 'tiles', 'size', 'first', 'last'], layers.map(([layer, { tiles, bytes: size, first, last }]) => [layer, tiles, bytes(size), first, last])).slice(layers.length ? 0 : 1).map(line => `  ${line}`) : []),
    ...(action === 'list' && tally.listed.length < tally.expired ? [`  ${count(tally.listed.length)} of them are named; --limit names more`] : []),
    ...(action === 'refresh' ? dryRun ? ['  they would be asked for'] : refreshed(tally) : []),
    ...(action === 'remove' ? removed(tally, would) : []),
    ...(tally.gone && action !== 'refresh' ? [`  besides, ${plural(tally.gone, 'tile')} ${tally.gone === 1 ? 'is' : 'are'} gone, and may be asked for again with --refresh`] : []),
    ...tally.passedOver.map(({ layer, reason }) => `  passed over: ${layer}: ${reason}`),
    ...tally.troubles.map(({ layer, reason }) => `  given up for now: ${layer}: ${reason}`),
    ...tally.named.slice(0, SHOWN).map(({ id, what, reason }) => `  ${what}: ${id}: ${reason}`),
    ...(tally.named.length > SHOWN ? [`  and ${count(tally.failed + tally.refused - SHOWN)} more`] : [])
  ]
  output.result({ action, dryRun, live, ...tally, seconds }, lines)
}

const refreshed = ({ changed, unchanged, fresh, missing, outside, failed, left }) => [
  `  ${count(changed)} changed, ${count(unchanged)} unchanged and hold longer`,
  ...(fresh ? [`  ${count(fresh)} were refreshed by somebody else meanwhile`] : []),
  ...(missing ? [`  ${count(missing)} stay as they are: the upstream has none any more`] : []),
  ...(outside ? [`  ${count(outside)} stay as they are: they are outside of what the upstream has`] : []),
  ...(failed ? [`  ${count(failed)} failed: run it again to try them again`] : []),
  ...(left ? [`  ${count(left)} were not asked for: run it again`] : [])
]

const removed = ({ removed: heads, versions, ended, freed, changed, refused }, would) => [
  `  ${plural(heads, 'tile')} ${would}removed (${plural(versions, 'version')}, ${bytes(freed)})`,
  ...(ended ? [`  ${plural(ended, 'tile')} with a past ${would}gone from when they expired on; what was shown before stays in the past`] : []),
  ...(changed ? [`  ${count(changed)} were written by somebody else meanwhile, and stay`] : []),
  ...(refused ? [`  ${count(refused)} refused`] : [])
]
