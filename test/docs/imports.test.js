import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import ts from 'typescript'
import { root } from './pages.js'

const FOLDERS = ['core', 'client', 'loader', 'server', 'attachments', 'bench']

/** The files that each file imports, types that only a comment imports aside. @returns {Map<string, string[]>} */
function readImports () {
  const files = FOLDERS.flatMap(folder => readdirSync(path.join(root, folder), { recursive: true })
    .map(name => path.join(folder, `${name}`))
    .filter(name => name.endsWith('.js') && !name.includes('node_modules')))
  return new Map(files.map(file => {
    const { importedFiles } = ts.preProcessFile(readFileSync(path.join(root, file), 'utf8'))
    const specifiers = importedFiles.map(({ fileName }) => fileName).filter(name => name.startsWith('.'))
    return [file, specifiers.map(specifier => path.join(path.dirname(file), specifier))]
  }))
}

/** The first circle that a walk from a file meets, as a path. */
function findCircle (imports) {
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
  const imports = readImports()

  it('are found in every folder', () => {
    for (const folder of FOLDERS) assert.ok([...imports.keys()].filter(file => file.startsWith(`${folder}/`)).length > 20, folder)
    assert.ok(imports.get('loader/load/set.js').includes('loader/load/index.js'))
  })

  it('make no circle', () => assert.equal(findCircle(imports), undefined))

  it('would be seen to make one', () => {
    const circular = new Map([['a.js', ['b.js']], ['b.js', ['c.js']], ['c.js', ['b.js']]])
    assert.equal(findCircle(circular), 'b.js -> c.js -> b.js')
  })
})
