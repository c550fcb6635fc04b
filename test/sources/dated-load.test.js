// Loading a dated set with one command, which is stopped, killed and run again.
import assert from 'node:assert/strict'
import { rmSync, utimesSync } from 'node:fs'
import { Store } from '../../loader/store/index.js'
import { until } from '../../bench/wait.js'
import { onEachStore } from '../support/backends.js'
import { checkInvariants, checkLoaded } from '../support/invariants.js'
import { png } from '../support/tiles.js'
import { runCommand } from '../support/cli.js'
import { startServer } from '../support/server.js'
import { useFolder } from '../support/folder.js'
import { writeMbtiles } from './archive-writers.js'
import { pattern } from '../support/pattern.js'
import { startCommand } from '../support/command.js'

const TIMES = ['2021-01-01T00:00:00Z', '2022-07-01T00:00:00Z', '2023-06-01T12:15:00Z']

/** Tiles of an edition of the town. Only the first edition has column 0; odd columns change with each edition. */
function town (edition, side = 8) {
  const tiles = []
  for (let x = edition ? 1 : 0; x < side; x++) {
    for (let y = 0; y < side; y++) tiles.push({ z: 5, x, y, bytes: png(x * 1000 + y * 10 + (x % 2 ? edition : 0)) })
  }
  return tiles
}

