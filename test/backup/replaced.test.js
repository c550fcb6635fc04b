// Files of a backup that are not those that were made: replaced, changed while they are read, encrypted or signed by
// another program.
import assert from 'node:assert/strict'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { backup } from '../../loader/backup/index.js'
import { restore } from '../../loader/backup/restore.js'
import { json, onEachStore, request } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { square } from '../support/tiles.js'
import { rewrite } from './forge.js'
import { fails, fill } from '../support/backups.js'

onEachStore('a backup whose files were replaced', backend => {
  const folder = useFolder()
  const file = name => path.join(folder.dir, name)
  const dry = names => restore(names.map(file), null, { dryRun: true })
  let store

  before(async () => { store = await fill(await backend.database()) })

  it('is refused when a file of a chain is an older one', async () => {
    const mine = await fill(await backend.database())
    const write =
      seed => mine.write(square({ layer: 'osm', time: `202${seed}-06-01T00:00:00Z`, side: 1, seed: () => 700 + seed }))
    await backup(mine, file('full.tcb'))
    await write(4)
    await backup(mine, file('old.tcb'), { base: file('full.tcb') })
    await write(5)
    await backup(mine, file('two.tcb'), { base: file('old.tcb') })
    await write(6)
    await backup(mine, file('three.tcb'), { base: file('two.tcb') })
    assert.equal((await dry(['full.tcb', 'old.tcb', 'two.tcb', 'three.tcb'])).unneeded.length, 0)
    renameSync(file('old.tcb'), file('two.tcb'))
    await fails(dry(['full.tcb', 'two.tcb', 'three.tcb']), 'BACKUP_MISSING')
  })

  it('is refused when the file changes while it is read', async () => {
    await backup(store, file('a.tcb'))
    const to = await backend.database()
    await backup(await fill(await backend.database()), file('b.tcb'))
    const onProgress = ({ step }) => {
      if (step === 'reading') writeFileSync(file('a.tcb'), readFileSync(file('b.tcb')))
    }
    await fails(restore([file('a.tcb')], to, { rights: 'give', onProgress }), 'BACKUP_DAMAGED')
    if ((await request(to)).status === 200) assert.deepEqual((await json(`${to}/_security`)).members.roles, ['_admin'])
  })

  it('is reported as encrypted if age encrypted it', async () => {
    for (const start of ['age-encryption.org/v1\n-> X25519 abc\n', '-----BEGIN AGE ENCRYPTED FILE-----\n']) {
      writeFileSync(file('a.age'), start.padEnd(200, 'x'))
      await fails(dry(['a.age']), 'BACKUP_DAMAGED', /it is encrypted: open it with `age -d` first/)
    }
  })

  it('is read if an earlier release signed it', async () => {
    await backup(store, file('a.tcb'))
    const { documents } = await dry(['a.tcb'])
    const signature = Buffer.alloc(64, 7)
    await rewrite(file('a.tcb'), file('signed.tcb'),
      { trailer: trailer => ({ ...trailer, signer: 'f'.repeat(64) }), signature })
    assert.equal((await dry(['signed.tcb'])).documents, documents)
    await rewrite(file('a.tcb'), file('longer.tcb'), { signature })
    await fails(dry(['longer.tcb']), 'BACKUP_DAMAGED')
  })
})
