// tilecouch backup, tilecouch restore
import { Option } from 'commander'
import { TilecouchError } from '../errors.js'
import { parseIdentity, parseRecipient } from '../backup/age.js'
import { backup } from '../backup/index.js'
import { restore } from '../backup/restore.js'
import { inWords } from '../backup/rights.js'
import { parsePublicKey, parseSigner } from '../backup/signature.js'
import { isWorldReadable, readSecretFile } from '../secrets.js'
import { withDatabase, withPatientStore } from './connect.js'
import { collect, wholeNumber } from './options.js'
import { byCause, bytes, count, duration, plural, secondsSince } from './output.js'
import { confirmPrompt } from './passwords.js'
import { ProgressLine } from './progress.js'
import { Couch } from '../store/couch.js'
import { withWork } from './work.js'

const STREAM = '-' // standard input or output

const MOST_KEYS = 65536 // bytes of a file with keys

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addBackupCommand (program, run) {
  program.command('backup')
    .description('write the store to one file, as it was at one moment; readers and writers go on')
    .argument('<file>', 'the backup; - for standard output')
    .option('--base <file>', 'only what has changed since this backup of the same database')
    .option('--force')
    .option('--recipient <key>', 'encrypt for this public age key (age1…); repeatable', collect)
    .option('--recipients-file <file>', 'encrypt for the public age keys in this file, one per line; repeatable', collect)
    .option('--identity <file>', '', collect)
    .option('--sign <file>', 'sign with this private key (Ed25519, PEM)')
    .addHelpText('after', `
Examples:
  tilecouch backup tiles-full.tcb --db http://admin@localhost:5984/tiles
  tilecouch backup tiles-tuesday.tcb --base tiles-full.tcb
  tilecouch backup tiles-wednesday.tcb --base tiles-tuesday.tcb
  tilecouch backup - | ssh elsewhere 'cat > tiles.tcb'
  tilecouch backup tiles.tcb.age --recipients-file keys.txt --sign signing.pem

The file gets its final name only when it is complete and has been read again. It contains everything, private layers too, so only
its owner may read it: encrypt and sign it for a disk of somebody else. Design documents are not in it. Keep the base of every
backup made with --base. See docs/backup.md.`)
    .action(run(backupCommand))

  program.command('restore')
    .description('create a database from the files of a backup, and compare it with them')
    .argument('<files...>', 'the full backup and those based on it, in any order; - reads one full backup from standard input')
    .option('-n, --dry-run')
    .option('--partial', 'from a damaged file, take what comes before the damage')
    .addOption(new Option('--yes').conflicts('closed'))
    .option('--closed', 'give no rights: only admins get in')
    .option('--identity <file>', '', collect)
    .addOption(new Option('--signed-by <file>', 'refuse files not signed with this public key (Ed25519, PEM); repeatable')
      .argParser(collect).conflicts('partial'))
    .option('--q <n>')
    .addHelpText('after', `
Examples:
  tilecouch restore tiles-full.tcb --db http://admin@localhost:5984/tiles
  tilecouch restore tiles-*.tcb --db http://admin@localhost:5984/restored
  tilecouch restore tiles-full.tcb tiles-tuesday.tcb --dry-run
  tilecouch restore tiles.tcb.age --identity key.txt --signed-by signing.pub.pem --db http://admin@localhost:5984/restored

The database must be new or empty. Only admins see it until everything is written, indexed and compared with the files; then the same
people may read it as before. The rights in the files are shown and must be confirmed, unless --signed-by proves who made the files;
without a terminal and without --yes, nobody gets any. A restore that was killed continues when it is run again. --dry-run checks the
files; with --db, also whether the database can take them.
Exit codes: 0 everything is restored, 1 something failed, differs or was refused, 130 stopped.`)
    .action(run(restoreCommand))
}

