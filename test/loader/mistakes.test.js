// Common mistakes of new users on the command line: the printed cause and remedy. See also sources/other-kinds (files
// without tiles), georeference (tiles in a wrong place or of another type) and remove/cli (accidental removal).
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { STORE_ID } from '../../core/index.js'
import { fillStore } from '../../loader/cli/new-store.js'
import { Output } from '../../loader/cli/output.js'
import { dropEmptyLayer } from '../../loader/load/undo.js'
import { publish } from '../../loader/couchapp/publish.js'
import { CLOSED_SECURITY, Store } from '../../loader/store/index.js'
import { until } from '../../bench/wait.js'
import { createProgram } from '../../loader/cli/program.js'
import { serverCommands } from '../../server/commands.js'
import { openEmbedded } from '../../server/up.js'
import { backends, json, request } from '../support/backends.js'
import { memory, runCommand, useEnvironment } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { vectorTile } from '../support/sample-tiles.js'
import { png, square } from '../support/tiles.js'
import { pattern } from '../support/pattern.js'

const [T1, T2] = ['2024-01-01T00:00:00Z', '2024-02-01T00:00:00Z']

/** Makes an empty folder the working directory, without settings of a store. */
function useOwnFolder () {
  const home = process.cwd()
  useEnvironment('COUCHDB_URL')
  afterEach(() => process.chdir(home)) // before the folder is removed
  const folder = useFolder()
  beforeEach(() => process.chdir(folder.dir)) // no .couchapprc here
  return folder
}

