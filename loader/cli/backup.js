// tilecouch backup and tilecouch restore
import { Option } from 'commander'
import { TilecouchError } from '../../core/index.js'
import { backup } from '../backup/index.js'
import { restore } from '../backup/restore.js'
import { inWords } from '../backup/rights.js'
import { identitiesOf, recipientsOf, signerOf, signersOf } from './backup-keys.js'
import { withDatabase, withPatientStore } from './connect.js'
import { wholeNumber } from './options.js'
import { bytes, count, duration, plural, secondsSince } from './output.js'
import { ProgressLine } from './progress.js'
import { confirmOn } from './prompt.js'

const STREAM = '-' // instead of a file

const collect = (value, before = []) => [...before, value]

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addBackupCommand (program, run) {
  program.command('backup')
    .description('write a store to one file, as it was at one moment, while it is read and written')
    .argument('<file>', 'what it is written to; - is standard output')
    .option('--base <file>', 'only what has changed since this backup of the same database')
    .option('--force', 'replace a file that is there')
    .option('--recipient <key>', 'encrypt it for this public key of age, age1…; may be repeated', collect)
    .option('--recipients-file <file>', 'encrypt it for the public keys in this file, one a line; may be repeated', collect)
    .option('--identity <file>', 'private keys of age, to read an encrypted base; may be repeated', collect)
    .option('--sign <file>', 'sign it with this private key (Ed25519, PEM)')
    .addHelpText('after', `
Examples:
  tilecouch backup tiles-full.tcb --db http://admin@localhost:5984/tiles
  tilecouch backup tiles-tuesday.tcb --base tiles-full.tcb
  tilecouch backup tiles-wednesday.tcb --base tiles-tuesday.tcb
  tilecouch backup - | ssh elsewhere 'cat > tiles.tcb'
  tilecouch backup tiles.tcb.age --recipients-file keys.txt --sign signing.pem

The file stands under its name when it is whole and has been read once more. It holds everything, of private layers too: only its
owner may read it. On somebody else's disk, encrypt and sign it. Design documents are not in it. Keep the base of every backup that goes on from it. See docs/backup.md.`)
    .action(run(backupCommand))

  program.command('restore')
    .description('make a database of the files of a backup, and compare it with them')
    .argument('<files...>', 'the full backup and those that go on from it, in any order; - is one full backup from standard input')
    .option('--dry-run', 'read and check the files, and write nothing; with --db, look at the database as well')
    .option('--partial', 'of a damaged file, take what comes before the damage')
    .addOption(new Option('--yes', 'give the rights that stand in the files (who is admin, writes, reads) without asking').conflicts('closed'))
    .option('--closed', 'give no rights: leave the database to admins')
    .option('--identity <file>', 'private keys of age that open encrypted files; may be repeated', collect)
    .addOption(new Option('--signed-by <file>', 'refuse what is not signed with the key of this file (public, Ed25519, PEM); may be repeated').argParser(collect).conflicts('partial'))
    .option('--shards <q>', 'of the new database (default: as many as it had)')
    .addHelpText('after', `
Examples:
  tilecouch restore tiles-full.tcb --db http://admin@localhost:5984/tiles
  tilecouch restore tiles-*.tcb --db http://admin@localhost:5984/restored
  tilecouch restore tiles-full.tcb tiles-tuesday.tcb --dry-run
  tilecouch restore tiles.tcb.age --identity key.txt --signed-by signing.pub.pem --db http://admin@localhost:5984/restored

The database must not be there yet, or be empty. Only admins see it until everything is in it, its indexes are built, and every
document has been compared with the files; then those may read it who might before. Who gets rights by it is shown and asked first,
unless --signed-by proves who made the files; without a terminal, and without --yes, nobody gets any. Killed, it is run again and goes on.
Exit codes: 0 all of it is there, 1 something failed, differs or was refused, 130 stopped.`)
    .action(run(restoreCommand))
}

function backupCommand (context, options, file) {
  const { output, signal } = context
  const toStream = file === STREAM
  if (toStream && /** @type {any} */ (output.stdout).isTTY) throw new TilecouchError('BAD_OPTION', { option: 'the file', value: STREAM, why: 'standard output is a terminal' })
  const keys = { recipients: recipientsOf(options), identities: identitiesOf(options, output), signer: signerOf(options, output) }
  return withPatientStore(context, options, async store => {
    const started = performance.now()
    const progress = new ProgressLine(output, 'documents')
    try {
      const summary = await backup(store, toStream ? output.stdout : file, {
        base: options.base,
        force: options.force,
        ...keys,
        signal,
        onProgress: ({ documents, total, size }) => progress.draw(documents, total && Math.max(total, documents), rate => [bytes(size), `${count(Math.round(rate))}/s`])
      })
      progress.end()
      const seconds = secondsSince(started)
      // standard output has the backup
      if (toStream) output.stderr.write(output.json ? JSON.stringify({ ...summary, seconds }) + '\n' : backupWords(summary, seconds).map(line => line + '\n').join(''))
      else output.result({ ...summary, seconds }, backupWords(summary, seconds))
      return summary.refused ? 1 : 0
    } finally {
      progress.end()
    }
  })
}

