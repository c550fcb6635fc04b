import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { readPages, withTables } from '../../docs/tables.js'
import { allCommands } from '../support/cli.js'
import { anchorsOf, blocksOf, pages, root, taskPages, textOf } from './pages.js'

const CODE = ['_design', 'core', 'client', 'loader', 'server', 'deploy', 'examples'] // messages and comments name pages
const PAST = /^(CHANGELOG\.md|docs\/(decisions|benchmarks))/ // what is told there may be over

/** @param {string} page @param {string} anchor `#…` or nothing */
const isThere = (page, anchor) => existsSync(path.join(root, page)) &&
  (!anchor || anchorsOf(textOf(page)).has(anchor.slice(1)))

const COMMAND = /(?<![\w./-])tilecouch (?!help\b)([a-z]+)\b([^|;&>#`\n]*)/g

/** The commands of a page, in its blocks and in its sentences. */
const commandsIn = page => [
  ...blocksOf(page).flatMap(({ commands }) => commands.map(text => text.replace(/ # .*/g, ''))),
  ...[...textOf(page).matchAll(/`((?:npx )?tilecouch [^`\n]*)`/g)].map(([, text]) => text)
].flatMap(text => [...text.matchAll(COMMAND)])

describe('the documentation', () => {
  it('has tables that agree with the source and the measurements (npm run docs writes them)', async () => {
    for (const [name, text] of await readPages()) assert.equal(text, await withTables(text), name)
  })

  it('links only to existing files and headings', () => {
    for (const page of pages) {
      const text = textOf(page).replace(/^( *)```\w*\n[^]*?^\1```$/gm, '')
      for (const [, target, anchor = ''] of text.matchAll(/\]\(([^)#\s]*)(#[^)\s]*)?\)/g)) {
        if (/^https?:/.test(target) || target.includes('images/bench/')) continue // plots: test/bench/pages.test.js
        const file = target ? path.posix.join(path.posix.dirname(page), target) : page
        assert.ok(isThere(file, file.endsWith('.md') ? anchor : ''), `${page} links to ${target}${anchor}`)
      }
    }
  })

  it('has every page that messages, --help and comments name', () => {
    for (const folder of CODE) {
      for (const name of readdirSync(path.join(root, folder), { recursive: true }).map(String)) {
        const file = path.join(root, folder, name)
        if (/(^|[\\/])(dist|node_modules)[\\/]/.test(name) || !statSync(file).isFile()) continue
        for (const [found, page, anchor = ''] of readFileSync(file, 'utf8')
          .matchAll(/\b(docs\/[\w/-]+\.md)(#[\w-]+)?/g)) {
          assert.ok(isThere(page, anchor), `${folder}/${name} names ${found}`)
        }
      }
    }
  })

  it('has links to every page in the README', () => {
    const text = textOf('README.md')
    for (const page of pages.filter(name => /^docs\/[^/]*\.md$|^docs\/tasks\//.test(name))) {
      assert.ok(text.includes(`](${page}`), page)
    }
  })

  it('shows only existing commands and options', async () => {
    const commands = new Map((await allCommands()).map(
      command => [command.name(), command.options.flatMap(({ short, long }) => [short, long]).concat('-h', '--help')]
    ))
    for (const page of pages.filter(name => !PAST.test(name))) {
      for (const [line, name, rest] of commandsIn(page)) {
        const flags = commands.get(name)
        assert.ok(flags, `${page}: ${line}`)
        for (const [flag] of rest.matchAll(/(?<= )--?[a-z][a-z-]*(?![\w…-])/g)) {
          assert.ok(flags.includes(flag), `${page}: ${line}: ${flag}`)
        }
      }
    }
  })

  it('has blocks of commands that are run, or say why not (executed.test.js runs them)', () => {
    for (const page of taskPages) {
      const blocks = blocksOf(page)
      assert.ok(blocks.some(({ reason }) => !reason), `${page} has a command that is run`)
      for (const { line, commands } of blocks) assert.ok(commands.length, `${page}:${line} has no command`)
      assert.doesNotMatch(textOf(page), /^ *```(bash|shell|console|zsh)$/m, `${page}: commands stand in blocks of sh`)
      for (const [mark] of textOf(page).matchAll(/<!-- (?!table: |end )[^]*?-->/g)) {
        assert.match(mark, /^<!-- (not run: \S.{9,}|on CouchDB|exit code \d+) -->$/, page)
      }
    }
  })

  it('names every view, and no other', async () => {
    const text = textOf('docs/reference.md')
    for (const ddoc of await readdir(path.join(root, 'views'))) {
      for (const view of await readdir(path.join(root, 'views', ddoc))) {
        assert.ok(text.includes(`\`${ddoc}/${view}\``), `${ddoc}/${view}`)
      }
    }
    for (const [, name] of text.matchAll(/^\| `((?:versions|sizes|lifecycle)\/\w+)` \|/gm)) {
      assert.ok(existsSync(path.join(root, 'views', name)), name)
    }
  })
})
