// What commands leave on the disk and in the stores holds no name and password, however these were given.
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { startEmbedded } from '../../server/embedded/index.js'
import { runCommand } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { png } from '../support/tiles.js'

const SECRET = 'hunter2-s3cret'

describe('the files and output of commands', function () {
  this.timeout(120000)
  const folder = useFolder()
  let server
  beforeEach(
    async () => { server = await startEmbedded({ dir: path.join(folder.dir, 'data'), admins: { root: SECRET } }) }
  )
  afterEach(() => server?.close())

  const inside = name => path.join(folder.dir, name)

  async function run (args) {
    const { code, out, err } = await runCommand(args)
    assert.ok(!(out + err).includes(SECRET), out + err)
    return { code, text: out + err }
  }

  it('contain no password, and a backup is readable only by its owner', async () => {
    const { host } = new URL(server.url)
    const at = db => `http://root:${SECRET}@${host}/${db}`
    for (const [x, bytes] of [[0, png(1)], [1, png(2)]]) {
      mkdirSync(inside(`tiles/1/${x}`), { recursive: true })
      writeFileSync(inside(`tiles/1/${x}/0.png`), bytes)
    }
    const commands = [
      ['load', inside('tiles'), '--layer', 'osm', '--time', '2024-01-01', '--db', at('one')],
      ['load', at('one'), '--source-layer', 'osm', '--layer', 'copied', '--time', '2024-02-01', '--db', at('two')],
      ['mirror', at('one'), at('two')],
      ['copy', 'osm', 'again', '--from', at('one'), '--db', at('two')],
      ['backup', inside('all.tcb'), '--db', at('two')],
      ['restore', inside('all.tcb'), '--yes', '--db', at('three')],
      ['export', 'osm', inside('out.mbtiles'), '--db', at('two')],
      ['export', 'osm', inside('out'), '--db', at('two')],
      ['export', 'osm', inside('trees'), '--tree', '--db', at('two')],
      ['diff', 'osm', 'copied', '--geojson', inside('diff.json'), '--db', at('two')],
      ['check', '--report', inside('found.jsonl'), '--db', at('two')],
      ['doctor', '--metrics', inside('doctor.prom'), '--db', at('two')],
      ['check', 'osm', '--db', at('two')]
    ]
    for (const args of commands) {
      const { code, text } = await run(args)
      assert.ok(code === 0 || ['doctor', 'check', 'diff'].includes(args[0]), `${args[0]}: ${text}`)
    }
    const files = readdirSync(folder.dir, { recursive: true }).map(name => inside(String(name)))
      .filter(name => statSync(name).isFile())
    assert.ok(files.length > 20, String(files.length))
    for (const file of files) assert.ok(!readFileSync(file).includes(SECRET), file)
    assert.equal(statSync(inside('all.tcb')).mode & 0o077, 0, 'a backup is for its owner')
  })

  it('contain no password of a URL with spaces or quotes', async () => {
    for (const odd of [`http://root:${SECRET} x@h/tiles`, `http://root:${SECRET}"'@h/tiles`,
      `http:root:${SECRET}@h/tiles`, `root:${SECRET}@h/tiles`]) await run(['info', '--db', odd])
  })
})