onEachStore('a load of a dated set', backend => {
  const folder = useFolder()
  let url
  beforeEach(async () => { url = await backend.database() })

  /** Writes a set of three sources: MBTiles, a folder, and MBTiles. */
  function writeSet (side) {
    writeMbtiles(folder.path('set/town_2021.mbtiles'), town(0, side))
    folder.write(
      Object.fromEntries(town(1, side).map(({ z, x, y, bytes }) => [`set/town-2022-07/${z}/${x}/${y}.png`, bytes]))
    )
    writeMbtiles(folder.path('set/town@2023-06-01T121500Z.mbtiles'), town(2, side))
  }
  const expectedVersions = side => TIMES.flatMap((time, edition) => [
    ...town(edition, side).map(tile => ({ layer: 'town', time, ...tile })),
    ...(edition ? Array.from({ length: 8 }, (_, y) => ({ layer: 'town', time, z: 5, x: 0, y, gone: true })) : [])
  ])

  const run = (...argv) => runCommand(['load', ...argv, '--layer', 'town', '--db', url])

  const start = (...argv) => startCommand(['load', ...argv, '--layer', 'town', '--db', url])

  const editions = async () => (await (await Store.open(url)).editions('town'))
    .map(({ time, title, tiles, gone, finished }) => [time, title, tiles, gone, Boolean(finished)])

  it('gives the layer no name when the names of its sources contain a time', async () => {
    const cases = [['Town 2021', undefined], ['Town, 2021 to 2022', undefined], ['Town', 'Town']]
    for (const [index, [name, expectedName]] of cases.entries()) {
      url = await backend.database()
      for (const year of [2021, 2022]) {
        writeMbtiles(folder.path(`named-${index}/town-${year}.mbtiles`), town(0, 2),
          { name: name.replace('2021', `${year}`) })
      }
      assert.equal((await run(folder.path(`named-${index}/*.mbtiles`), '--dated')).code, 0)
      assert.equal((await (await Store.open(url)).layer('town')).name, expectedName, name)
    }
  })

  it('makes an edition of each source, oldest first, with a line for each and a total', async () => {
    writeSet()
    const { code, out, err } = await run(folder.path('set'), '--dated', '--complete')
    assert.equal(code, 0, err)
    assert.match(err, /^3 sources, from 2021-01-01T00:00:00Z to 2023-06-01T12:15:00Z\n/)
    const lines = out.split('\n')
    assert.match(lines[0], /^2021-01-01T00:00:00Z {2}town_2021: 64 tiles in 0:\d\d: 64 new, 0 changed, 0 unchanged \(/)
    assert.match(lines[1],
      /^2022-07-01T00:00:00Z {2}town-2022-07: 64 tiles in .*: 0 new, 40 changed, 8 of them gone, 24 unchanged/)
    assert.match(lines[2],
      /^2023-06-01T12:15:00Z {2}town@2023-06-01T121500Z: 56 tiles in .*: 0 new, 32 changed, 24 unchanged/)
    assert.match(lines[3], /^town: 3 editions, 184 tiles in /)
    assert.deepEqual(await editions(), [[TIMES[0], 'town_2021', 64, 0, true],
      [TIMES[1], 'town-2022-07', 64, 8, true], [TIMES[2], 'town@2023-06-01T121500Z', 56, 0, true]])
    await checkLoaded(url, expectedVersions())
  }).timeout(60000)

  it('loads archives again only when they have changed', async () => {
    writeSet()
    await run(folder.path('set'), '--dated')
    const repeated = JSON.parse((await run(folder.path('set'), '--dated', '--json')).out)
    assert.deepEqual(repeated.editions.map(({ skipped, unchanged }) => [skipped, unchanged]),
      [[true, undefined], [false, 56], [true, undefined]])
    assert.deepEqual([repeated.tiles, repeated.unchanged], [56, 56])

    writeMbtiles(folder.path('set/town-2024.mbtiles'), town(3))
    utimesSync(folder.path('set/town_2021.mbtiles'), new Date(), new Date(Date.now() - 5000))
    const extended =
      JSON.parse((await run(folder.path('set'), '--dated', '--json', '--title', 'The {name} of {time}')).out)
    assert.deepEqual(extended.editions.map(({ skipped }) => skipped), [false, false, true, false])
    assert.deepEqual([extended.advanced, (await editions()).at(-1)],
      [32, ['2024-01-01T00:00:00Z', 'The town-2024 of 2024-01-01', 56, 0, true]])

    const completeRun = JSON.parse((await run(folder.path('set'), '--dated', '--json', '--complete')).out)
    assert.deepEqual(completeRun.editions.map(({ skipped }) => skipped),
      [false, false, false, false], 'another kind of load')
    assert.equal(completeRun.gone, 8)
    assert.match((await run(folder.path('set/*.mbtiles'), '--dated', '--complete')).out,
      /^.*loaded before\n.*loaded before\n.*loaded before\ntown: 3 editions, all loaded before\n$/)
  }).timeout(60000)

  it('loads an archive again whose tiles were removed since', async () => {
    writeSet()
    await run(folder.path('set/*.mbtiles'), '--dated')
    const scope = ['--until', TIMES[0], '--bbox', '-180,0,0,80']
    assert.equal((await runCommand(['remove', 'town', ...scope, '--yes', '--db', url])).code, 0)
    const { editions: loadedEditions } = JSON.parse((await run(folder.path('set/*.mbtiles'), '--dated', '--json')).out)
    assert.deepEqual(loadedEditions.map(({ skipped }) => skipped), [false, true])
    const store = await Store.open(url)
    assert.deepEqual((await store.at('town', 5, 1, 5, '2021')).bytes, png(1050))
  }).timeout(60000)

  it('lists bad tiles, stores the good tiles, and loads that source again in the next run', async () => {
    writeSet()
    writeMbtiles(folder.path('set/town-2024.mbtiles'),
      [...town(3).slice(1), { z: 5, x: 1, y: 0, bytes: Buffer.from('<html>') }])
    const { code, out } = await run(folder.path('set'), '--dated', '--complete')
    assert.equal(code, 1)
    assert.match(out, pattern(
      /town-2024: 56 tiles .* 1 failed .*\n/,
      / {2}1 failed:\n/,
      / {4}town:5:1:0 {2}not a tile image: it starts "<html>" \[UNKNOWN_IMAGE\]\n/
    ))
    assert.match(out, /\n {2}1 failed\n$/)
    assert.equal((await (await Store.open(url)).at('town', 5, 1, 0, '2024')).time,
      TIMES[2], 'what could not be read is not gone')
    const repeated = await run(folder.path('set'), '--dated', '--complete', '--json')
    assert.equal(JSON.parse(repeated.out).editions.at(-1).skipped, false)
  }).timeout(60000)

  it('resumes after it was stopped in the middle', async () => {
    writeSet(32)
    const stopped = start(folder.path('set'), '--dated', '--batch', '20', '--store-concurrency', '1')
    await until(() => /town_2021: /.test(stopped.said.out) || stopped.child.exitCode !== null,
      { timeout: 60000, what: 'the first edition' })
    stopped.child.kill('SIGINT')
    const { code, out, err } = await stopped.ended
    assert.equal(code, 130, err)
    assert.match(out, /\ntown \(stopped\): [12] of 3 editions, /)
    assert.match(out, /Run it again to continue/)
    await checkInvariants(url)
    const repeated = JSON.parse((await run(folder.path('set'), '--dated', '--json')).out)
    assert.deepEqual([repeated.editions[0].skipped, repeated.failed, repeated.editions.at(-1).skipped],
      [true, 0, false])
    await checkLoaded(url, expectedVersions(32).filter(({ gone }) => !gone))
  }).timeout(120000)

  it('reports a tile that cannot be read as failed', async () => {
    writeSet()
    writeMbtiles(folder.path('set/town-2024.mbtiles'), town(3))
    const { code, out, err } =
      await run(folder.path('set'), folder.path('set/town-2024.mbtiles'), '--dated', '--ttl', 'soon')
    assert.deepEqual([code, out], [1, ''], err)
    rmSync(folder.path('set/town-2022-07/5/3/3.png'))
    folder.write({ 'set/town-2022-07/5/3/3.png/not-a-file': '' })
    const second = await run(folder.path('set'), '--dated')
    assert.equal(second.code, 1)
    assert.match(second.out, /town-2022-07: 56 tiles .* 1 failed/)
  }).timeout(60000)

  it('loads diffs among other sources, and refuses them with --complete before it loads', async () => {
    writeSet()
    folder.write({ 'set/town-2022-09-diff/gone.txt': '5/1/1\n5/1/2\n', 'set/town-2022-09-diff/5/2/2.png': png(9999) })
    for (const flags of [['--dry-run'], []]) {
      const refusedRun = await run(folder.path('set'), '--dated', '--complete', ...flags)
      assert.deepEqual([refusedRun.code, refusedRun.out], [1, ''])
      assert.match(refusedRun.err, /town-2022-09-diff" for --complete: it is a diff.* \[BAD_OPTION\]/)
    }
    await assert.rejects(Store.open(url), { code: 'DATABASE_NOT_FOUND' }, 'no store was created')
    const { gone, editions: loadedEditions } = JSON.parse((await run(folder.path('set'), '--dated', '--json')).out)
    assert.deepEqual([gone, loadedEditions.length], [2, 4])
    const store = await Store.open(url)
    await assert.rejects(store.at('town', 5, 1, 1, '2022'), { code: 'TILE_NOT_FOUND' })
    assert.deepEqual((await store.at('town', 5, 2, 2, '2022')).bytes, png(9999))
  }).timeout(60000)

  it('sends the name and password of the store to no other server, which learns the contact', async () => {
    const headers = []
    const server = await startServer((request, response) => {
      headers.push(request.headers)
      response.writeHead(404).end()
    })
    Object.assign(process.env, { COUCHDB_USER: 'me', COUCHDB_PASSWORD: 'secret' })
    try {
      await run(`${server.url}/town-2023.json`, '--dated', '--contact', 'maps@example.org')
      await run(`${server.url}/town-2023`, '--dated')
    } finally {
      delete process.env.COUCHDB_USER
      delete process.env.COUCHDB_PASSWORD
      await server.close()
    }
    assert.deepEqual(headers.filter(({ authorization }) => authorization), [])
    assert.ok(headers.some(sent => sent['user-agent']?.includes('maps@example.org')))
  })

  it('refuses options that contradict each other', async () => {
    writeSet()
    const set = folder.path('set')
    for (const argv of [
      [set, '--dated', '--time', '2024'], [set, '--dated', '--source-layer', 'osm'],
      ['--dated'], [folder.path('set/town_2021.mbtiles'), folder.path('set/town-2022-07')], [],
      ['--dated', '--upstream', 'x.json'], [set, '--upstream', 'x.json']
    ]) {
      const { code, err } = await run(...argv)
      assert.equal(code, 1, argv.join(' '))
      assert.match(err, /\[BAD_OPTION\]/, argv.join(' '))
    }
  })
})