function backupCommand (context, options, file) {
  const { output, signal } = context
  const toStream = file === STREAM
  if (toStream && /** @type {any} */ (output.stdout).isTTY) throw bad('the file', STREAM, 'standard output is a terminal')
  const keys = {
    recipients: recipientsOf(options),
    identities: identitiesOf(options, output),
    signer: signerOf(options, output)
  }
  const about = { command: 'backup', unit: 'documents' }
  return withPatientStore(context, options, store => withWork(context, store.couch, about, async work => {
    const started = performance.now()
    const progress = new ProgressLine(output, 'documents')
    try {
      const summary = await backup(store, toStream ? output.stdout : file, {
        base: options.base,
        force: options.force,
        ...keys,
        signal,
        onProgress ({ step, documents, total, size }) {
          const title = step === 'verifying' ? 'Verifying' : ''
          if (title !== progress.title) progress.restart(title)
          progress.draw(documents, total && Math.max(total, documents), () => [bytes(size)])
          work.show({ done: documents, total: total && Math.max(total, documents), about: { step, bytes: size } })
        }
      })
      progress.end()
      work.show(figuresOf(summary))
      const seconds = secondsSince(started)
      const result = { ...summary, seconds }
      const lines = describeBackup(summary, seconds)
      // the backup is written to standard output
      if (toStream) output.stderr.write(`${output.json ? JSON.stringify(result) : lines.join('\n')}\n`)
      else output.result(result, lines)
      return summary.refused ? 1 : 0
    } finally {
      progress.end()
    }
  }))
}

const figuresOf = ({ file, documents, refused, named, size, moment }) => ({
  done: documents,
  total: documents,
  failed: refused,
  failures: named,
  about: { step: undefined, file, bytes: size, moment }
})

/** @param {import('../backup/index.js').BackupSummary} summary @param {number} seconds */
function describeBackup (summary, seconds) {
  const { file, base, moment, documents, deleted, tiles, size, encrypted, signer } = summary
  const { designs, refused, named, noted } = summary
  const since = base ? ` changed since ${base}` : ''
  const content = `${plural(documents, 'document')} (${plural(tiles, 'version')} of tiles, ${count(deleted)} deleted)`
  return [
    `${file}: ${content}${since} in ${duration(seconds)}`,
    `  ${bytes(summary.bytes)} of images in a file of ${bytes(size)} (${bytes(size / seconds)}/s), read again and verified`,
    moment === 'store'
      ? '  The whole store as it was at one moment'
      : '  The store kept changing: each tile is as it was at one moment, but not all at the same moment. Nothing is missing',
    ...(encrypted ? ['  Encrypted'] : []),
    ...(signer ? [`  Signed with the key ${signer}`] : []),
    ...(designs ? [`  ${plural(designs, 'design document')} left out: restore deploys those of tilecouch`] : []),
    ...tokenLines(summary.tokens, 'is not in it', 'are not in it'),
    ...(noted ? [] : ['  The database is read-only and has no note of this backup: the next one may not notice an older state']),
    ...(refused ? [`  ${plural(refused, 'document')} could not be read:`, ...reasons(named, refused)] : [])
  ]
}

/** Tokens of the store give access to private layers: a copy of the store begins without any. */
const tokenLines = (tokens, one, several) => tokens
  ? [`  ${plural(tokens, 'token')} ${tokens === 1 ? one : several}: make new ones in the control room after a restore`]
  : []

const reasons = (refusals, all) =>
  byCause(refusals, all, { causeOf: ({ reason }) => reason, wordsOf: ({ id, reason }) => [`${id}: ${reason}`] })

async function restoreCommand (context, options, files) {
  const isStream = files.includes(STREAM)
  if (isStream && files.length > 1) throw bad('the files', STREAM, 'standard input takes one full backup and no other files')
  const q = wholeNumber('--q', options.q, 3)
  const keys = { identities: identitiesOf(options, context.output), signedBy: signersOf(options) }
  const about = { command: 'restore', unit: 'documents' }
  const act = url => withWork(context, url && !options.dryRun ? new Couch(url) : undefined, about, work =>
    restoreInto(context, { ...options, ...keys, work }, isStream ? context.stdin : files, url, q))
  // files can be checked without a database
  if (options.dryRun && options.db === undefined) return act(null)
  return withDatabase(context, options, act, { creates: !options.dryRun })
}

