import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, statSync, symlinkSync, truncateSync } from 'node:fs'
import path from 'node:path'
import { crc32, gzipSync } from 'node:zlib'
import { writeTar, writeZip } from '../sources/archive-writers.js'
import { useFolder } from '../support/folder.js'
import { peakOf } from '../support/processes.js'
import { findings, flipped, image, rawVectorTile, tile, undecodable, vectorTile } from './helpers.js'

/** @typedef {[name: string, bytes: Buffer, options?: object]} File */

const entriesOf = files => files.map(([name, bytes, options]) => ({ name, bytes, ...options }))
const zipOf = files => writeZip(entriesOf(files))
const tarOf = files => writeTar(entriesOf(files))

describe('verify of files of tiles', () => {
  const folder = useFolder()
  /** @type {File[]} */
  let files

  before(async () => {
    files = []
    for (let x = 0; x < 3; x++) for (let y = 0; y < 3; y++) files.push([`3/${x}/${y}.png`, await tile(x * 3 + y)])
  })

  const written = (name, bytes) => path.join(folder.write({ [name]: bytes }), name)
  const kinds = {
    folder (given) {
      for (const [name, bytes] of given) folder.write({ [`tiles/${name}`]: bytes })
      mkdirSync(path.join(folder.dir, 'tiles'), { recursive: true })
      return path.join(folder.dir, 'tiles')
    },
    zip: given => written('a.zip', zipOf(given)),
    tar: given => written('a.tar', tarOf(given)),
    'tar in gzip': given => written('a.tgz', gzipSync(tarOf(given)))
  }

  for (const [kind, make] of Object.entries(kinds)) {
    const check = async (given, options) => findings(make([...files, ...given]), options)

    it(`finds nothing in a healthy ${kind}, with what lies beside its tiles`, async () => {
      const metadata = Buffer.from(JSON.stringify({ name: 'City', minzoom: 3, maxzoom: '3', bounds: '-180,-85,180,85', format: 'png' }))
      const { said, summary } = await check([['metadata.json', metadata], ['3/0/0.kml', Buffer.from('<kml/>')], ['readme.txt', Buffer.from('hello')], ['3/1/2.jgw', Buffer.from('1')]])
      assert.deepEqual([said, summary.kind, summary.tiles, summary.checked.decoded], [[], kind.slice(0, 6).trim().replace('tar in', 'tar'), 9, 9])
    })

    it(`says how much of a ${kind} is done`, async () => {
      const given = make(files)
      const seen = []
      await findings(given, { onProgress: ({ tiles, total, read }) => seen.push({ tiles, total, read }) })
      assert.deepEqual(seen.map(({ tiles }) => tiles), [1, 2, 3, 4, 5, 6, 7, 8, 9])
      if (kind.startsWith('tar')) for (const { read } of seen) assert.ok(read.bytes > 0 && read.bytes <= read.total && read.total === statSync(given).size)
      else assert.equal(seen.at(-1)?.total, 9) // of a folder, known once its names are read
    })

    it(`takes every format in a ${kind}, and vector tiles in gzip or not`, async () => {
      const others = [['3/4/0.jpeg', await image('jpeg')], ['3/4/1.webp', await image('webp')], ['3/4/2.pbf', vectorTile()], ['3/4/3.mvt', rawVectorTile()]]
      assert.deepEqual((await check(others)).said, [])
    })

    it(`finds what is wrong with tiles in a ${kind}, and nothing else`, async () => {
      const { found } = await check([
        ['3/4/0.jpg', await tile(1)], ['3/4/1.png', await undecodable(1)], ['3/4/2.png', Buffer.alloc(0)], ['3/4/3.png', Buffer.from('<html>')], ['3/4/4.png', await tile(1, 100)],
        ['3/4/5.png', (await tile(4)).subarray(0, 90)], ['3/4/6.gif', Buffer.from('GIF89a')], ['3/4/9.png', await tile(1)], ['3/4/007.png', await tile(1)], ['3/5/0@2x.png', await tile(1)]
      ])
      // an archive that is read in the order of its tiles names them by their places
      assert.deepEqual(found.map(({ code, where }) => `${where.replace(/\.png$|\.jpg$/, '')} ${code}`).sort(), [
        '3/4/0 wrong-type', '3/4/007 not-a-tile-name', '3/4/1 undecodable-tile', '3/4/2 empty-tile', '3/4/3 unknown-format', '3/4/4 odd-size', '3/4/5 truncated-tile',
        '3/4/6.gif not-a-tile-name', '3/4/9 outside-pyramid', '3/5/0@2x not-a-tile-name'
      ])
    })

    it(`compares the metadata of a ${kind} with its tiles`, async () => {
      const saying = async metadata => (await check([['metadata.json', Buffer.from(typeof metadata === 'string' ? metadata : JSON.stringify(metadata))]])).summary.kinds
      assert.deepEqual(await saying('{'), { 'bad-metadata': 1 })
      assert.deepEqual(await saying({ minzoom: 4, maxzoom: 3 }), { 'bad-metadata': 1, 'outside-zooms': 9 })
      assert.deepEqual(await saying({ maxzoom: 5 }), { 'metadata-disagrees': 1 })
      assert.deepEqual(await saying({ bounds: [10, 10, 20, 20] }), { 'outside-bounds': 9 })
      assert.deepEqual(await saying({ bounds: 'here', format: 7 }), { 'bad-metadata': 2 })
    })

    it(`reads the list of a diff in a ${kind}, and finds gone tiles that are there`, async () => {
      const { said, summary } = await check([['gone.txt', Buffer.from('3/7/7\n3/7/6\n')]])
      assert.deepEqual([said, summary.checked.gone], [[], 2])
      assert.deepEqual((await check([['gone.txt', Buffer.from('3/1/1\n')]])).found.map(({ code, where }) => [code, where.replace('.png', '')]), [['bad-structure', '3/1/1']])
      assert.deepEqual((await check([['gone.txt', Buffer.from('nothing here')]])).said, ['bad-structure gone.txt'])
    })

    it(`reports a ${kind} without tiles`, async () => {
      const { said } = await findings(make([['readme.txt', Buffer.from('hello')]]))
      assert.equal(said.length, 1)
      assert.match(said[0], /^no-tiles /)
    })
  }

  it('learns from the tiles of a file how large they are', async () => {
    const sized = async (...sides) => {
      folder.write(Object.fromEntries(await Promise.all(sides.map(async (side, y) => [`${sides}/4/0/${y}.png`, await tile(y, side)]))))
      return (await findings(path.join(folder.dir, `${sides}`))).said
    }
    assert.deepEqual(await sized(512, 512, 1024), [])
    assert.deepEqual(await sized(100, 256, 512, 1024), ['odd-size 4/0/0.png', 'odd-size 4/0/3.png'])
  })

  it('finds a tile that is in a folder as two files', async () => {
    const { said } = await findings(kinds.folder([...files, ['3/1/1.jpg', await image('jpeg')]]))
    assert.deepEqual(said, ['duplicate-tile 3/1/1.png'])
  })

  it('finds links in a folder that lead nowhere, and numbers with zeros in front', async () => {
    const dir = kinds.folder(files)
    symlinkSync('/nowhere', path.join(dir, '3/7'))
    symlinkSync('nowhere.png', path.join(dir, '3/0/7.png'))
    mkdirSync(path.join(dir, '3/06'))
    mkdirSync(path.join(dir, '31'))
    symlinkSync('.', path.join(dir, '3/8'))
    const { said } = await findings(dir)
    assert.deepEqual(said.filter(text => !text.includes(' 3/8/')), ['not-a-tile-name 3/06', 'outside-pyramid 31', 'unreadable-tile 3/0/7.png', 'unreadable-tile 3/7'])
  })

  it('counts rows from the south with --scheme tms', async () => {
    const metadata = Buffer.from(JSON.stringify({ bounds: [-180, -85, 0, -40] }))
    for (const make of Object.values(kinds)) {
      const made = make([...files, ['metadata.json', metadata]])
      assert.equal((await findings(made)).summary.kinds['outside-bounds'], 9)
      assert.deepEqual((await findings(made, { scheme: 'tms' })).said, [])
    }
  })

  it('finds names that lead out of an archive, and continues', async () => {
    const names = ['../../3/0/7.png', '/3/0/7.png', 'a/../../3/0/7.png']
    for (const make of [kinds.zip, kinds.tar]) {
      const { summary, said } = await findings(make([...files, ...names.map(name => [name, files[0][1]])]))
      assert.deepEqual([said, summary.tiles], [names.map(name => `unsafe-name ${name}`).sort(), 9])
    }
  })

  it('finds tiles that are in an archive twice: in a zip that is a fault, in a tar the last counts', async () => {
    assert.deepEqual((await findings(kinds.zip([...files, files[4]]))).said, ['duplicate-tile 3/1/1'])
    assert.deepEqual((await findings(kinds.tar([...files, files[4]]))).said, ['odd-structure 3/1/1'])
  })

  it('finds tiles in two places of one archive', async () => {
    for (const make of [kinds.zip, kinds.tar]) assert.deepEqual((await findings(make([...files, ['old/3/5/5.png', files[0][1]]]))).said, ['bad-structure old'])
  })

  it('finds files of a zip whose check sum or length is wrong', async () => {
    const stored = files.map(([name, bytes]) => [name, bytes, { stored: true }])
    const zip = zipOf([...stored, ['notes.txt', Buffer.from('hello world'.repeat(50))], ['raw.txt', Buffer.from('some words'), { stored: true }]])
    const end = zip.indexOf(files[4][1]) + files[4][1].indexOf('IEND')
    const broken = written('a.zip', flipped(flipped(zip, end + 6), zip.indexOf('some words')))
    assert.deepEqual((await findings(broken, { decode: false })).said, ['wrong-digest 3/1/1', 'wrong-digest raw.txt'])
    const [name, bytes] = files[4]
    // yauzl ends at a stored file whose two sizes differ
    assert.ok((await findings(kinds.zip([...files, [name, bytes, { stored: true, size: bytes.length + 1 }]]))).summary.faults > 0)
    const shorter = files.map(([one, content]) => [one, content, one === name && { size: 20 }])
    assert.deepEqual((await findings(kinds.zip(shorter))).said, ['unreadable-tile 3/1/1'])
  })

  it('stops at files of a zip that overlap, as bombs have them', async () => {
    const big = Buffer.alloc(1e6)
    const same = { stored: true, offset: 0, packed: big.length, size: big.length, sum: crc32(big) }
    const others = Array.from({ length: 50 }, (_, y) => [`6/1/${y}.png`, Buffer.alloc(10, y), same])
    const { summary } = await findings(kinds.zip([['3/0/0.png', big, { stored: true }], ...others]))
    assert.equal(summary.kinds['bad-structure'], 1)
    assert.ok(summary.tiles <= 2)
  })

  it('unpacks no more of a bomb in a zip than a tile may have', async () => {
    const before = process.memoryUsage().rss
    const made = kinds.zip([...files, ['3/5/5.png', Buffer.alloc(80e6)], ['big.txt', Buffer.alloc(80e6)]])
    assert.deepEqual((await findings(made)).said, ['oversized-tile 3/5/5'])
    const tar = kinds['tar in gzip']([...files, ['3/5/5.png', Buffer.alloc(80e6)], ['big.txt', Buffer.alloc(80e6)]])
    assert.deepEqual((await findings(tar)).said, ['oversized-tile 3/5/5.png'])
    assert.ok(process.memoryUsage().rss - before < 700e6) // the tests' own copies included
  })

  it('finds what was cut off, and looks at what there is', async () => {
    const tar = tarOf(files)
    for (const [name, bytes, least] of /** @type {const} */ ([['a.tar', tar.subarray(0, -1024), 9], ['a.tar', tar.subarray(0, 3000), 1], ['a.tgz', gzipSync(tar).subarray(0, -2000), 0], ['a.zip', zipOf(files).subarray(0, -30), 0]])) {
      const { summary } = await findings(written(name, bytes))
      assert.ok(summary.kinds['damaged-file'] > 0, name)
      assert.ok(summary.tiles >= least, `${summary.tiles} tiles of ${name}`)
    }
  })

  it('is stopped where there is nothing to decode for long', async () => {
    const made = [kinds.folder([['0/0/0.txt', Buffer.alloc(1)]]), kinds.zip([['big.txt', Buffer.alloc(30e6)]]), kinds.tar([['big.txt', Buffer.alloc(30e6)]])]
    for (const file of made) {
      const stop = new AbortController()
      const stopped = findings(file, { signal: stop.signal })
      stop.abort()
      await assert.rejects(stopped, { code: 'ABORTED' }, file)
    }
  })

  it('reads other files in pieces, however long they are', async function () {
    this.timeout(60000)
    const size = 1.5e9 // a hole in the file
    const made = at => writeZip([{ name: '0/0/0.png', bytes: first }, { name: 'notes.bin', stored: true, size, packed: size, sum: 1 }], { at })
    const first = await tile(0)
    const directory = made(0).indexOf('PK\x01\x02', 0, 'latin1')
    const zip = written('a.zip', made(0).subarray(0, directory))
    truncateSync(zip, directory + size)
    appendFileSync(zip, made(directory + size).subarray(directory))
    const before = peakOf('self')
    const { kinds: found, examples } = (await findings(zip)).summary
    assert.deepEqual([found, examples['wrong-digest'].where], [{ 'wrong-digest': 1 }, 'notes.bin'])
    assert.ok(peakOf('self') - before < 5e8, `${before} to ${peakOf('self')}`)
  })

  it('reports a damaged header of a tar once, and continues behind it', async () => {
    const tar = tarOf(files)
    const second = 512 + Math.ceil(files[0][1].length / 512) * 512
    const { summary } = await findings(written('a.tar', flipped(tar, second + 5)))
    assert.deepEqual([summary.kinds, summary.tiles], [{ 'damaged-file': 1 }, 8])
  })

  it('recognises a file by its content, not by its name', async () => {
    assert.equal((await findings(written('wrong.mbtiles', zipOf(files)))).summary.kind, 'zip')
    await assert.rejects(findings(written('a.txt', 'hello')), { code: 'SOURCE_UNKNOWN' })
    await assert.rejects(findings(path.join(folder.dir, 'none.zip')), { code: 'SOURCE_NOT_FOUND' })
  })
})
