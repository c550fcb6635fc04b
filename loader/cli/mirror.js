// tilecouch mirror
import { existsSync } from 'node:fs'
import { Option } from 'commander'
import { TilecouchError } from '../../core/index.js'
import { DEFAULT_DATABASE, resolveDatabase } from '../couchapp/environments.js'
import { Mirror } from '../mirror/index.js'
import { MirrorProgress, MirrorReport } from './mirror-report.js'
import { areaIfAny, zoomsOf } from './options.js'

const EMBEDDED = 'embedded' // instead of an address: the store in --data

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addMirrorCommand (program, run) {
  program.command('mirror')
    .description('make one store into a copy of another, all of it or a part, once or for good')
    .argument('<from>', 'the store that is there: a URL, an environment of .couchapprc, a name on this machine, the /db of a gateway, or `embedded` for the store in --data')
    .argument('<to>', 'what becomes its mirror: the same, but for a gateway; a database that is not there is made')
    .option('--layer <names>', 'only these layers; several with commas, or the option several times', (value, before = /** @type {string[]} */ ([])) => [...before, ...value.split(',').map(name => name.trim())])
    .option('--bbox <w,s,e,n>', 'only tiles that touch this box, in degrees')
    .option('--polygon <file>', 'only tiles that touch the polygons of this GeoJSON file; with --bbox, what lies in both')
    .option('-z, --zoom <a-b>', 'only these zooms')
    .option('--current', 'only the present, without the past')
    .option('--since <time>', 'of the past, only what was still to be seen then or came later')
    .option('--live', 'go on with every change until Ctrl-C, also when a side is away meanwhile')
    .option('-n, --dry-run', 'say what would be carried, and change nothing on either side')
    .option('--public', 'everybody may read the mirror, although not everybody may read what is mirrored')
    .option('--replicator', 'let the CouchDB of TO do it: writes and watches a document of its _replicator')
    .option('--winning-revs-only', 'with --replicator: without conflicts')
    .option('--push', 'with --replicator: the CouchDB of FROM does it')
    .option('--replace', 'with --replicator: stop other replications of the same two databases')
    .option('--stop', 'with --replicator: end the replication')
    .addOption(new Option('--data <folder>', 'where the embedded store keeps its data').default('./data'))
    .addHelpText('after', `
Examples:
  tilecouch mirror https://maps.example/tiles http://admin@localhost:5984/tiles
  tilecouch mirror https://gateway.example/db embedded --layer osm --bbox 5.9,45.8,10.5,47.8 --zoom 0-14 --live
  tilecouch mirror production backup --dry-run

Run it again, and it goes on where it was. Names: in the URLs; else, with passwords, TILECOUCH_FROM_USER and TILECOUCH_FROM_PASSWORD
for FROM, COUCHDB_USER and COUCHDB_PASSWORD for TO. A new mirror serves when everything is there, and everybody may read it only if
everybody may read FROM. Two stores that are both written to are mirrored both ways, and \`tilecouch resolve\` settles their conflicts.
What TO refuses is tried again with every run, and every minute of a live one.
Exit codes: 0 everything is there, 1 something is refused or failed, 130 stopped before everything was there.`)
    .action(run(mirrorCommand))
}

async function mirrorCommand (context, options, from, to) {
  const { signal } = context
  check(options, from, to)
  const wanted = {
    layers: options.layer,
    area: await areaIfAny(options),
    zooms: zoomsOf(options.zoom),
    current: options.current,
    since: options.since
  }
  // the address of an embedded store is another one each time, and good for nothing afterwards
  const shown = (name, couch) => name === EMBEDDED ? name : couch.url
  return withSides(context, options, [from, to], async (source, target) => {
    if (options.replicator) {
      const { replicatorCommand } = await import('./replicator.js')
      return replicatorCommand(context, options, { from: source, to: target, wanted })
    }
    const { live = false, dryRun = false } = options
    const progress = new MirrorProgress(context.output)
    const mirror = new Mirror(source, target, {
      ...wanted,
      live,
      dryRun,
      public: options.public,
      signal,
      onProgress: status => progress.show(status),
      onState: status => report.state(status),
      onThere: () => report.there(mirror.status())
    })
    const report = new MirrorReport(context.output, { from: shown(from, mirror.source), to: shown(to, mirror.target), data: options.data, live, dryRun, progress })
    try {
      report.end(await mirror.run())
    } catch (error) {
      const stopped = error.code === 'ABORTED'
      if (mirror.status().checkpoint !== undefined) report.end(mirror.status(), stopped ? 'stopped' : 'given up')
      // a live one ends when it is told to: that is no failure, once everything was there that the target takes
      if (!stopped || !live || mirror.status().upToDate === undefined) throw error
    }
    return mirror.status().lacking ? 1 : 0
  })
}

function check (options, from, to) {
  const wrong = (option, value, why) => new TilecouchError('BAD_OPTION', { option, value, why })
  if (from === EMBEDDED && to === EMBEDDED) throw new TilecouchError('SAME_DATABASE', { url: from, where: to })
  if (options.live && options.dryRun) throw wrong('--live', true, 'it does not go with --dry-run')
  for (const name of ['winningRevsOnly', 'push', 'replace', 'stop']) {
    if (options[name] !== undefined && !options.replicator) throw wrong(`--${name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`, true, 'it goes with --replicator')
  }
}

/** Both sides by their URLs, an embedded store for as long as it takes. */
async function withSides (context, { data, dryRun }, names, action) {
  let embedded
  try {
    const urls = /** @type {any[]} */ ([])
    for (const [index, name] of names.entries()) {
      if (name !== EMBEDDED) urls.push(await resolveDatabase(name, { side: index ? 'COUCHDB' : 'TILECOUCH_FROM' }))
      else if (!index && !existsSync(data)) throw new TilecouchError('SOURCE_NOT_FOUND', { value: data })
      else if (dryRun && !existsSync(data)) urls.push(null) // opening it would make it
      else urls.push(`${(embedded = await context.openEmbedded(data)).url}/${DEFAULT_DATABASE}`)
    }
    return await action(...urls)
  } finally {
    await embedded?.close()
  }
}
