// The contract that this project expects of CouchDB, tested on the embedded store and on a real CouchDB (COUCHDB_URL).
// If they differ, the embedded store is wrong.
import { targets } from './harness.js'
import { attachments } from './compat/attachments.js'
import { bulk } from './compat/bulk.js'
import { replication } from './compat/replication.js'
import { changes } from './compat/changes.js'
import { databases } from './compat/databases.js'
import { designs } from './compat/designs.js'
import { documents } from './compat/documents.js'
import { rewrites } from './compat/rewrites.js'
import { security } from './compat/security.js'
import { validation } from './compat/validation.js'
import { views } from './compat/views.js'

for (const { name, start } of targets) {
  describe(`the CouchDB contract on ${name}`, function () {
    this.timeout(20000)
    let target
    before(async () => { target = await start() })
    after(() => target.stop())
    for (const suite of [databases, documents, attachments, bulk,
      replication, views, changes, designs, rewrites, validation, security]) suite(() => target)
  })
}
