// Backups on somebody else's storage: encrypted, signed, and refused where anything of them is not what was made.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, createReadStream, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Decrypter, generateIdentity, identityToRecipient } from 'age-encryption'
import { backup } from '../../loader/backup/index.js'
import { parseIdentity, parseRecipient } from '../../loader/backup/age.js'
import { parsePublicKey, parseSigner } from '../../loader/backup/signature.js'
import { restore } from '../../loader/backup/restore.js'
import { differences } from '../mirror/compare.js'
import { json, onEachStore, request } from '../support/backends.js'
import { runCommand } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { square } from '../support/tiles.js'
import { newPair, rewrite } from './forge.js'
import { T3, fails, fill } from './stage.js'

onEachStore('a backup with keys', backend => {
  const folder = useFolder()
  const file = name => path.join(folder.dir, name)
  let url, store, text, recipients, identities, signer, signedBy, pem

  before(async () => {
    url = await backend.database()
    store = await fill(url)
    text = await generateIdentity()
    recipients = [parseRecipient(await identityToRecipient(text))]
    identities = [parseIdentity(text)]
    pem = newPair()
    signer = parseSigner(pem.secret)
    signedBy = [parsePublicKey(pem.open)]
  })

  const dry = (files, options = {}) => restore(files.map(file), null, { dryRun: true, identities, signedBy, ...options })

  it('that is encrypted and signed is restored to the very same store, in a chain and from a stream', async () => {
    const own = await backend.database()
    const mine = await fill(own)
    const made = await backup(mine, file('full.age'), { recipients, signer })
    assert.deepEqual([made.size, made.encrypted, made.signer], [statSync(file('full.age')).size, true, signer.id])
    assert.ok(!readFileSync(file('full.age')).includes('tilecouch backup'))
    await mine.write(square({ layer: 'osm', time: T3, side: 4, seed: (x, y) => 500 + x * 4 + y }))
    await fails(backup(mine, file('next.age'), { base: file('full.age'), recipients, signer }), 'BACKUP_LOCKED')
    await backup(mine, file('next.age'), { base: file('full.age'), identities, recipients, signer })
    const to = await backend.database()
    const restored = await restore([file('next.age'), file('full.age')], to, { identities, signedBy })
    assert.deepEqual([restored.differences, restored.access, restored.signer], [0, 'restored', signer.id], 'who signed it said who has which rights')
    assert.deepEqual(await differences(own, to, { revpos: backend.name === 'CouchDB' }), [])
    const streamed = await backend.database()
    assert.equal((await restore(createReadStream(file('full.age')), streamed, { identities, signedBy })).access, 'restored')
  })

  it('is opened by age, and is a backup then', async () => {
    await backup(store, file('a.age'), { recipients })
    await fails(dry(['a.age'], { identities: [], signedBy: undefined }), 'BACKUP_LOCKED', /no key was given/)
    await fails(dry(['a.age'], { identities: [parseIdentity(await generateIdentity())], signedBy: undefined }), 'BACKUP_LOCKED', /other keys/)
    const age = new Decrypter()
    age.addIdentity(text)
    writeFileSync(file('a.tcb'), await age.decrypt(readFileSync(file('a.age'))))
    assert.ok((await dry(['a.tcb'], { signedBy: undefined })).documents > 40)
  })

  it('is refused unsigned, signed by another, or changed, before anything is written', async () => {
    await backup(store, file('unsigned.tcb'))
    await backup(store, file('signed.tcb'), { signer })
    await backup(store, file('others.tcb'), { signer: parseSigner(newPair().secret) })
    assert.ok((await dry(['signed.tcb'])).signer)
    assert.equal((await dry(['signed.tcb'], { signedBy: [parsePublicKey(newPair().open), ...signedBy] })).signer, signer.id, 'one of several keys')
    const changes = {
      header: { header: header => ({ ...header, made: '2020-01-01T00:00:00Z' }) },
      documents: { docs: docs => docs.slice(1) },
      order: { docs: docs => [...docs].reverse() },
      trailer: { trailer: trailer => ({ ...trailer, security: { admins: { names: ['mallory'], roles: [] } } }) }
    }
    for (const [name, change] of Object.entries(changes)) await rewrite(file('signed.tcb'), file(`${name}.tcb`), { ...change, keep: true })
    const to = await backend.database()
    const refuses = async (name, code, words) => {
      await fails(restore([file(name)], to, { signedBy }), code, words)
      await fails(dry([name]), code, words)
      assert.equal((await request(to)).status, 404, name)
    }
    await refuses('unsigned.tcb', 'BACKUP_UNSIGNED')
    await refuses('others.tcb', 'BACKUP_FORGED', /another key/)
    for (const name of Object.keys(changes)) await refuses(`${name}.tcb`, 'BACKUP_FORGED', /does not fit/)
    await rewrite(file('signed.tcb'), file('stripped.tcb'), { trailer: ({ signer: own, ...trailer }) => trailer })
    await refuses('stripped.tcb', 'BACKUP_UNSIGNED')
    await fails(restore(createReadStream(file('trailer.tcb')), to, { signedBy }), 'BACKUP_FORGED')
    assert.deepEqual((await json(`${to}/_security`)).members.roles, ['_admin'], 'a stream is written as it comes, and nobody sees it')
    await fails(dry(['signed.tcb'], { partial: true }), 'BAD_OPTION')
  })

  it('continues only signed ones, and no file of a chain can be replaced by an older one', async () => {
    const mine = await fill(await backend.database())
    const write = seed => mine.write([square({ layer: 'osm', time: `202${seed}-06-01T00:00:00Z`, side: 1, seed: () => 700 + seed })].flat())
    await backup(mine, file('full.tcb'), { signer })
    await backup(mine, file('bare.tcb'))
    await fails(backup(mine, file('no.tcb'), { base: file('bare.tcb'), signer }), 'BACKUP_UNSIGNED')
    await write(4)
    await backup(mine, file('old.tcb'), { base: file('full.tcb'), signer })
    await write(5)
    await backup(mine, file('two.tcb'), { base: file('old.tcb'), signer })
    await write(6)
    await backup(mine, file('three.tcb'), { base: file('two.tcb'), signer })
    assert.equal((await dry(['full.tcb', 'old.tcb', 'two.tcb', 'three.tcb'])).unneeded.length, 0)
    renameSync(file('old.tcb'), file('two.tcb'))
    await fails(dry(['full.tcb', 'two.tcb', 'three.tcb']), 'BACKUP_MISSING')
  })

  it('is refused when the file changes while it is read', async () => {
    await backup(store, file('a.tcb'))
    const to = await backend.database()
    await backup(await fill(await backend.database()), file('b.tcb'))
    const onProgress = ({ step }) => { if (step === 'reading') writeFileSync(file('a.tcb'), readFileSync(file('b.tcb'))) }
    await fails(restore([file('a.tcb')], to, { rights: 'give', onProgress }), 'BACKUP_DAMAGED')
    if ((await request(to)).status === 200) assert.deepEqual((await json(`${to}/_security`)).members.roles, ['_admin'])
  })

  const run = (...argv) => runCommand(argv)

  it('takes its keys from files that nobody else may write, and never prints them', async function () {
    const write = (name, content, mode = 0o600) => {
      writeFileSync(file(name), content)
      chmodSync(file(name), mode)
      return file(name)
    }
    const recipient = await identityToRecipient(text)
    const key = write('key.txt', `# created: 2024\n# public key: ${recipient}\n${text}\n`)
    const keys = write('keys.txt', `# ours\n\n${recipient}\r\n`)
    const [sign, proof] = [write('sign.pem', pem.secret), write('sign.pub.pem', pem.open)]
    const made = await run('backup', file('a.age'), '--recipients-file', keys, '--recipient', recipient, '--sign', sign, '--db', url)
    assert.equal(made.code, 0, made.err)
    assert.match(made.out, /Encrypted\n {2}Signed with the key [0-9a-f]{64}/)
    const looked = await run('restore', file('a.age'), '--identity', key, '--signed-by', proof, '--dry-run')
    assert.equal(looked.code, 0, looked.err)
    assert.match(looked.out, /Signed with the key [0-9a-f]{64}, as it must be/)
    assert.match((await run('restore', file('a.age'), '--identity', key, '--dry-run')).out, /was not checked/)
    const wrong = [
      ['backup', file('b.age'), '--recipient', text], ['backup', file('b.age'), '--recipient', 'age1x'], ['backup', file('b.age'), '--recipients-file', key],
      ['backup', file('b.age'), '--recipients-file', write('empty.txt', '# none\n')], ['backup', file('b.age'), '--sign', proof], ['backup', file('b.age'), '--sign', key],
      ['backup', file('b.age'), '--sign', file('none.pem')], ['restore', file('a.age'), '--dry-run', '--identity', sign], ['restore', file('a.age'), '--dry-run', '--identity', keys],
      ['restore', file('a.age'), '--dry-run', '--identity', key, '--signed-by', sign], ['restore', file('a.age'), '--dry-run', '--identity', write('open.txt', text, 0o666)],
      ['restore', file('a.age'), '--dry-run'], ['restore', file('a.age'), '--dry-run', '--partial', '--signed-by', proof], ['restore', file('a.age'), '--dry-run', '--yes', '--closed']
    ]
    const secrets = [text.slice(20), pem.secret.split('\n')[1]]
    for (const argv of wrong) {
      const { code, out, err } = await run(...argv, '--db', url)
      assert.notEqual(code, 0, argv.join(' '))
      for (const secret of secrets) assert.ok(!`${out}${err}`.includes(secret), argv.join(' '))
    }
    assert.match((await run('restore', file('a.age'), '--dry-run', '--identity', write('read.txt', text, 0o644))).err, /Everybody on this machine may read/)
  })

  it('is signed with a key that openssl made', async function () {
    try {
      execFileSync('openssl', ['genpkey', '-algorithm', 'ed25519', '-out', file('k.pem')], { stdio: 'ignore' })
      execFileSync('openssl', ['pkey', '-in', file('k.pem'), '-pubout', '-out', file('k.pub.pem')], { stdio: 'ignore' })
    } catch {
      return this.skip()
    }
    await backup(store, file('a.tcb'), { signer: parseSigner(readFileSync(file('k.pem'), 'utf8')) })
    assert.ok((await dry(['a.tcb'], { signedBy: [parsePublicKey(readFileSync(file('k.pub.pem'), 'utf8'))] })).signer)
  })
}, { timeout: 60000 })
