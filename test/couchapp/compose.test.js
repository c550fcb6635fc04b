// Composing design documents from files, and the couchapp folders that are written from them.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { cpSync, symlinkSync, existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { compose, root, composeFolder } from '../../loader/couchapp/compose.js'
import { useFolder } from '../support/folder.js'

const md5 = bytes => createHash('md5').update(bytes).digest('hex')
const MAP = '(function (doc) {\n  emit(doc._id, null)\n})'
const small =
  { '_design/a/language': 'javascript\n', 'views/a/all/map.js': MAP + '\n', 'views/a/all/reduce.js': '_count\n' }

describe('composing design documents', () => {
  const folder = useFolder()

  const refuses = async (files, pattern) => {
    const dir = folder.write(files)
    await assert.rejects(compose(dir), error => {
      assert.equal(error.code, 'COUCHAPP_INVALID')
      assert.match(error.message, pattern)
      return true
    })
  }

  it('joins _design, views and attachments by name', async () => {
    const dir = folder.write({
      ...small, '_design/tiles/rewrites.json': '[]', '_design/tiles/lists/at.js': MAP,
      'attachments/index.html': '<p>', 'attachments/icons/x.svg': '<svg/>'
    })
    assert.deepEqual(await compose(dir), [
      { _id: '_design/a', language: 'javascript', views: { all: { map: MAP, reduce: '_count' } }, couchapp: {
        signatures: {}
      } },
      {
        _id: '_design/tiles', language: 'javascript', rewrites: [], lists: { at: MAP },
        _attachments: {
          'icons/x.svg': { content_type: 'image/svg+xml', data: btoa('<svg/>') },
          'index.html': { content_type: 'text/html; charset=utf-8', data: btoa('<p>') }
        },
        couchapp: { signatures: { 'icons/x.svg': md5('<svg/>'), 'index.html': md5('<p>') } }
      }
    ])
  })

  it('puts documents with indexes before those that read them', async () => {
    const dir = folder.write({ ...small, '_design/0/language': 'javascript' })
    await assert.rejects(compose(dir), { code: 'COUCHAPP_INVALID' }, 'a name begins with a letter')
    const docs = await compose()
    const withViews = docs.map(doc => Boolean(doc.views))
    assert.deepEqual(withViews, [...withViews].sort((a, b) => Number(b) - Number(a)))
    assert.equal(docs.at(-1)._id, '_design/tiles')
  })

  it('makes the design documents tiles and versions of this project', async () => {
    const docs = await compose()
    assert.deepEqual(docs.map(({ _id }) => _id).sort(), ['_design/tiles', '_design/versions'])
    const tiles = docs.find(({ _id }) => _id === '_design/tiles')
    assert.ok(tiles._attachments['index.html'] && tiles._attachments['leaflet.js'] && tiles._attachments['leaflet.css'])
    assert.ok(!tiles.views, 'what changes often has no index to rebuild')
  })

  it('gives the same bytes every time and in every folder', async () => {
    const copy = folder.path('elsewhere')
    for (const part of ['_design', 'views', 'core']) {
      cpSync(path.join(root, part), path.join(copy, part), { recursive: true })
    }
    const designs = docs => JSON.stringify(docs.map(({ _attachments, couchapp, ...doc }) => doc))
    const here = await compose()
    assert.equal(JSON.stringify(await compose()), JSON.stringify(here))
    assert.equal(designs(await compose(copy)), designs(here))
  })

  it('strips the comments before a function and a semicolon after it', async () => {
    const dir =
      folder.write({ ...small, 'views/a/all/map.js': `// why\n\n/* how,\n   and how much */\n  // more\n${MAP};\n` })
    assert.equal((await compose(dir))[0].views.all.map, MAP)
  })

  it('inserts the code of a module at the comment that names it', async () => {
    const module = 'export var one = 1\n\n/** Adds. */\nexport function add (a) { return a + one }\n'
    const dir = folder.write({
      ...small, 'core/sum.js': module,
      'views/a/all/map.js': '(function (doc) {\n  // !code core/sum.js\n  emit(add(doc.n), null)\n})\n'
    })
    assert.equal((await compose(dir))[0].views.all.map,
      '(function (doc) {\nvar one = 1\n\n/** Adds. */\nfunction add (a) { return a + one }\n  emit(add(doc.n), ' +
        'null)\n})')
    await refuses({ ...small, 'views/a/all/map.js': '(function (doc) {\n  // !code core/none.js\n})' },
      /no such file: core\/none\.js/)
    await refuses(
      {
        ...small, 'core/sum.js': `import x from 'x'\n${module}`,
        'views/a/all/map.js': '(function (doc) {\n  // !code core/sum.js\n})'
      }, /core\/sum\.js imports something/
    )
  })

  /** Files, and the error message for them. @type {Record<string, [Record<string, string>, RegExp][]>} */
  const refused = {
    'two sources for one key': [
      [{ ...small, '_design/a/rewrites.js': MAP, '_design/a/rewrites.json': '[]' },
        /rewrites.*two sources for "rewrites"/],
      [{ ...small, '_design/a/lists/at.js': MAP, '_design/a/lists.json': '{}' }, /two sources for "lists"/]
    ],
    'views in two places': [
      [{ ...small, '_design/a/views/other/map.js': MAP }, /there are views in _design\/a\/views and in views\/a/]
    ],
    'bad JSON, which couchapp pushes as an empty string': [
      [{ ...small, '_design/a/rewrites.json': '{' }, /rewrites\.json: bad JSON/]
    ],
    'a syntax error, and names the file': [
      [{ ...small, 'views/a/all/map.js': '(function (doc) { emit( })' }, /map\.js: Unexpected token/]
    ],
    'the call of a function, without running it': [
      [{ ...small, 'views/a/all/map.js': '(function () { throw new Error("run") }())' }, /one anonymous function/]
    ],
    'stray files': [
      [{ ...small, 'views/a/all/notes.txt': 'x' }, /only \.js, \.json and files without extension/]
    ],
    'a file where a folder belongs': [
      [{ ...small, 'views/b.js': MAP }, /views\/b: views are folders/],
      [{ ...small, 'views/b.js': '', 'views/c': '' }, /views\/[bc]/]
    ],
    'a view without a map': [
      [{ ...small, 'views/a/half/reduce.js': '_count' }, /views\/a\/half: a view needs a map\.js/]
    ],
    'attachments of unknown content types': [
      [{ ...small, 'attachments/a.exe': 'x' }, /a\.exe: unknown content type/],
      [{ 'attachments/b': 'x' }, /unknown content type/]
    ],
    'files for _id, _rev and _attachments': [
      [{ ...small, '_design/a/_id': '_design/b' }, /_id, _rev and _attachments are not files/]
    ],
    'a folder without design documents': [[{ 'readme.txt': 'x' }, /no such folder/]]
  }
  for (const [title, cases] of Object.entries(refused)) {
    it(`refuses ${title}`, async () => {
      for (const [files, pattern] of cases) await refuses(files, pattern)
    })
  }

  const oddFunctions = {
    'a named function': '(function map (doc) {})',
    'no parentheses': 'function (doc) {}',
    'a declaration': 'function map (doc) {}',
    'an arrow function': '(doc => {})',
    'two functions': '(function (doc) {}), (function (doc) {})',
    'two functions, the second called with the first': '(function (doc) {})\n(function (doc) {})',
    'two functions in one pair of parentheses': '(function (doc) {}, function (doc) {})',
    'a call': '(function (doc) {}())',
    'a constant before it': 'var a = 1;\n(function (doc) { emit(a) })',
    'a comment after it': `${MAP} // emit`,
    'nothing at all': '// nothing\n',
    'an object': '({})',
    'text': '_count'
  }
  for (const [title, text] of Object.entries(oddFunctions)) {
    it(`refuses a function file with ${title}`,
      () => refuses({ ...small, 'views/a/all/map.js': text }, /views\/a\/all\/map\.js: /))
  }

  it('ignores hidden files', async () => {
    assert.equal((await compose(folder.write({ ...small, 'views/a/all/.DS_Store': 'x', '_design/.gitkeep': '' })))
      .length, 1)
  })

  it('refuses symbolic links, to files and to folders', async () => {
    const dir = folder.write(small)
    symlinkSync(path.join(dir, 'views/a/all'), path.join(dir, 'views/a/link'))
    await refuses({}, /views\/a\/link: symbolic links/)
  })
})

describe('couchapp folders', () => {
  const folder = useFolder()
  const read = (...parts) => readFileSync(folder.path(...parts), 'utf8')

  it('hold each design document in the layout of couchapp, with every function and attachment', async () => {
    const folders = await composeFolder(folder.dir)
    assert.deepEqual(folders.map(name => path.relative(folder.dir, name)).sort(), ['tiles', 'versions'])
    for (const {
      _id, views = {}, lists = {}, shows = {}, rewrites, validate_doc_update: validation, _attachments = {}
    } of await compose()) {
      const name = _id.slice('_design/'.length)
      assert.deepEqual(['_id', 'language', '.couchapprc'].map(file => read(name, file)), [_id, 'javascript', '{}\n'])
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
    assert.ok(!existsSync(folder.path('tiles/lists/old.js')))
    assert.deepEqual(readdirSync(folder.path('mine')), ['note.txt'])
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
