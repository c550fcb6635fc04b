import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { crc32, gzipSync } from 'node:zlib'
import { Header } from 'tar'
import yazl from 'yazl'
import { useFolder } from '../support/folder.js'
import { peakOf } from '../support/processes.js'
import { findings, flipped, image, rawVectorTile, tile, undecodable, vectorTile } from './helpers.js'

/** @param {[name: string, bytes: Buffer, options?: object][]} files */
async function zipOf (files) {
  const zip = new yazl.ZipFile()
  for (const [name, bytes, options] of files) zip.addBuffer(bytes, name, options)
  zip.end()
  return buffer(/** @type {any} */ (zip.outputStream))
}

function tarOf (files, end = Buffer.alloc(1024)) {
  const parts = files.flatMap(([name, bytes]) => {
    const header = Buffer.alloc(512)
    new Header({ path: name, size: bytes.length, type: 'File', mode: 0o644, mtime: new Date(0), uid: 0, gid: 0 }).encode(header)
    return [header, bytes, Buffer.alloc((512 - bytes.length % 512) % 512)]
  })
  return Buffer.concat([...parts, end])
}

describe('verify of files of tiles', () => {
  const folder = useFolder()
  /** @type {[string, Buffer][]} */
  let files

  before(async () => {
    files = []
    for (let x = 0; x < 3; x++) for (let y = 0; y < 3; y++) files.push([`3/${x}/${y}.png`, await tile(x * 3 + y)])
  })

  const kinds = {
    folder (given) {
      for (const [name, bytes] of given) folder.write({ [`tiles/${name}`]: bytes })
      mkdirSync(path.join(folder.dir, 'tiles'), { recursive: true })
      return path.join(folder.dir, 'tiles')
    },
    async zip (given) {
      return path.join(folder.write({ 'a.zip': await zipOf(given) }), 'a.zip')
    },
    tar (given) {
      return path.join(folder.write({ 'a.tar': tarOf(given) }), 'a.tar')
    },
    'tar in gzip' (given) {
      return path.join(folder.write({ 'a.tgz': gzipSync(tarOf(given)) }), 'a.tgz')
    }
  }

  for (const [kind, make] of Object.entries(kinds)) {
    const check = async (given, options) => findings(await make([...files, ...given]), options)

    it(`finds nothing in a healthy ${kind}, with what lies beside its tiles`, async () => {
      const metadata = Buffer.from(JSON.stringify({ name: 'City', minzoom: 3, maxzoom: '3', bounds: '-180,-85,180,85', format: 'png' }))
      const beside = /** @type {any} */ ([['metadata.json', metadata], ['3/0/0.kml', Buffer.from('<kml/>')], ['readme.txt', Buffer.from('hello')], ['3/1/2.jgw', Buffer.from('1')]])
      const { said, summary } = await check(beside)
      assert.deepEqual([said, summary.kind, summary.tiles, summary.checked.decoded], [[], kind.slice(0, 6).trim().replace('tar in', 'tar'), 9, 9])
    })

    it(`takes every format in a ${kind}, and vector tiles in gzip or not`, async () => {
      const others = /** @type {any} */ ([['3/4/0.jpeg', await image('jpeg')], ['3/4/1.webp', await image('webp')], ['3/4/2.pbf', vectorTile()], ['3/4/3.mvt', rawVectorTile()]])
      assert.deepEqual((await check(others)).said, [])
    })

    it(`finds what is wrong with tiles in a ${kind}, and nothing else`, async () => {
      const wrong = /** @type {any} */ ([
        ['3/4/0.jpg', await tile(1)], ['3/4/1.png', await undecodable(1)], ['3/4/2.png', Buffer.alloc(0)], ['3/4/3.png', Buffer.from('<html>')], ['3/4/4.png', await tile(1, 100)],
        ['3/4/5.png', (await tile(4)).subarray(0, 90)], ['3/4/6.gif', Buffer.from('GIF89a')], ['3/4/9.png', await tile(1)], ['3/4/007.png', await tile(1)], ['3/5/0@2x.png', await tile(1)]
      ])
      const { found } = await check(wrong)
      // an archive that is read in the order of its tiles names them by their places
      assert.deepEqual(found.map(({ code, where }) => `${where.replace(/\.png$|\.jpg$/, '')} ${code}`).sort(), [
        '3/4/0 wrong-type', '3/4/007 not-a-tile-name', '3/4/1 undecodable-tile', '3/4/2 empty-tile', '3/4/3 unknown-format', '3/4/4 odd-size', '3/4/5 truncated-tile',
        '3/4/6.gif not-a-tile-name', '3/4/9 outside-pyramid', '3/5/0@2x not-a-tile-name'
      ])
    })

    it(`holds what a ${kind} says of its tiles against them`, async () => {
      const saying = async metadata => (await check([['metadata.json', Buffer.from(typeof metadata === 'string' ? metadata : JSON.stringify(metadata))]])).summary.kinds
      assert.deepEqual(await saying('{'), { 'bad-metadata': 1 })
      assert.deepEqual(await saying({ minzoom: 4, maxzoom: 3 }), { 'bad-metadata': 1, 'outside-zooms': 9, ...(kind && {}) })
      assert.deepEqual(await saying({ maxzoom: 5 }), { 'metadata-disagrees': 1 })
      assert.deepEqual(await saying({ bounds: [10, 10, 20, 20] }), { 'outside-bounds': 9 })
      assert.deepEqual(await saying({ bounds: 'here', format: 7 }), { 'bad-metadata': 2 })
    })

    it(`takes the list of a diff in a ${kind} for what it is, unless what is gone is there`, async () => {
      const { said, summary } = await check([['gone.txt', Buffer.from('3/7/7\n3/7/6\n')]])
      assert.deepEqual([said, summary.checked.gone], [[], 2])
      assert.deepEqual((await check([['gone.txt', Buffer.from('3/1/1\n')]])).found.map(({ code, where }) => [code, where.replace('.png', '')]), [['bad-structure', '3/1/1']])
      assert.deepEqual((await check([['gone.txt', Buffer.from('nothing here')]])).said, ['bad-structure gone.txt'])
    })

    it(`says that there is nothing in a ${kind} without tiles`, async () => {
      const { said } = await findings(await make([['readme.txt', Buffer.from('hello')]]))
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

  it('counts rows from the south where it is told to', async () => {
    const metadata = Buffer.from(JSON.stringify({ bounds: [-180, -85, 0, -40] }))
    for (const make of Object.values(kinds)) {
      const made = await make([...files, ['metadata.json', metadata]])
      assert.equal((await findings(made)).summary.kinds['outside-bounds'], 9)
      assert.deepEqual((await findings(made, { scheme: 'tms' })).said, [])
    }
  })

  it('finds names that lead out of an archive, and goes on', async () => {
    const names = ['../../3/0/7.png', '/3/0/7.png', 'a/../../3/0/7.png']
    const placeholder = (name, index) => 'xyw'[index].repeat(name.length)
    const zip = await zipOf([...files, ...names.map((name, index) => /** @type {any} */ ([placeholder(name, index), files[0][1]]))])
    // yazl refuses such names: they are put in afterwards
    for (const [index, name] of names.entries()) for (let at; (at = zip.indexOf(placeholder(name, index))) >= 0;) zip.write(name, at)
    folder.write({ 'a.zip': zip, 'a.tar': tarOf([...files, ...names.map(name => [name, files[0][1]])]) })
    for (const archive of ['a.zip', 'a.tar']) {
      const { summary, said } = await findings(path.join(folder.dir, archive))
      assert.deepEqual([said, summary.tiles], [names.map(name => `unsafe-name ${name}`).sort(), 9], archive)
    }
  })

  it('finds tiles that are in an archive twice: in a zip that is a fault, in a tar the last counts', async () => {
    assert.deepEqual((await findings(await kinds.zip([...files, files[4]]))).said, ['duplicate-tile 3/1/1'])
    assert.deepEqual((await findings(kinds.tar([...files, files[4]]))).said, ['odd-structure 3/1/1'])
  })

  it('finds tiles in two places of one archive', async () => {
    for (const make of [kinds.zip, kinds.tar]) assert.deepEqual((await findings(await make([...files, ['old/3/5/5.png', files[0][1]]]))).said, ['bad-structure old'])
  })

  it('finds files of a zip whose check sum or length is wrong', async () => {
    const zip = await zipOf([...files.map(([name, bytes]) => /** @type {any} */ ([name, bytes, { compress: false }])), ['notes.txt', Buffer.from('hello world'.repeat(50))], ['raw.txt', Buffer.from('some words'), { compress: false }]])
    const data = zip.indexOf(files[4][1])
    const broken = flipped(flipped(zip, data + files[4][1].indexOf('IEND') + 6), zip.indexOf('some words'))
    folder.write({ 'a.zip': broken })
    assert.deepEqual((await findings(path.join(folder.dir, 'a.zip'), { decode: false })).said, ['wrong-digest 3/1/1', 'wrong-digest raw.txt'])
    const central = zip.lastIndexOf('3/1/1.png') - 46
    const longer = Buffer.from(zip)
    const at = central + 24 // the size unpacked of a file that is stored: yauzl ends at that
    longer.writeUInt32LE(longer.readUInt32LE(at) + 1, at)
    folder.write({ 'a.zip': longer })
    assert.ok((await findings(path.join(folder.dir, 'a.zip'))).summary.faults > 0)
  })

  it('finds a packed tile that says it is shorter than it is', async () => {
    const zip = await zipOf(files)
    const central = zip.lastIndexOf('3/1/1.png') - 46
    zip.writeUInt32LE(20, central + 24)
    folder.write({ 'a.zip': zip })
    assert.deepEqual((await findings(path.join(folder.dir, 'a.zip'))).said, ['unreadable-tile 3/1/1'])
  })

  it('stops at files of a zip that overlap, as bombs have them', async () => {
    const big = Buffer.alloc(1e6)
    const zip = await zipOf([['3/0/0.png', big, { compress: false }], ...Array.from({ length: 50 }, (_, y) => /** @type {any} */ ([`6/1/${y}.png`, Buffer.alloc(10, y)]))])
    const first = zip.indexOf(Buffer.from([0x50, 0x4b, 0x01, 0x02]))
    for (let at = zip.indexOf('PK\x01\x02', first + 4, 'latin1'); at >= 0; at = zip.indexOf('PK\x01\x02', at + 4, 'latin1')) {
      zip.writeUInt16LE(0, at + 10)
      zip.writeUInt32LE(big.length, at + 20)
      zip.writeUInt32LE(big.length, at + 24)
      zip.writeUInt32LE(crc32(big), at + 16)
      zip.writeUInt32LE(0, at + 42)
    }
    folder.write({ 'a.zip': zip })
    const { summary } = await findings(path.join(folder.dir, 'a.zip'))
    assert.equal(summary.kinds['bad-structure'], 1)
    assert.ok(summary.tiles <= 2)
  })

  it('unpacks no more of a bomb in a zip than a tile may have', async () => {
    const before = process.memoryUsage().rss
    const made = await kinds.zip([...files, ['3/5/5.png', Buffer.alloc(80e6)], ['big.txt', Buffer.alloc(80e6)]])
    assert.deepEqual((await findings(made)).said, ['oversized-tile 3/5/5'])
    const tar = kinds['tar in gzip']([...files, ['3/5/5.png', Buffer.alloc(80e6)], ['big.txt', Buffer.alloc(80e6)]])
    assert.deepEqual((await findings(tar)).said, ['oversized-tile 3/5/5.png'])
    assert.ok(process.memoryUsage().rss - before < 700e6) // the tests' own copies included
  })

  it('finds what was cut off, and looks at what there is', async () => {
    const tar = tarOf(files)
    for (const [name, bytes, least] of /** @type {const} */ ([['a.tar', tar.subarray(0, -1024), 9], ['a.tar', tar.subarray(0, 3000), 1], ['a.tgz', gzipSync(tar).subarray(0, -2000), 0], ['a.zip', (await zipOf(files)).subarray(0, -30), 0]])) {
      folder.write({ [name]: bytes })
      const { summary } = await findings(path.join(folder.dir, name))
      assert.ok(summary.kinds['damaged-file'] > 0, name)
      assert.ok(summary.tiles >= least, `${summary.tiles} tiles of ${name}`)
    }
  })

  it('is stopped where there is nothing to decode for long', async () => {
    const made = [kinds.folder([['0/0/0.txt', Buffer.alloc(1)]]), await kinds.zip([['big.txt', Buffer.alloc(30e6)]]), kinds.tar([['big.txt', Buffer.alloc(30e6)]])]
    for (const file of made) {
      const stop = new AbortController()
      const stopped = findings(file, { signal: stop.signal })
      stop.abort()
      await assert.rejects(stopped, { code: 'ABORTED' }, file)
    }
  })

  it('reads what is no tile in pieces, however long it is', async function () {
    this.timeout(60000)
    const zip = await kinds.zip([['0/0/0.png', await tile(0)], ['notes.bin', Buffer.alloc(1)]])
    const whole = readFileSync(zip)
    const size = 1.5e9
    const central = whole.indexOf('PK\x01\x02', 'latin1')
    const entry = whole.lastIndexOf('PK\x01\x02', undefined, 'latin1')
    const [begin, end] = [whole.subarray(0, central), Buffer.from(whole.subarray(central))]
    const end0 = end.lastIndexOf('PK\x05\x06', undefined, 'latin1')
    end.writeUInt16LE(0, entry - central + 10) // stored
    end.writeUInt32LE(size, entry - central + 20)
    end.writeUInt32LE(size, entry - central + 24)
    end.writeUInt32LE(begin.length + size, end0 + 16)
    writeFileSync(zip, begin)
    truncateSync(zip, begin.length + size)
    appendFileSync(zip, end)
    const before = peakOf('self')
    const { kinds: found, examples } = (await findings(zip)).summary
    assert.deepEqual([found, examples['wrong-digest'].where], [{ 'wrong-digest': 1 }, 'notes.bin'])
    assert.ok(peakOf('self') - before < 5e8, `${before} to ${peakOf('self')}`)
  })

  it('says once that a header of a tar is damaged, and goes on behind it', async () => {
    const tar = tarOf(files)
    const second = 512 + Math.ceil(files[0][1].length / 512) * 512
    folder.write({ 'a.tar': flipped(tar, second + 5) })
    const { summary } = await findings(path.join(folder.dir, 'a.tar'))
    assert.deepEqual([summary.kinds, summary.tiles], [{ 'damaged-file': 1 }, 8])
  })

  it('goes by what a file holds, not by its name, and says what it cannot tell', async () => {
    const zip = await kinds.zip(files)
    writeFileSync(path.join(folder.dir, 'wrong.mbtiles'), readFileSync(zip))
    assert.equal((await findings(path.join(folder.dir, 'wrong.mbtiles'))).summary.kind, 'zip')
    folder.write({ 'a.txt': 'hello' })
    await assert.rejects(findings(path.join(folder.dir, 'a.txt')), { code: 'SOURCE_UNKNOWN' })
    await assert.rejects(findings(path.join(folder.dir, 'none.zip')), { code: 'SOURCE_NOT_FOUND' })
  })
})
