import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { readPages, withTables } from '../../docs/tables.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

describe('the documentation', () => {
  it('has tables that agree with the source and with what was measured (npm run docs writes them)', async () => {
    for (const [name, text] of await readPages()) assert.equal(text, await withTables(text), name)
  })

  it('links to files that are there', async () => {
    const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...(await readdir(path.join(root, 'docs'), { recursive: true })).filter(name => name.endsWith('.md')).map(name => `docs/${name}`)]
    for (const page of pages) {
      const text = await readFile(path.join(root, page), 'utf8')
      for (const [, target] of text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)) {
        if (/^https?:/.test(target) || target.includes('images/bench/')) continue // plots: test/bench/pages.test.js
        assert.ok(existsSync(path.join(root, path.dirname(page), target)), `${page} links to ${target}`)
      }
    }
  })

  it('names every view, and no other', async () => {
    const text = await readFile(path.join(root, 'docs/reference.md'), 'utf8')
    for (const ddoc of await readdir(path.join(root, 'views'))) {
      for (const view of await readdir(path.join(root, 'views', ddoc))) assert.ok(text.includes(`\`${ddoc}/${view}\``), `${ddoc}/${view}`)
    }
    for (const [, name] of text.matchAll(/^\| `((?:versions|sizes|lifecycle)\/\w+)` \|/gm)) assert.ok(existsSync(path.join(root, 'views', name)), name)
  })
})
