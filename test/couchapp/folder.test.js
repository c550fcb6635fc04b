import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { compose, composeFolder } from '../../loader/couchapp/compose.js'
import { useFolder } from '../support/couch-database.js'

describe('couchapp folders', () => {
  const folder = useFolder()
  const read = (...parts) => readFileSync(path.join(folder.dir, ...parts), 'utf8')

  it('hold each design document in the layout of couchapp', async () => {
    const folders = await composeFolder(folder.dir)
    assert.deepEqual(folders.map(name => path.relative(folder.dir, name)).sort(), ['tiles', 'versions'])
    assert.equal(read('tiles', '_id'), '_design/tiles')
    assert.equal(read('tiles', 'language'), 'javascript')
    assert.equal(read('tiles', '.couchapprc'), '{}\n')
    assert.match(read('tiles', 'validate_doc_update.js'), /^\(function/)
    assert.match(read('tiles', 'lists', 'at.js'), /^\(function/)
    assert.match(read('versions', 'views', 'by_tile', 'map.js'), /^\(function/)
    assert.equal(read('versions', 'views', 'by_tile', 'reduce.js'), '_count')
    assert.ok(existsSync(path.join(folder.dir, 'tiles', '_attachments', 'leaflet.js')))
  })

  it('hold every function and attachment that is composed', async () => {
    await composeFolder(folder.dir)
    for (const {
      _id, views = {}, lists = {}, shows = {}, rewrites, validate_doc_update: validation, _attachments = {}
    } of await compose()) {
      const name = _id.slice('_design/'.length)
      for (const [view, { map, reduce }] of Object.entries(views)) {
        assert.equal(read(name, 'views', view, 'map.js'), map)
        if (reduce) assert.equal(read(name, 'views', view, 'reduce.js'), reduce)
      }
      for (const [list, text] of Object.entries(lists)) assert.equal(read(name, 'lists', `${list}.js`), text)
      for (const [show, text] of Object.entries(shows)) assert.equal(read(name, 'shows', `${show}.js`), text)
      if (rewrites) assert.equal(read(name, 'rewrites.js'), rewrites)
      if (validation) assert.equal(read(name, 'validate_doc_update.js'), validation)
      for (const [attachment, { data }] of Object.entries(_attachments)) {
        assert.equal(readFileSync(path.join(folder.dir, name, '_attachments', attachment)).toString('base64'), data)
      }
    }
  })

  it('replace the files of an earlier build, and keep other folders', async () => {
    folder.write({ 'tiles/lists/old.js': 'x', 'mine/note.txt': 'x' })
    await composeFolder(folder.dir)
    assert.ok(!existsSync(path.join(folder.dir, 'tiles/lists/old.js')))
    assert.deepEqual(readdirSync(path.join(folder.dir, 'mine')), ['note.txt'])
  })

  it('hold arrays and numbers as JSON', async () => {
    const app = folder.write(
      { 'app/_design/a/rewrites.json': '[{"from": "/", "to": "index.html"}]', 'app/_design/a/options.json': '{"n": 1}' }
    )
    await composeFolder(path.join(app, 'out'), path.join(app, 'app'))
    assert.deepEqual(JSON.parse(read('out', 'a', 'rewrites.json')), [{ from: '/', to: 'index.html' }])
    assert.equal(read('out', 'a', 'options', 'n.json'), '1')
  })
})