const steps = { reading: 'Reading', writing: 'Writing', indexing: 'Building the indexes', comparing: 'Comparing' }

async function restoreInto ({ output, stdin, signal }, options, files, url, q) {
  const { partial, dryRun = false, yes, closed, identities, signedBy, work } = options
  const started = performance.now()
  const progress = new ProgressLine(output, 'documents')
  const isPipe = !Array.isArray(files) // nobody can answer on standard input
  const confirm = isPipe || output.json ? undefined : confirmPrompt({ stdin, stderr: output.stderr, signal })
  const ask = confirm && (async changes => {
    progress.end()
    output.note(['The files give these rights in the database:', ...changes.map(change => `  ${inWords(change)}`)].join('\n'))
    return confirm('Give them? [y/N] ')
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
        if (steps[step] !== progress.title) {
          progress.restart(steps[step])
          progress.counted = step === 'indexing' ? 'changes' : 'documents'
          output.note(`${progress.title} …`)
        }
        if (done) progress.draw(done, total)
        work.show({ done, total, unit: progress.counted, about: { step } })
      }
    })
    progress.end()
    const seconds = secondsSince(started)
    const { documents, refused, refusals } = summary
    const done = { done: documents, total: documents, unit: 'documents', failed: refused, failures: refusals }
    work.show({ ...done, about: { step: undefined } })
    output.result({ ...summary, seconds }, describeRestore(summary, seconds, Boolean(signedBy)))
    return summary.refused + summary.differences + summary.damage.length || summary.withheld ? 1 : 0
  } catch (error) {
    progress.end()
    if (error.written) {
      output.note(`${plural(error.written, 'document')} had been written. Only admins may use the database. ` +
        'Run the command again, or remove the database.')
    }
    throw error
  }
}

/** @param {import('../backup/restore.js').RestoreSummary} summary @param {number} seconds @param {boolean} isProven */
function describeRestore (summary, seconds, isProven) {
  const { of, files, unneeded, dryRun, documents, deleted, tiles, damage, signer, rights, upstreams } = summary
  const when = of.finished
    ? `as it was at ${of.finished}${of.moment === 'tile' ? ' (each tile at its own moment)' : ''}`
    : `of the backup begun at ${of.made}`
  const content = `${plural(documents, 'document')} (${plural(tiles, 'version')} of tiles, ${bytes(summary.bytes)})`
  const proof = isProven ? ', as it must be' : '; whose key it is was not checked (--signed-by)'
  const place = at => at === undefined ? '' : ` at byte ${at}`
  return [
    `${of.name} ${when}, from ${files.join(', ')}`,
    `  ${content}, and ${count(deleted)} deleted`,
    ...(signer ? [`  Signed with the key ${signer}${proof}`] : []),
    ...tokenLines(summary.tokens, 'of the store is not in the backup', 'of the store are not in the backup'),
    ...upstreams.map(({ layer, hosts }) => `  Missing tiles of the layer ${layer} are fetched from ${hosts.join(', ')}`),
    ...unneeded.map(file => `  ${file} is not part of it, and was not read`),
    ...damage.map(({ file, at, why }) => `  ${file} is damaged${place(at)} (${why}): only what comes before was taken`),
    ...(dryRun ? rights.map(change => `  By these files ${inWords(change)}`) : describeWritten(summary, seconds)),
    ...(dryRun && !damage.length ? ['  Every block, digest and count is right. Nothing was written.'] : [])
  ]
}