describe('a mistake on the command line', function () {
  this.timeout(30000)
  const folder = useOwnFolder()
  let url
  beforeEach(async () => { url = await backends[0].database() })

  /** Writes tiles of zoom 3; the bytes depend on the seed. */
  const tiles = (name, { seed = 0, side = 4, bytes = number => png(number) } = {}) =>
    path.join(folder.write(Object.fromEntries(square({ layer: '', time: '', z: 3, side, seed: (x, y) => x * 8 + y })
      .map(({ x, y }) => [`${name}/3/${x}/${y}.png`, bytes(seed + x * 8 + y)]))), name)

  const run = (...argv) => runCommand(argv)
  const load = (...argv) => runCommand(['load', ...argv, '--db', url])

  const refusals = {
    'a mistyped option, named before a missing option': [['load', 'tiles', '--layr', 'osm'],
      /^error: unknown option '--layr'\n\(Did you mean --layer\?\)\n(?![^]*required)/],
    'a missing option': [['load', 'tiles'],
      /^error: required option '-l, --layer <name>' not specified\n\(see --help\)\n$/],
    'a layer in capitals': [['load', 'tiles', '--layer', 'Town', '--db', 'STORE'],
      /bad layer name "Town": write it small: town \[BAD_LAYER\]/],
    'a removal that selects nothing': [['remove', 'town', '--yes', '--db', 'STORE'],
      /^tilecouch: what to remove is missing: name it with --bbox, .* or --all \[BAD_OPTION\]/],
    'a removal of all and a part': [['remove', 'town', '--all', '--edition', '2024', '--yes', '--db', 'STORE'],
      /^tilecouch: --all cannot be used here: it is the whole layer: leave out other options \[BAD_OPTION\]/],
    'a server URL without a database': [['load', 'tiles', '--layer', 'osm', '--db', 'http://admin:s3cret@127.0.0.1:1/'],
      pattern(
        /^tilecouch: http:\/\/127\.0\.0\.1:1\/ names a server and no database: /,
        /add the name of one, such as http:\/\/127\.0\.0\.1:1\/tiles \[NO_DATABASE_NAMED\]\n/
      )]
  }
  for (const [title, [argv, message]] of Object.entries(refusals)) {
    it(`is answered with the cause and the remedy: ${title}`, async () => {
      tiles('tiles')
      const { code, err } = await run(...argv.map(word => word === 'STORE' ? url : word))
      assert.equal(code, err.startsWith('error: ') ? 2 : 1)
      assert.match(err, message)
    })
  }

  describe('about which store is meant', () => {
    it('creates no data folder when a command needs a store that exists', async () => {
      const data = folder.path('data')
      for (const argv of [
        ['info'], ['info', 'osm'], ['get', 'osm', '1/0/0', '-o', 'x.png'],
        ['check'], ['doctor'], ['access'], ['layer', 'osm'], ['push', '--dry-run'],
        ['prune', '--all'], ['remove', 'osm', '--all', '--yes'], ['export', 'osm', 'out'],
        ['backup', 'b.tcb'], ['copy', 'a', 'b'],
        ['settings'], ['settings', '--title', 'Map'], ['diff', 'a', 'b'],
        ['seed', 'osm', '--bbox', '0,0,1,1', '--zoom', '1']
      ]) {
        const { code, err } = await runCommand(argv, { openEmbedded: async dir => assert.fail(`${argv} opens ${dir}`) })
        assert.equal(code, 1, argv.join(' '))
        assert.match(err,
          pattern(
            /^tilecouch: no store was named, and there is none in \.\/data \[DATABASE_NOT_FOUND\]\n/,
            / {2}Name a store with --db or COUCHDB_URL\. To create one: `tilecouch load`/
          ), argv.join(' '))
        assert.ok(!existsSync(data), argv.join(' '))
      }
    })

    it('shows in the line that names the store, which only --db and --json omit', async () => {
      const data = folder.path('data')
      const created = await runCommand(['load', tiles('tiles'), '--layer', 'osm', '--time', '2024', '--data', data],
        { openEmbedded: dir => openEmbedded(dir, { port: 0 }) })
      assert.equal(created.code, 0, created.err)
      assert.match(created.err,
        new RegExp(`^Store: a new embedded one in ${data}\\. For another one: --db or --data\\.\n`))
      assert.doesNotMatch(created.err, /127\.0\.0\.1|localhost/, 'its address ends with the command')
      assert.match(created.err, new RegExp(`\n\`tilecouch up --data ${data}\` shows it, on this machine only\\.\n`))
      const info = await runCommand(['info', '--data', data], { openEmbedded: dir => openEmbedded(dir, { port: 0 }) })
      assert.deepEqual([info.code, info.err], [0, `Store: the embedded one in ${data}\n`])
      await Store.create(url)
      process.env.COUCHDB_URL = url.replace('//', '//anna:s3cret@')
      assert.equal((await run('info')).err, `Store: ${url} (COUCHDB_URL)\n`)
      assert.equal((await run('info', '--json')).err, '')
      assert.equal((await run('info', '--db', url)).err, '')
      delete process.env.COUCHDB_URL
      folder.write({ '.couchapprc': JSON.stringify({ env: { default: { db: url } } }) })
      assert.match((await run('info')).err, /^Store: http\S+ \("default" in .*\.couchapprc\)\n$/)
    })
  })

  it('is answered with the required version of Node when Node is too old', () => {
    const fake = "Object.defineProperty(process,'versions',{value:{...process.versions,node:'18.20.4'}})"
    for (const script of ['server/bin.js', '.ci/ensure-installed.js']) {
      const file = fileURLToPath(new URL(`../../${script}`, import.meta.url))
      const { status, stdout, stderr } =
        spawnSync(process.execPath, ['--import', `data:text/javascript,${fake}`, file], { encoding: 'utf8' })
      assert.deepEqual([status, stdout], [1, ''])
      assert.match(stderr, /^tilecouch needs Node \d+\.\d+ or later, and this is Node 18\.20\.4\. See .*\n$/)
    }
  })

  it('is answered with the path that may not be written', async () => {
    const refuse = async dir => {
      throw Object.assign(new Error('EACCES: no'), { code: 'EACCES', path: `${dir}/databases` })
    }
    const { code, err } = await runCommand(['load', tiles('tiles'), '--layer', 'osm'], { openEmbedded: refuse })
    assert.equal(code, 1)
    assert.match(err,
      /tilecouch: no permission to read or write \.\/data\/databases \[NO_PERMISSION\]\n {2}Name another place/)
  })

  it('is not hidden by repetition: a load prints bounds and place once', async () => {
    const { out, err } = await load(tiles('tiles'), '--layer', 'osm', '--time', '2024')
    assert.equal((out + err).split(', bounds ').length, 2)
    assert.equal((out + err).split(/Place: |First tiles: /).length, 2)
  })

  describe('about who may read the store', () => {
    const securityOf = () => json(`${url}/_security`)

    it('is prevented by messages when a load creates a store and opens it to readers', async () => {
      const { code, err } = await load(tiles('tiles'), '--layer', 'osm', '--time', '2024')
      assert.equal(code, 0, err)
      assert.match(err,
        new RegExp(
          `^${url} is new\\. When this command ends, everybody who can reach it may read it; --private keeps it ` +
            `closed\\.\n`
        ))
      assert.match(err,
        new RegExp(`\nEverybody who can reach ${url} may read it now\\. \`tilecouch access --private\` closes it\\.\n`))
      assert.deepEqual((await securityOf()).members, { names: [], roles: [] })
      const laterLoad = await load(tiles('tiles'), '--layer', 'osm', '--time', '2025')
      assert.doesNotMatch(laterLoad.err, /everybody/i)
      const refusedLoad = await load(tiles('tiles'), '--layer', 'osm', '--time', '2026', '--private')
      assert.match(refusedLoad.err,
        /everybody may read this store already; `tilecouch access --private` closes it \[BAD_OPTION\]/)
      assert.equal((await (await Store.open(url)).editions('osm')).length, 2)
    })

    for (const command of [['load'], ['layer', 'osm', '--title', 'Map'], ['push'], ['doctor', '--fix']]) {
      it(`is prevented by ${command[0]} --private, which no later load undoes`, async () => {
        const argv = command[0] === 'load' ? ['load', tiles('tiles'), '--layer', 'osm', '--time', '2024'] : command
        const { err } = await run(...argv, '--private', '--db', url)
        assert.doesNotMatch(err, /^Everybody|everybody who/m)
        assert.deepEqual(await securityOf(), CLOSED_SECURITY)
        assert.equal((await load(tiles('tiles'), '--layer', 'osm', '--time', '2025')).code, 0)
        assert.deepEqual(await securityOf(), CLOSED_SECURITY)
        assert.ok((await json(`${url}/${STORE_ID}`)).published)
        assert.equal((await load(tiles('tiles'), '--layer', 'osm', '--time', '2026', '--private')).code,
          0, 'it is what it was')
      })
    }

    it('can be corrected with --private after a first load that was stopped', async () => {
      await Store.create(url, { public: false })
      assert.equal((await load(tiles('tiles'), '--layer', 'osm', '--time', '2024', '--private')).code, 0)
      assert.deepEqual(await securityOf(), CLOSED_SECURITY)
    })
  })

  describe('about a source', () => {
    // without work documents: a slow command on a busy machine leaves one that records its end
    const readIds = async () => (await json(`${url}/_all_docs`)).rows.map(({ id }) => id)
      .filter(id => !id.startsWith('_design/') && !id.startsWith('work:'))

    it('leaves no layer and keeps the store closed when no tile could be stored', async () => {
      const { code, out } = await load(tiles('wrong', { bytes: () => '<html>' }), '--layer', 'osm', '--time', '2024')
      assert.equal(code, 1)
      assert.match(out, pattern(
        /\n {2}16 failed:\n/,
        / {4}osm:3:\d:\d {2}not a tile image: it starts "<html>" \[UNKNOWN_IMAGE\], and 15 more like it\n/,
        / {6}Tiles are PNG, .*\n/,
        / {4}--json lists them one by one\.\n$/
      ))
      assert.deepEqual(await readIds(), [STORE_ID])
      assert.deepEqual((await json(`${url}/_security`)).members.roles, ['_admin'])
      const goodLoad = await load(tiles('right'), '--layer', 'osm', '--time', '2024')
      assert.equal(goodLoad.code, 0, goodLoad.err)
    })

    it('keeps a layer that existed before the load, and a layer with some tiles', async () => {
      const store = await Store.create(url)
      await store.defineLayer('osm', { name: 'Map' })
      assert.equal((await load(tiles('wrong', { bytes: () => '<html>' }), '--layer', 'osm', '--time', '2024')).code, 1)
      assert.equal((await store.layer('osm')).name, 'Map')
      const source = tiles('some', { bytes: number => number === 9 ? '<html>' : png(number) })
      assert.equal((await load(source, '--layer', 'town', '--time', '2024')).code, 1)
      assert.equal((await store.editions('town'))[0].failed, 1)
    })

    it('deletes nothing of a load that begins while an empty layer is deleted', async () => {
      const store = await Store.create(url)
      await store.defineLayer('osm')
      await store.putEdition('osm', '2024-01-01T00:00:00Z', { run: 'failed' })
      const storeDuringLoad = Object.assign(Object.create(store), {
        async editions () { // called last before the deletions
          const editions = await store.editions('osm')
          assert.equal((await load(tiles('right'), '--layer', 'osm', '--time', '2025')).code, 0)
          return editions
        }
      })
      await dropEmptyLayer(storeDuringLoad, 'osm', 'failed')
      assert.deepEqual((await store.editions('osm')).map(({ time, tiles: tileCount }) => [time, tileCount]),
        [['2025-01-01T00:00:00Z', 16]])
      assert.equal((await store.stats('osm')).tiles, 16)
      assert.ok((await store.layer('osm')).bounds, 'the layer is that of the other load')
    })

    it('shows in the report of the load, also when the indexing after it is stopped', async () => {
      const endings = []
      const output = new Output({ json: false, stdout: memory(), stderr: memory() })
      const context = { output, signal: AbortSignal.abort() }
      const task = {
        command: 'load',
        layer: 'osm',
        run: async () => ({ tiles: 1, failed: 0 }),
        report: (result, seconds, ended) => { endings.push(ended) }
      }
      await assert.rejects(fillStore(context, { db: url }, task), { code: 'ABORTED' })
      assert.deepEqual(endings, [' (stopped)'])
      assert.equal(await fillStore({ ...context, signal: undefined }, { db: url }, task), 0)
      assert.deepEqual(endings, [' (stopped)', ''])
    })

    it('is answered with the programs that draw vector tiles, which the viewer does not draw', async () => {
      folder.write({ 'roads/0/0/0.pbf': vectorTile() })
      const { code, err } = await load(folder.path('roads'), '--layer', 'osm', '--time', '2024')
      assert.equal(code, 0)
      assert.match(err, /MapLibre, OpenLayers and QGIS draw vector tiles; the viewer shows when they changed\./)
    })

    it('creates no store for a folder without tiles', async () => {
      folder.write({ 'empty/readme.txt': 'x' })
      assert.match((await load(folder.path('empty'), '--layer', 'osm')).err, /\[SOURCE_EMPTY\]/)
      assert.equal((await request(url)).status, 404)
    })
  })

  describe('about the time', () => {
    it('is answered with the time that the load used, and where it comes from', async () => {
      const { err, out } = await load(tiles('tiles-2024-03-01'), '--layer', 'osm')
      assert.match(err, pattern(
        /^Time: 20\S+Z\. This is the time of the load: neither --time nor the source says when the map looked /m,
        /like this\.\n/m,
        / {2}Its name contains a time\. .* add --time 2024-03-01\.$/m
      ))
      assert.match(out, /\n {2}This is the time of the load: /)
      const typed = await load(tiles('tiles-2024-03-01'), '--layer', 'osm', '--time', '2024')
      assert.doesNotMatch(typed.err + typed.out, /^Time: |time of the load/m)
    })

    it('is answered once, with the remedy, when two loads of one time have different bytes', async () => {
      assert.equal((await load(tiles('a'), '--layer', 'osm', '--time', '2024')).code, 0)
      const { code, out } = await load(tiles('b', { seed: 500 }), '--layer', 'osm', '--time', '2024')
      assert.equal(code, 1)
      const [, failed] = out.split(/(?= {2}16 failed:\n)/)
      assert.equal(failed.replace(/osm:3:\d:\d/g, 'TILE'), [
        '  16 failed:',
        `    TILE  TILE already has another image at ${T1} [VERSION_TAKEN], and 15 more like it`,
        `      Stored versions never change. Load a correction with a later --time; or remove the edition first: ` +
          `\`tilecouch remove osm --edition ${T1}\`.`,
        '    --json lists them one by one.',
        ''
      ].join('\n'))
    })
  })

  describe('is seen by a dry run', () => {
    it('of a load, which writes nothing and creates no store', async () => {
      const source = tiles('tiles')
      const { code, out } = await load(source, '--layer', 'osm', '--time', '2024', '--dry-run')
      assert.equal(code, 0)
      assert.match(out,
        new RegExp(
          `^Would load 16 tiles as osm@${T1}, a new layer\n {2}bounds -180, 0, 0, 85\\.0511\n {2}place: .*\n {2}zoom ` +
            `+tiles\n +3 +16\nNothing was changed\\.\n$`
        ))
      assert.equal((await request(url)).status, 404)
      const embedded = await run('load', source, '--layer', 'osm', '--dry-run')
      assert.match(embedded.out, /^Would load 16 tiles as osm@.*, a new layer\n {2}This is the time of the load/)
      assert.ok(!existsSync(folder.path('data')))
    })

    it('of a load into a layer whose name is reserved', async () => {
      for (const prepare of [() => {}, () => Store.create(url)]) {
        await prepare()
        const { code, err } = await load(tiles('tiles'), '--layer', 'tile', '--dry-run')
        assert.equal(code, 1)
        assert.match(err, /the name is reserved \[BAD_LAYER\]/)
      }
    })

    it('of a complete load, which says how much of the layer would become gone', async () => {
      const store = await Store.create(url)
      await store.defineLayer('osm')
      await store.write(square({ layer: 'osm', time: T1, z: 3, side: 6, seed: (x, y) => x * 8 + y }))
      await store.write([{ layer: 'osm', time: T2, z: 3, x: 5, y: 5, gone: true }])
      const argv = [tiles('part'), '--layer', 'osm', '--time', '2024-03', '--complete', '--dry-run']
      assert.match((await load(...argv)).out, /become gone; how many is known when the store has its indexes/)
      await publish(store)
      assert.match((await load(...argv)).out,
        /\n {2}19 tiles of the layer are not in the source and would become gone\n/)
      assert.deepEqual((await store.head('osm', 3, 5, 0)).bytes, png(40))
    })

    it('of a load that has no tiles', async () => {
      const store = await Store.create(url)
      await store.defineLayer('osm')
      await publish(store)
      const argv = ['--source-layer', 'osm', '--layer', 'copy']
      const [planned, loaded] = [await load(...argv, '--dry-run'), await load(...argv)]
      assert.match(loaded.err, /\[SOURCE_EMPTY\]/)
      assert.deepEqual([planned.code, planned.err], [1, loaded.err])
    })

    it('of a dated set, which lists its editions and creates no store', async () => {
      tiles('set/town-2022')
      tiles('set/town-2023')
      const { code, out } = await load(folder.path('set'), '--layer', 'town', '--dated', '--dry-run')
      assert.equal(code, 0)
      assert.match(out, pattern(
        /^Would load 2 editions of town:\n/,
        / {2}time +source\n/,
        / {2}2022-01-01T00:00:00Z {2}.*town-2022\n/,
        / {2}2023-01-01T00:00:00Z {2}.*town-2023\n/,
        /Nothing was changed\.\n$/
      ))
      assert.equal((await request(url)).status, 404)
    })
  })

  it('cannot come from different bounds: info and layer show those of the finest zoom', async () => {
    const store = await Store.create(url)
    await store.defineLayer('osm')
    const source = folder.write({ 'map/0/0/0.png': png(1), 'map/3/2/3.png': png(2), 'map/3/3/3.png': png(3) })
    assert.equal((await load(path.join(source, 'map'), '--layer', 'osm', '--time', '2024')).code, 0)
    const lineOf = ({ out }) => out.split('\n').find(line => line.startsWith('bounds '))
    const [info, layer] =
      [lineOf(await run('info', 'osm', '--db', url)), lineOf(await run('layer', 'osm', '--db', url))]
    assert.deepEqual([info, layer], ['bounds -90, 0, 0, 40.9799', 'bounds -90, 0, 0, 40.9799'])
    assert.deepEqual((await store.stats('osm')).bounds, (await store.layer('osm')).bounds)
  })
})

