import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { cpSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { compose, root } from '../../loader/couchapp/compose.js'
import { useFolder } from '../support/couch-database.js'

const md5 = bytes => createHash('md5').update(bytes).digest('hex')
const MAP = '(function (doc) {\n  emit(doc._id, null)\n})'
const small =
  { '_design/a/language': 'javascript\n', 'views/a/all/map.js': MAP + '\n', 'views/a/all/reduce.js': '_count\n' }

describe('composing design documents', () => {
  const folder = useFolder()

  const refuses = async (files, why) => {
    const dir = folder.write(files)
    await assert.rejects(compose(dir), error => {
      assert.equal(error.code, 'COUCHAPP_INVALID')
      assert.match(error.message, why)
      return true
    })
  }

  it('joins _design, views and attachments by name', async () => {
    const dir = folder.write(
      {
        ...small, '_design/tiles/rewrites.json': '[]', '_design/tiles/lists/at.js': MAP,
        'attachments/index.html': '<p>', 'attachments/icons/x.svg': '<svg/>'
      }
    )
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
    const copy = path.join(folder.dir, 'elsewhere')
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
    const dir = folder.write(
      {
        ...small, 'core/sum.js': module,
        'views/a/all/map.js': '(function (doc) {\n  // !code core/sum.js\n  emit(add(doc.n), null)\n})\n'
      }
    )
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

  it('refuses two sources for one key', async () => {
    await refuses({ ...small, '_design/a/rewrites.js': MAP, '_design/a/rewrites.json': '[]' },
      /rewrites.*two sources for "rewrites"/)
    await refuses({ ...small, '_design/a/lists/at.js': MAP, '_design/a/lists.json': '{}' }, /two sources for "lists"/)
  })

  it('refuses views in two places', async () => {
    await refuses({ ...small, '_design/a/views/other/map.js': MAP },
      /there are views in _design\/a\/views and in views\/a/)
  })

  it('refuses bad JSON, which couchapp pushes as an empty string', async () => {
    await refuses({ ...small, '_design/a/rewrites.json': '{' }, /rewrites\.json: bad JSON/)
  })

  it('refuses a syntax error, and names the file', async () => {
    await refuses({ ...small, 'views/a/all/map.js': '(function (doc) { emit( })' }, /map\.js: Unexpected token/)
  })

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
  for (const [what, text] of Object.entries(oddFunctions)) {
    it(`refuses a function file with ${what}`,
      () => refuses({ ...small, 'views/a/all/map.js': text }, /views\/a\/all\/map\.js: /))
  }

  it('does not run the functions that it composes', async () => {
    await refuses({ ...small, 'views/a/all/map.js': '(function () { throw new Error("run") }())' },
      /one anonymous function/)
  })

  it('refuses stray files', async () => {
    await refuses({ ...small, 'views/a/all/notes.txt': 'x' }, /only \.js, \.json and files without extension/)
  })

  it('ignores hidden files', async () => {
    assert.equal((await compose(folder.write({ ...small, 'views/a/all/.DS_Store': 'x', '_design/.gitkeep': '' })))
      .length, 1)
  })

  it('refuses a file where a folder belongs', async () => {
    await refuses({ ...small, 'views/b.js': MAP }, /views\/b: views are folders/)
    await refuses({ ...small, 'views/b.js': '', 'views/c': '' }, /views\/[bc]/)
  })

  it('refuses a view without a map', async () => {
    await refuses({ ...small, 'views/a/half/reduce.js': '_count' }, /views\/a\/half: a view needs a map\.js/)
  })

  it('refuses attachments of unknown content types', async () => {
    await refuses({ ...small, 'attachments/a.exe': 'x' }, /a\.exe: unknown content type/)
    await refuses({ 'attachments/b': 'x' }, /unknown content type/)
  })

  it('refuses files for _id, _rev and _attachments', async () => {
    await refuses({ ...small, '_design/a/_id': '_design/b' }, /_id, _rev and _attachments are not files/)
  })

  it('refuses symbolic links, to files and to folders', async () => {
    const dir = folder.write(small)
    symlinkSync(path.join(dir, 'views/a/all'), path.join(dir, 'views/a/link'))
    await refuses({}, /views\/a\/link: symbolic links/)
  })

  it('refuses a folder without design documents', async () => {
    await refuses({ 'readme.txt': 'x' }, /no such folder/)
  })
})