function describeWritten (summary, seconds) {
  const { resumed, written, refused, refusals, compared, differences, differing } = summary
  const { access, security, withheld, rights } = summary
  const rate = `${duration(seconds)} (${count(Math.round(written / seconds))}/s)`
  const found = differences ? `${count(differences)} differ` : 'all are as the files say'
  return [
    `  ${count(written)} written${resumed ? ', others by an earlier run' : ''} in ${rate}; ${count(compared)} compared: ${found}`,
    ...differing.map(what => `    ${what}`),
    ...(refused ? [`  ${plural(refused, 'document')} refused:`, ...reasons(refusals, refused)] : []),
    ...(withheld ? ['  Nobody confirmed the rights in the files (run it again with --yes to give them):'] : []),
    ...(withheld ? rights.map(change => `    ${inWords(change)}`) : []),
    access === 'restored'
      ? `  Open as before: ${readers(security)}`
      : '  Only admins may use the database: look at it with `tilecouch check`, then open it with `tilecouch access`'
  ]
}

function readers ({ members = /** @type {any} */ ({}) }) {
  const listed = [...members.names ?? [], ...(members.roles ?? []).map(role => `the role ${role}`)]
  return listed.length ? `readers are ${listed.join(', ')}` : 'everybody reads'
}

// Private keys are read from files: everybody on the machine can see the command line.

const NO_RECIPIENT = 'it must be a public age key such as age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj; ' +
  'other kinds (ssh, plugins, age1pq) are not supported'
const NO_IDENTITY = 'it must contain private age keys (AGE-SECRET-KEY-1…), one per line, as age-keygen writes them; ' +
  'decrypt a file with a passphrase first (age -d)'
const NO_SIGNER = 'it must contain a private key (Ed25519, PEM, no passphrase), as `openssl genpkey -algorithm ed25519` makes it'
const NO_PUBLIC_KEY = 'it must contain a public key (Ed25519, PEM), as `openssl pkey -in KEY.pem -pubout` writes it'

const bad = (option, value, why) => new TilecouchError('BAD_OPTION', { option, value, why })

/** The lines of a file with keys, without comments. */
const linesOf = file => readSecretFile(file, 'keys', MOST_KEYS).split(/\r?\n/).map(line => line.trim())
  .filter(line => line && !line.startsWith('#'))

function recipientsOf ({ recipient = [], recipientsFile = [] }) {
  const parse = (text, option, value) => {
    const found = parseRecipient(text)
    if (!found) throw bad(option, value, NO_RECIPIENT)
    return found
  }
  const found = recipient.map(text => {
    if (/^age-secret-key-/i.test(text)) throw bad('--recipient', 'AGE-SECRET-KEY-…', 'it is a private key: give the public one')
    return parse(text, '--recipient', text)
  })
  for (const file of recipientsFile) {
    const lines = linesOf(file)
    if (!lines.length) throw bad('--recipients-file', file, 'it contains no key')
    found.push(...lines.map((text, index) => parse(text, '--recipients-file', `${file}, key ${index + 1}`)))
  }
  return found
}

function identitiesOf ({ identity = [] }, output) {
  return identity.flatMap(file => {
    warnIfReadable(file, output)
    const lines = linesOf(file)
    const found = lines.map(parseIdentity).filter(one => one !== undefined)
    if (!found.length || found.length < lines.length) throw bad('--identity', file, NO_IDENTITY)
    return found
  })
}

function signerOf ({ sign }, output) {
  if (sign === undefined) return undefined
  warnIfReadable(sign, output)
  const found = parseSigner(readSecretFile(sign, 'keys', MOST_KEYS))
  if (!found) throw bad('--sign', sign, NO_SIGNER)
  return found
}

function signersOf ({ signedBy }) {
  return signedBy?.map(file => {
    const found = parsePublicKey(readSecretFile(file, 'keys', MOST_KEYS))
    if (!found) throw bad('--signed-by', file, NO_PUBLIC_KEY)
    return found
  })
}

function warnIfReadable (file, output) {
  if (isWorldReadable(file)) output.note(`Everybody on this machine may read the private key in ${file}: chmod 600`)
}
