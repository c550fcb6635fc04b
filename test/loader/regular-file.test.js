// Files that are no files, where one of settings, of an area or of a password is expected: nobody waits for them.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { partOf } from '../../loader/cli/options.js'
import { readUpstream } from '../../loader/cli/upstream.js'
import { resolveDatabase } from '../../loader/couchapp/environments.js'
import { secretOf } from '../../loader/store/secrets.js'
import { readKeys } from '../../loader/store/token.js'
import { loadOptions } from '../../server/gateway/config.js'
import { useFolder } from '../support/folder.js'

describe('a file that a command reads', () => {
  const folder = useFolder()
  const file = () => path.join(folder.dir, '.couchapprc')

  const readers = {
    'the environments of .couchapprc': () => resolveDatabase('default', { cwd: folder.dir, home: folder.dir, env: {} }),
    'an area': () => partOf({ polygon: file() }),
    'an upstream': () => readUpstream(file()),
    'the keys of tokens': () => readKeys(file()),
    'a password': async () => secretOf('SECRET', { SECRET_FILE: file() }),
    'the settings of a gateway': () => loadOptions({ flags: { config: file() }, env: {} })
  }
  const harm = {
    'a pipe': () => execFileSync('mkfifo', [file()]),
    'a device without an end': () => symlinkSync('/dev/zero', file()),
    'longer than any of its kind': () => {
      writeFileSync(file(), '')
      truncateSync(file(), 1e9)
    }
  }

  for (const [what, read] of Object.entries(readers)) {
    it(`for ${what} is refused when it is a pipe, a device, or too long`, async function () {
      if (process.platform === 'win32') this.skip() // no pipes with names
      for (const [title, make] of Object.entries(harm)) {
        make()
        await assert.rejects(async () => read(), ({ code, message }) => {
          assert.match(code, /^(CONFIG_INVALID|SOURCE_UNREADABLE)$/, title)
          assert.match(message, /no regular file|more than \d+|not a file with one password/)
          return true
        }, title)
        rmSync(file())
      }
    })
  }
})
