// The options of `backup` and `restore` that name keys: those that encrypt and open a backup (of age), and those that sign and prove it.
// Private ones stand in files, never in the command line, which everybody on the machine can list.
import { TilecouchError } from '../../core/index.js'
import { parseIdentity, parseRecipient } from '../backup/age.js'
import { parsePublicKey, parseSigner } from '../backup/signature.js'
import { isReadByAll, readSecretFile } from '../secrets.js'

const MOST = 65536 // bytes of a file with keys

const bad = (option, value, why) => new TilecouchError('BAD_OPTION', { option, value, why })

/** Lines of a file with keys, without comments. */
const linesOf = file => readSecretFile(file, 'keys', MOST).split(/\r?\n/).map(line => line.trim()).filter(line => line && !line.startsWith('#'))

/** @param {{recipient?: string[], recipientsFile?: string[]}} options */
export function recipientsOf ({ recipient = [], recipientsFile = [] }) {
  const parse = (text, option, value) => {
    const found = parseRecipient(text)
    if (!found) throw bad(option, value, 'it must be a public key of age, such as age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj; others (ssh, plugins, age1pq) are not known here')
    return found
  }
  const found = recipient.map(text => {
    if (/^age-secret-key-/i.test(text)) throw bad('--recipient', 'AGE-SECRET-KEY-…', 'this is a private key, which opens backups; the public one stands beside it in its file')
    return parse(text, '--recipient', text)
  })
  for (const file of recipientsFile) {
    const lines = linesOf(file)
    if (!lines.length) throw bad('--recipients-file', file, 'it has no key')
    found.push(...lines.map((text, index) => parse(text, '--recipients-file', `${file}, key ${index + 1}`)))
  }
  return found
}

/** @param {{identity?: string[]}} options @param {import('./output.js').Output} output */
export function identitiesOf ({ identity = [] }, output) {
  return identity.flatMap(file => {
    warn(file, output)
    const lines = linesOf(file)
    const found = lines.map(parseIdentity).filter(one => one !== undefined)
    if (!found.length || found.length < lines.length) throw bad('--identity', file, 'it must hold private keys of age, AGE-SECRET-KEY-1…, one a line, as `age-keygen` writes them; files with a passphrase are opened with `age -d` before')
    return found
  })
}

/** @param {{sign?: string}} options @param {import('./output.js').Output} output */
export function signerOf ({ sign }, output) {
  if (sign === undefined) return undefined
  warn(sign, output)
  const found = parseSigner(readSecretFile(sign, 'keys', MOST))
  if (!found) throw bad('--sign', sign, 'it must hold a private key (Ed25519, PEM, without a passphrase), as `openssl genpkey -algorithm ed25519` makes it')
  return found
}

/** @param {{signedBy?: string[]}} options */
export function signersOf ({ signedBy }) {
  return signedBy?.map(file => {
    const found = parsePublicKey(readSecretFile(file, 'keys', MOST))
    if (!found) throw bad('--signed-by', file, 'it must hold a public key (Ed25519, PEM), as `openssl pkey -in KEY.pem -pubout` writes it')
    return found
  })
}

function warn (file, output) {
  if (isReadByAll(file)) output.note(`${file} holds a private key, and everybody on this machine may read it: chmod 600`)
}
