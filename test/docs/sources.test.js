// Checks of the sources: imports form no cycle; stylesheets keep the line length of scripts, and style only elements of
// the pages.
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { drawImports, readImports } from '../../docs/imports-picture.js'
import { root, textOf } from './pages.js'

const FOLDERS = ['core', 'client', 'loader', 'server', 'attachments', 'bench']

/** The first cycle that a walk from a file meets, as a path. */
function findCycle (imports) {
  const finished = new Set()
  const visit = (file, trail) => {
    if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file]
    if (finished.has(file)) return undefined
    for (const imported of imports.get(file) ?? []) {
      const circle = visit(imported, [...trail, file])
      if (circle) return circle
    }
    finished.add(file)
    return undefined
  }
  for (const file of imports.keys()) {
    const circle = visit(file, [])
    if (circle) return circle.join(' -> ')
  }
}

describe('the imports', () => {
  const imports = readImports(FOLDERS)

  it('are found in every folder', () => {
    for (const folder of FOLDERS) {
      assert.ok([...imports.keys()].filter(file => file.startsWith(`${folder}/`)).length > 20, folder)
    }
    assert.ok(imports.get('loader/load/set.js').includes('loader/load/index.js'))
  })

  it('are those of the picture in CONTRIBUTING.md (npm run docs draws it)', () => {
    assert.equal(textOf('docs/images/imports.svg'), drawImports())
  })

  it('form no cycle, which would be found', () => {
    assert.equal(findCycle(imports), undefined)
    const circular = new Map([['a.js', ['b.js']], ['b.js', ['c.js']], ['c.js', ['b.js']]])
    assert.equal(findCycle(circular), 'b.js -> c.js -> b.js')
  })
})

const COLUMNS = 120

/** Files of a folder with a name that matches. @returns {[string, string][]} name and content */
const filesIn = (folder, ending) => readdirSync(path.join(root, folder), { recursive: true })
  .map(name => path.join(folder, String(name)))
  .filter(name => ending.test(name) && !/(^|[\\/])(node_modules|dist)[\\/]/.test(name))
  .map(name => [name, readFileSync(path.join(root, name), 'utf8')])

/** Classes and ids in the selectors of a stylesheet. @param {string} css */
const namesIn = css => {
  const selectors = css.replace(/\/\*[^]*?\*\//g, '').replace(/"[^"]*"/g, '').replace(/\{[^{}]*\}/g, ' ')
  return new Set([...selectors.matchAll(/[.#]([a-z][\w-]*)/g)].map(([, name]) => name))
}

describe('stylesheets', () => {
  const sheets = [...filesIn('attachments', /\.css$/), ...filesIn('client', /\.css$/)]

  it(`have lines of at most ${COLUMNS} columns`, () => {
    const longLines = sheets.flatMap(([name, css]) => css.split('\n')
      .flatMap((line, index) => line.length > COLUMNS ? [`${name}:${index + 1}`] : []))
    assert.deepEqual(longLines, [])
  })

  it('name only classes and ids that a page or a library has', () => {
    const sources = [...filesIn('attachments', /\.(js|html)$/), ...filesIn('client', /\.js$/)]
      .map(([, text]) => text)
      .join('\n')
    const isUsed = name => new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(sources) || // or `heat-${step}`
      sources.includes(`${name.replace(/[^-]*$/, '')}\${`)
    const unused = sheets.flatMap(([file, css]) => [...namesIn(css)]
      .filter(name => !/^(leaflet|maplibregl|ol)-/.test(name) && !isUsed(name)).map(name => `${file}: ${name}`))
    assert.deepEqual(unused, [])
  })
})
