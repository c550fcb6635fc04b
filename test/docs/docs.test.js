// The documentation: its tables, links, commands and names agree with the code.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import vm from 'node:vm'
import { clientClasses } from '../../docs/client-tables.js'
import { readPages, withTables } from '../../docs/tables.js'
import { onEachStore } from '../support/backends.js'
import { allCommands } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { useStore } from '../support/store.js'
import { png } from '../support/tiles.js'
import { loadGlobal } from '../types/leaflet.js'
import { anchorsOf, blocksOf, pages, root, taskPages, textOf } from './pages.js'

const CODE = ['_design', 'core', 'client', 'loader', 'server', 'deploy', 'examples'] // messages and comments name pages
const PAST = /^(CHANGELOG\.md|docs\/(decisions|benchmarks))/ // pages that may describe the past

/** @param {string} page @param {string} anchor `#…` or nothing */
const exists = (page, anchor) => existsSync(path.join(root, page)) &&
  (!anchor || anchorsOf(textOf(page)).has(anchor.slice(1)))

const COMMAND = /(?<![\w./-])tilecouch (?!help\b)([a-z]+)\b([^|;&>#`\n]*)/g

/** The commands of a page, in its code blocks and in its sentences. */
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
        assert.ok(exists(file, file.endsWith('.md') ? anchor : ''), `${page} links to ${target}${anchor}`)
      }
    }
  })

  it('has every page that messages, --help and comments name', () => {
    for (const folder of CODE) {
      for (const name of readdirSync(path.join(root, folder), { recursive: true }).map(String)) {
        const file = path.join(root, folder, name)
        if (/(^|[\\/])(dist|node_modules)[\\/]/.test(name) || !statSync(file).isFile()) continue
        for (const [reference, page, anchor = ''] of readFileSync(file, 'utf8')
          .matchAll(/\b(docs\/[\w/-]+\.md)(#[\w-]+)?/g)) {
          assert.ok(exists(page, anchor), `${folder}/${name} names ${reference}`)
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
      for (const [line, name, words] of commandsIn(page)) {
        const flags = commands.get(name)
        assert.ok(flags, `${page}: ${line}`)
        for (const [flag] of words.matchAll(/(?<= )--?[a-z][a-z-]*(?![\w…-])/g)) {
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

describe('the reference of the client library', () => {
  const paths = {
    Clock: 'Couch.Clock', Player: 'Couch.Player', CouchLayer: 'TileLayer.Couch',
    HistoryLayer: 'TileLayer.Couch.History', CoverageLayer: 'TileLayer.Couch.Coverage',
    TimelineControl: 'Control.Timeline', CompareControl: 'Control.Compare'
  }
  let L

  /** Makes objects of classes outside Leaflet: their options are on each object. */
  const instances = { Clock: () => L.couch.clock(), Player: () => L.couch.player(L.couch.clock(), []) }

  before(async () => { L = (await loadGlobal()).L })

  it('describes every class of the map library', () => {
    assert.deepEqual(clientClasses().map(({ name }) => name), Object.keys(paths).sort())
  })

  for (const { name, options, methods, properties, meaning, events } of clientClasses()) {
    const find = () => paths[name].split('.').reduce((place, part) => place[part], L)

    it(`lists the actual defaults of ${name}`, () => {
      const listed = Object.fromEntries(options.map(option => [option.name, vm.runInNewContext(`(${option.value})`)]))
      assert.equal(JSON.stringify({ ...listed }),
        JSON.stringify({ ...(instances[name]?.() ?? Object.getPrototypeOf(find().prototype)).options }))
    })

    it(`explains each option, method, property and event of ${name}`, () => {
      for (const entry of [{ name, meaning }, ...options, ...methods, ...properties, ...events]) {
        assert.ok(entry.meaning, `${name}: ${entry.name}`)
      }
    })

    it(`lists only methods that ${name} has`, () => {
      for (const method of methods) assert.equal(typeof find().prototype[method.name], 'function', method.name)
    })
  }
})

// The code blocks of the page are one program, in their order.
onEachStore('the page "With nano"', backend => {
  const folder = useFolder()
  const stage = useStore(backend, { published: true, fill: store =>
    store.write([{ layer: 'osm', z: 10, x: 534, y: 358, time: '2023-05-01T00:00:00Z', bytes: png(1) }]) })

  it('reads, writes, follows and lists versions as it says', async () => {
    folder.write({ 'tile.png': png(2) })
    const { host, username, password, pathname } = new URL(stage.url)
    const env = { ...process.env, COUCHDB_USER: username, COUCHDB_PASSWORD: password }
    const blocks = [...textOf('docs/nano.md').matchAll(/^```js\n([^]*?)^```$/gm)].map(([, code]) => code)
    assert.equal(blocks.length, 7)
    const program = `${blocks.join('\n')}
      const next = new Promise(resolve => feed.once('change', resolve))
      await store.defineLayer('osm', { name: 'Streets' })
      await next
      tiles.changesReader.stop()
      console.log(JSON.stringify({ bytes: bytes.length, time, type, image: image.length, changes }))`
      .replaceAll('localhost:5984', host).replace('tile.png', folder.path('tile.png'))
        .replaceAll("use('tiles')", `use('${pathname.slice(1)}')`)
    const { stdout } =
      await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { cwd: root, env })
    const lines = stdout.trim().split('\n')
    const result = JSON.parse(String(lines.at(-1)))
    assert.deepEqual(lines.slice(0, -1), [
      `2023-05-01T00:00:00Z ${png(1).length} bytes`,
      `2024-03-01T00:00:00Z ${png(2).length} bytes`,
      'layer:osm has changed'
    ])
    const { bytes, time: shown, type, image } = result
    assert.deepEqual([bytes, image, shown, type], [png(1).length, png(1).length, '2023-05-01T00:00:00Z', 'image/png'])
    assert.deepEqual(result.changes.map(({ time }) => time), ['2023-05-01T00:00:00Z', '2024-03-01T00:00:00Z'])
  })
})
