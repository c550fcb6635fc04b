import assert from 'node:assert/strict'
import { drawImports, readImports } from '../../docs/imports-picture.js'
import { textOf } from './pages.js'

const FOLDERS = ['core', 'client', 'loader', 'server', 'attachments', 'bench']

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
  const imports = readImports(FOLDERS)

  it('are found in every folder', () => {
    for (const folder of FOLDERS) {
      assert.ok([...imports.keys()].filter(file => file.startsWith(`${folder}/`)).length > 20, folder)
    }
    assert.ok(imports.get('loader/load/set.js').includes('loader/load/index.js'))
  })

  it('form no cycle', () => assert.equal(findCircle(imports), undefined))

  it('are those of the picture in CONTRIBUTING.md (npm run docs draws it)', () => {
    assert.equal(textOf('docs/images/imports.svg'), drawImports())
  })

  it('of an example with a cycle are reported as one', () => {
    const circular = new Map([['a.js', ['b.js']], ['b.js', ['c.js']], ['c.js', ['b.js']]])
    assert.equal(findCircle(circular), 'b.js -> c.js -> b.js')
  })
})
