// age opens what we encrypt, we open what age encrypts, and damage is noticed.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { inflateSync } from 'node:zlib'
import { Decrypter, Encrypter, generateIdentity, identityToRecipient } from 'age-encryption'
import * as vectors from 'cctv-age'
import { AGE, MOST_HEADER, NONCE, PLAIN, SEALED, openWith, parseIdentity, parseRecipient, sealFor } from '../../loader/backup/age.js'
import { openedStream } from '../../loader/backup/file.js'
import { sealSink } from '../../loader/backup/writer.js'
import { inChunks, memorySink } from './forge.js'

const known = found => {
  assert.ok(found)
  return found
}

/** @param {Uint8Array} bytes @param {any[]} identities */
async function open (bytes, identities, chunk = 100000) {
  const parts = /** @type {Buffer[]} */ ([])
  let failure
  try {
    for await (const part of openedStream(inChunks(bytes, chunk), 'file', { identities })) parts.push(Buffer.from(part))
  } catch (error) {
    failure = error
  }
  return { plain: Buffer.concat(parts), failure }
}

async function seal (plain, recipients, step = plain.length || 1) {
  const parts = []
  const sealed = sealFor(recipients)
  const sink = await sealSink(memorySink(parts), sealed)
  for (let at = 0; at < plain.length; at += step) await sink.write(plain.subarray(at, at + step))
  await sink.finish()
  const whole = Buffer.concat(parts)
  assert.equal(whole.length, sealed.sizeOf(plain.length))
  return whole
}

const bytesOf = length => createHash('shake256', { outputLength: Math.max(1, length) }).update('tiles').digest().subarray(0, length)
const SIZES = [0, 1, PLAIN - 1, PLAIN, PLAIN + 1, 3 * PLAIN, 3 * PLAIN + 7]

describe('an encrypted file', function () {
  this.timeout(60000)
  let text, recipient, identity

  before(async () => {
    text = await generateIdentity()
    recipient = await identityToRecipient(text)
    identity = known(parseIdentity(text))
  })

  it('is opened by age, whatever its size and the steps in which it came', async () => {
    for (const size of SIZES) {
      const plain = bytesOf(size)
      for (const step of [size || 1, 5000]) {
        const age = new Decrypter()
        age.addIdentity(text)
        const opened = await age.decrypt(await seal(plain, [known(parseRecipient(recipient))], step))
        assert.ok(plain.equals(opened), `${size} bytes in steps of ${step}`)
      }
    }
  })

  it('of age is opened here, for each of its recipients', async () => {
    const other = await generateIdentity()
    for (const size of SIZES) {
      const plain = bytesOf(size)
      const age = new Encrypter()
      for (const key of [recipient, await identityToRecipient(other)]) age.addRecipient(key)
      const file = await age.encrypt(plain)
      for (const key of [text, other]) for (const chunk of [100000, 777]) assert.ok((await open(file, [known(parseIdentity(key))], chunk)).plain.equals(plain))
    }
  })

  it('is not opened by other keys', async () => {
    const file = await seal(bytesOf(100), [known(parseRecipient(recipient))])
    for (const identities of [[], [known(parseIdentity(await generateIdentity()))]]) {
      const { failure } = await open(file, identities)
      assert.equal(failure.code, 'BACKUP_LOCKED')
    }
    assert.ok(!file.includes(bytesOf(100).subarray(0, 16)))
    assert.ok(!file.toString('latin1').includes(recipient))
    assert.notDeepEqual(file, await seal(bytesOf(100), [known(parseRecipient(recipient))]), 'no two are the same')
  })

  it('is refused when any part is changed, cut off, repeated or swapped', async () => {
    const plain = bytesOf(2 * PLAIN + 50)
    const file = await seal(plain, [known(parseRecipient(recipient))])
    const refuses = async (bytes, what) => assert.ok((await open(bytes, [identity])).failure, what)
    const start = openWith(file.subarray(0, MOST_HEADER + NONCE), [identity]).length
    for (let at = AGE.length; at < file.length; at += at < start ? 1 : 997) { // before, it is no file of age: the reader of backups refuses it
      const bad = Buffer.from(file)
      bad[at] ^= 1 << at % 8
      await refuses(bad, `byte ${at}`)
    }
    for (const length of [AGE.length, start - 1, start, start + 1, start + SEALED - 1, start + SEALED, start + 2 * SEALED, file.length - 1]) await refuses(file.subarray(0, length), `the first ${length}`)
    const chunk = index => file.subarray(start + index * SEALED, start + (index + 1) * SEALED)
    for (const order of [[1, 0, 2], [0, 0, 1, 2], [0, 2], [1, 2], [0, 1, 2, 2]]) await refuses(Buffer.concat([file.subarray(0, start), ...order.map(chunk)]), `${order}`)
  })

  it('may not have an endless header', async () => {
    const lines = 'age-encryption.org/v1\n' + '-> x\n\n'.repeat(200000)
    const { failure } = await open(Buffer.from(lines), [identity])
    assert.match(failure.message, /header/)
  })

  for (const [name, file] of Object.entries(/** @type {any} */ (vectors))) {
    const end = Buffer.from(file).indexOf('\n\n')
    const about = Buffer.from(file).toString('latin1', 0, end).split('\n').map(line => line.split(': '))
    const { expect, payload, compressed, armored, passphrase } = Object.fromEntries(about)
    const identities = about.filter(([key]) => key === 'identity').map(([, value]) => parseIdentity(value))
    if (armored || passphrase || /^(hybrid|scrypt|empty$)/.test(name) || identities.includes(undefined)) continue // not ours
    it(`agrees with the test vector ${name}: ${expect}`, async () => {
      const body = Buffer.from(file).subarray(end + 2)
      const { plain, failure } = await open(compressed ? inflateSync(body) : body, identities)
      if (expect === 'success') assert.equal(failure, undefined)
      else assert.equal(failure?.code, expect === 'no match' ? 'BACKUP_LOCKED' : 'BACKUP_DAMAGED', failure?.message)
      if (expect === 'success') assert.equal(createHash('sha256').update(plain).digest('hex'), payload)
    })
  }

  it('needs valid keys', async () => {
    const bad = [recipient.slice(0, -1), recipient.replace(/.$/, last => last === 'q' ? 'p' : 'q'), recipient.replace('age1', 'Age1'), text, 'age1pq1x34nzsvr0', 'ssh-ed25519 AAAA', '', 'age1']
    for (const one of bad) assert.equal(parseRecipient(one), undefined, one)
    for (const one of [text.slice(0, -1), recipient, '']) assert.equal(parseIdentity(one), undefined, one)
    assert.ok(parseRecipient(recipient.toUpperCase()))
    assert.ok(parseIdentity(text.toLowerCase()))
  })
})
