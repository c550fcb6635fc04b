// tilecouch backup, tilecouch restore
import { backup } from '../backup/index.js'
import { restore } from '../backup/restore.js'
import { inWords } from '../backup/rights.js'
import { withDatabase } from './store.js'
import { refuse } from './options.js'
import { byCause, bytes, count, duration, plural } from './output.js'
import { confirmPrompt } from './passwords.js'
import { ProgressLine } from './progress.js'
import { runStoreTask, runTask } from './task.js'
import { Couch } from '../store/couch.js'

const STREAM = '-' // standard input or output

/** @type {import('./command.js').Declaration} */
export const backupCommand = {
  arguments: [['<file>', 'the backup; - for standard output']],
  options: [
    ['--base <file>', 'only what has changed since this backup of the same database'],
    '--force'
  ],
  help: `Examples:
  tilecouch backup tiles-full.tcb --db http://admin@localhost:5984/tiles
  tilecouch backup tiles-tuesday.tcb --base tiles-full.tcb
  tilecouch backup - | age -r age1… > tiles.tcb.age

The file contains everything except design documents, private layers too: encrypt it for a disk of somebody else. Keep
the base of every backup made with --base. See docs/backup.md.`,
  run: runBackup
}

/** @type {import('./command.js').Declaration} */
export const restoreCommand = {
  arguments: [['<files...>', 'the full backup and those based on it; - reads one from standard input']],
  options: [
    '-n, --dry-run',
    ['--partial', 'from a damaged file, take what comes before the damage'],
    ['--yes', '', { conflicts: ['closed'] }],
    ['--closed', 'give no rights: only admins get in'],
    ['--q <n>', '', { digits: 3 }]
  ],
  help: `Examples:
  tilecouch restore tiles-full.tcb --db http://admin@localhost:5984/tiles
  tilecouch restore tiles-full.tcb tiles-tuesday.tcb --dry-run
  age -d -i key.txt tiles.tcb.age | tilecouch restore - --db http://admin@localhost:5984/restored

The database must be new or empty. Only admins see it until everything is written and compared. The rights in the files
are shown and must be confirmed. A restore that was killed continues when it is run again. See docs/backup.md.`,
  run: runRestore
}

function runBackup (context, options, file) {
  const { output, signal } = context
  const isPiped = file === STREAM
  if (isPiped && /** @type {any} */ (output.stdout).isTTY) refuse('the file', STREAM, 'standard output is a terminal')
  if (isPiped) output.leaveStdout()
  return runStoreTask(context, options, store => ({
    command: 'backup',
    unit: 'documents',
    figures: ({ step, file: written, documents, total, refused, named: examples, size, moment }) => ({
      title: step === 'verifying' ? 'Verifying' : '',
      done: documents,
      total: written ? documents : total && Math.max(total, documents),
      failed: refused,
      failures: examples,
      about: { step, file: written, bytes: size, moment }
    }),
    run: onProgress => backup(store, isPiped ? output.stdout : file, {
      base: options.base, force: options.force, signal, onProgress
    }),
    report: describeBackup,
    isFaulty: summary => summary.refused
  }))
}

/** @param {import('../backup/index.js').BackupSummary} summary @param {number} seconds */
function describeBackup (summary, seconds) {
  const { file, base, moment, documents, deleted, tiles, size } = summary
  const { designs, refused, named: examples, noted } = summary
  const since = base ? ` changed since ${base}` : ''
  const content = `${plural(documents, 'document')} (${plural(tiles, 'version')} of tiles, ${count(deleted)} deleted)`
  return [
    `${file}: ${content}${since} in ${duration(seconds)}`,
    `  ${bytes(summary.bytes)} of images in a file of ${bytes(size)} (${bytes(size / seconds)}/s), read again and ` +
      'verified',
    moment === 'store'
      ? '  The whole store as it was at one moment'
      : '  The store kept changing: each tile is as it was at one moment, but not all at the same moment. Nothing is ' +
        'missing',
    designs && `  ${plural(designs, 'design document')} left out: restore deploys those of tilecouch`,
    ...tokenLines(summary.tokens, 'is not in it', 'are not in it'),
    !noted && '  The database is read-only and has no note of this backup: the next one may not notice an older state',
    refused && [`  ${plural(refused, 'document')} could not be read:`, ...byCause(examples, refused)]
  ]
}

/** Tokens of the store give access to private layers: a copy of the store begins without any. */
const tokenLines = (tokens, one, several) => tokens
  ? [`  ${plural(tokens, 'token')} ${tokens === 1 ? one : several}: make new ones in the control room after a restore`]
  : []