/** @param {import('../backup/index.js').BackupSummary} summary @param {number} seconds */
function backupWords ({ file, base, moment, documents, deleted, tiles, bytes: held, size, encrypted, signer, designs, refused, named, noted }, seconds) {
  return [
    `${file}: ${plural(documents, 'document')} (${plural(tiles, 'version')} of tiles, ${count(deleted)} deleted)${base ? ` changed since ${base}` : ''} in ${duration(seconds)}`,
    `  ${bytes(held)} of images in a file of ${bytes(size)} (${bytes(size / seconds)}/s), read once more and found right`,
    moment === 'store'
      ? '  The whole store as it was at one moment'
      : '  The store was never quiet: each tile is as it was at one moment, but not all of them at the same. Nothing is missing',
    ...(encrypted || signer ? [`  ${[encrypted && 'Encrypted', signer && `${encrypted ? 'signed' : 'Signed'} with the key ${signer}`].filter(Boolean).join(', ')}`] : []),
    ...(designs ? [`  ${plural(designs, 'design document')} left out: a restore deploys those of tilecouch`] : []),
    ...(noted ? [] : ['  The database cannot be written to, and does not remember this backup: that it was put back to an older state may not be noticed by the next one']),
    ...(refused ? [`  ${plural(refused, 'document')} could not be taken:`, ...named.map(({ id, reason }) => `    ${id}: ${reason}`)] : [])
  ]
}

async function restoreCommand (context, options, files) {
  const isStream = files.includes(STREAM)
  if (isStream && files.length > 1) throw new TilecouchError('BAD_OPTION', { option: 'the files', value: STREAM, why: 'standard input is one full backup, and stands alone' })
  const q = wholeNumber('--shards', options.shards, 3)
  const keys = { identities: identitiesOf(options, context.output), signedBy: signersOf(options) }
  const act = url => restoreInto(context, { ...options, ...keys }, isStream ? context.stdin : files, url, q)
  // whether files are right can be asked beside a database that is full
  return options.dryRun && options.db === undefined ? act(null) : withDatabase(context, options, act)
}

const steps = { reading: 'Reading the files', writing: 'Writing', indexing: 'Building the indexes', comparing: 'Comparing' }

async function restoreInto ({ output, stdin, signal }, { partial, dryRun = false, yes, closed, identities, signedBy }, files, url, q) {
  const started = performance.now()
  let progress = new ProgressLine(output, 'documents')
  let shown
  const confirm = Array.isArray(files) && !output.json ? confirmOn({ stdin, stderr: output.stderr, signal }) : undefined // a pipe is read, and nobody can answer there
  const ask = confirm && (async changes => {
    progress.end()
    output.note(['The files say who has which rights in the database:', ...changes.map(change => `  ${inWords(change)}`)].join('\n'))
    return confirm('Is that right? [y/N] ')
  })
  try {
    const summary = await restore(files, url, {
      partial,
      dryRun,
      rights: yes ? 'give' : closed ? 'leave' : ask,
      identities,
      signedBy,
      q,
      signal,
      onProgress ({ step, done, total }) {
        if (step !== shown) {
          progress.end()
          output.note(`${steps[step]} …`)
          progress = new ProgressLine(output, 'documents')
          shown = step
        }
        progress.draw(done, total, rate => [`${count(Math.round(rate))}/s`])
      }
    })
    progress.end()
    const seconds = secondsSince(started)
    output.result({ ...summary, seconds }, restoreWords(summary, seconds, Boolean(signedBy)))
    return summary.refused + summary.differences + summary.damage.length || summary.withheld ? 1 : 0
  } catch (error) {
    progress.end()
    if (error.written) output.note(`${plural(error.written, 'document')} had been written. The database stays closed to everybody but admins; run it again, or remove the database.`)
    throw error
  }
}

/** @param {import('../backup/restore.js').RestoreSummary} summary @param {number} seconds @param {boolean} isProven */
function restoreWords (summary, seconds, isProven) {
  const { of, files, unneeded, dryRun, resumed, written, documents, deleted, tiles, bytes: held, refused, refusals, compared, differences, differing, damage, access, security, withheld, signer, rights, upstreams } = summary
  const when = of.finished ? `as it was at ${of.finished}${of.moment === 'tile' ? ' (each tile at its own moment)' : ''}` : `of the backup begun at ${of.made}`
  return [
    `${of.name} ${when}, from ${files.join(', ')}`,
    `  ${plural(documents, 'document')} (${plural(tiles, 'version')} of tiles, ${bytes(held)}), and ${count(deleted)} deleted`,
    ...(signer ? [`  Signed with the key ${signer}${isProven ? ', as it must be' : '; whose that is was not checked (--signed-by)'}`] : []),
    ...upstreams.map(({ layer, hosts }) => `  Missing tiles of the layer ${layer} are fetched from ${hosts.join(', ')}`),
    ...unneeded.map(file => `  ${file} is not part of it, and was not read`),
    ...damage.map(({ file, at, why }) => `  ${file} is damaged${at === undefined ? '' : ` at byte ${at}`} (${why}): only what comes before was taken`),
    ...(dryRun ? [...rights.map(change => `  By these files ${inWords(change)}`), ...(damage.length ? [] : ['  Every block, digest and count is right. Nothing was written'])] : [
      `  ${count(written)} written${resumed ? ', others were there from a run before' : ''} in ${duration(seconds)} (${count(Math.round(written / seconds))}/s); ${count(compared)} compared: ${differences ? `${count(differences)} differ` : 'all are as the files say'}`,
      ...differing.map(what => `    ${what}`),
      ...(refused ? [`  ${plural(refused, 'document')} refused:`, ...refusals.map(({ id, reason }) => `    ${id}: ${reason}`)] : []),
      ...(withheld ? ['  Nobody said that the rights in the files may be given (run it again with --yes, and they are):', ...rights.map(change => `    ${inWords(change)}`)] : []),
      access === 'restored' ? `  Open as before: ${readers(security)}` : '  The database stays closed to everybody but admins: look at it with `tilecouch check`, and open it with `tilecouch access`'
    ])
  ]
}

function readers ({ members = /** @type {any} */ ({}) }) {
  const listed = [...members.names ?? [], ...(members.roles ?? []).map(role => `the role ${role}`)]
  return listed.length ? `readers are ${listed.join(', ')}` : 'everybody reads'
}