describe('a port that is taken', function () {
  this.timeout(60000)
  const folder = useOwnFolder()

  it('is named by tilecouch up, and later commands find the store at the other port', async () => {
    const listener = createServer(socket => socket.resume()) // it answers nothing
    // or another program has the port
    await new Promise(
      resolve => { listener.once('error', resolve).listen(5984, '127.0.0.1', () => resolve(undefined)) }
    )
    const [stdout, stderr] = [memory(), memory()]
    const streams = { stdout, stderr }
    const openNothing = async () => assert.fail('the store runs')
    folder.write({ '.couchapprc': JSON.stringify({ env: { default: { db: 'http://localhost:5984/tiles' } } }) })
    const ended = createProgram({ streams, openEmbedded: openNothing, more: serverCommands }).run(['up', '--no-demo'])
    try {
      await until(() => stdout.text.includes('Ctrl-C stops'), { timeout: 50000 })
      assert.match(stdout.text,
        /\n {2}Port 5984 is taken by .+, so this store listens on \d+\.\n {2}Commands in this folder find it there; /)
      folder.write({ 'tiles/0/0/0.png': png(1) })
      const { code, err } = await runCommand(['load', 'tiles', '--layer', 'osm', '--time', '2024'])
      assert.equal(code, 0, err)
      assert.match(err, /^Store: http:\/\/127\.0\.0\.1:\d+\/tiles \(`tilecouch up` in \.\/data\)\n/)
      assert.match((await runCommand(['info'])).out, /^osm /m)
    } finally {
      process.emit('SIGINT')
      assert.equal(await ended, 0, stderr.text)
      await new Promise(resolve => { listener.close(resolve) })
    }
  })
})