async function runRestore (context, options, files) {
  const isPiped = files.includes(STREAM)
  if (isPiped && files.length > 1) {
    refuse('the files', STREAM, 'standard input takes one full backup and no other files')
  }
  const restoreTo = url => restoreInto(context, options, isPiped ? context.stdin : files, url)
  // files can be checked without a database
  if (options.dryRun && options.db === undefined) return restoreTo(null)
  return withDatabase(context, options, restoreTo, { creates: !options.dryRun })
}

const steps = { reading: 'Reading', writing: 'Writing', indexing: 'Building the indexes', comparing: 'Comparing' }

function restoreInto (context, options, files, url) {
  const { output, stdin, signal } = context
  const { partial, dryRun = false, yes, closed, q } = options
  const progress = new ProgressLine(output, 'documents')
  const isPipe = !Array.isArray(files) // standard input is the backup: no answer can come from there
  const confirm = isPipe || output.json ? undefined : confirmPrompt({ stdin, stderr: output.stderr, signal })
  const ask = confirm && (async changes => {
    progress.end()
    output.note('The files give these rights in the database:', changes.map(change => `  ${inWords(change)}`))
    return confirm('Give them? [y/N] ')
  })
  const rightsWithoutYes = closed ? 'leave' : ask
  return runTask(context, url && !dryRun ? new Couch(url) : undefined, {
    command: 'restore',
    unit: 'documents',
    progress,
    figures: ({ step, done, total, documents, refused, refusals }) => ({
      title: steps[step],
      unit: step === 'indexing' ? 'changes' : 'documents',
      done: done ?? documents,
      total: total ?? documents,
      failed: refused,
      failures: refusals,
      about: { step }
    }),
    run: onProgress => restore(files, url, {
      partial, dryRun, q, signal, rights: yes ? 'give' : rightsWithoutYes,
      onProgress (tally) {
        if (progress.begin(steps[tally.step])) output.note(`${progress.title} …`)
        onProgress(tally)
      }
    }).catch(error => {
      if (error.written) {
        output.note(`${plural(error.written, 'document')} had been written. Only admins may use the database. ` +
          'Run the command again, or remove the database.')
      }
      throw error
    }),
    report: describeRestore,
    isFaulty: ({ refused, differences, damage, withheld }) => refused + differences + damage.length || withheld
  })
}

/** @param {import('../backup/restore.js').RestoreSummary} summary @param {number} seconds */
function describeRestore (summary, seconds) {
  const { of: newest, files, unneeded, dryRun, documents, deleted, tiles, damage, rights, upstreams } = summary
  const stateWords = newest.finished
    ? `as it was at ${newest.finished}${newest.moment === 'tile' ? ' (each tile at its own moment)' : ''}`
    : `of the backup begun at ${newest.made}`
  const content = `${plural(documents, 'document')} (${plural(tiles, 'version')} of tiles, ${bytes(summary.bytes)})`
  const place = offset => offset === undefined ? '' : ` at byte ${offset}`
  return [
    `${newest.name} ${stateWords}, from ${files.join(', ')}`,
    `  ${content}, and ${count(deleted)} deleted`,
    ...tokenLines(summary.tokens, 'of the store is not in the backup', 'of the store are not in the backup'),
    ...upstreams.map(({ layer, hosts }) => `  Missing tiles of the layer ${layer} are fetched from ` +
      `${hosts.join(', ')}`),
    ...unneeded.map(file => `  ${file} is not part of it, and was not read`),
    ...damage.map(({ file, at, why }) => `  ${file} is damaged${place(at)} (${why}): only what comes before was taken`),
    ...(dryRun ? rights.map(change => `  By these files ${inWords(change)}`) : describeWritten(summary, seconds)),
    dryRun && !damage.length && '  Every block, digest and count is right. Nothing was written.'
  ]
}

function describeWritten (summary, seconds) {
  const { resumed, written, refused, refusals, compared, differences, differing } = summary
  const { access, security, withheld, rights } = summary
  const rate = `${duration(seconds)} (${count(Math.round(written / seconds))}/s)`
  const outcome = differences ? `${count(differences)} differ` : 'all are as the files say'
  return [
    `  ${count(written)} written${resumed ? ', others by an earlier run' : ''} in ${rate}; ${count(compared)} ` +
      `compared: ${outcome}`,
    ...differing.map(difference => `    ${difference}`),
    refused && [`  ${plural(refused, 'document')} refused:`, ...byCause(refusals, refused)],
    withheld && '  Nobody confirmed the rights in the files (run it again with --yes to give them):',
    withheld && rights.map(change => `    ${inWords(change)}`),
    access === 'restored'
      ? `  Open as before: ${readers(security)}`
      : '  Only admins may use the database: look at it with `tilecouch check`, then open it with `tilecouch access`'
  ]
}

function readers ({ members = /** @type {any} */ ({}) }) {
  const listed = [...members.names ?? [], ...(members.roles ?? []).map(role => `the role ${role}`)]
  return listed.length ? `readers are ${listed.join(', ')}` : 'everybody reads'
}
