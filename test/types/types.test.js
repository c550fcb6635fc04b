// The type declarations of the client library, compared with its script and compiled with a page.
import assert from 'node:assert/strict'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { buildDeclarations } from '../../client/build.js'
import { clientClasses } from '../../docs/client-tables.js'
import { useFolder } from '../support/folder.js'
import { loadGlobal } from './leaflet.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const text = readdirSync(path.join(root, 'client'), { recursive: true }).map(String)
  .filter(name => name.endsWith('.js')).map(name => readFileSync(path.join(root, 'client', name), 'utf8')).join('\n')

/** The source of a page that uses the package. Every line that must not compile is marked. */
const PAGE = `import * as L from 'leaflet'
import { historyLayer, OfflineStore, timeline, type Change, type LayerDocument } from './types/client/index.js'
import { Clock } from './types/client/leaflet/history.js'
const map = L.map('map')
const clock = new Clock({ time: '2024' })
const layer = historyLayer('/db', { layer: 'osm', clock, maxZoom: 8 }).addTo(map).setTime('2024-03')
layer.on('changes', ({ changes }) => (changes ?? []).map(({ time }: Change) => time.length))
  .on('layerload', ({ layer: doc }) => { const known: LayerDocument = doc; return known.name })
timeline(layer, { loop: true }).addTo(map).player.play()
const offline = new OfflineStore({ remote: '/db' })
offline.on('progress', ({ area, status }) => [area.name, status.remaining?.toFixed()])
offline.areas.add({ name: 'Alps', layer: 'osm', bbox: [5, 45, 17, 48], zooms: '0-8' })
  .then(area => area.download()).then(({ tiles }) => tiles.toFixed())
// @ts-expect-error
historyLayer('/db', { live: true })
// @ts-expect-error
layer.setTime(2024)
// @ts-expect-error
new OfflineStore({})
`

/** Paths on the global L that global.d.ts declares: `TileLayer.Couch.History`. */
function globalPaths () {
  const paths = []
  const walk = (node, trail) => {
    if (ts.isModuleDeclaration(node)) for (const inner of node.body.statements) walk(inner, [...trail, node.name.text])
    else if (ts.isVariableStatement(node)) for (const { name, type } of node.declarationList.declarations) {
      value(type, [...trail, name.getText()])
    }
  }
  const value = (type, trail) => {
    if (ts.isIntersectionTypeNode(type)) return type.types.forEach(part => value(part, trail))
    if (!ts.isTypeLiteralNode(type)) return paths.push(trail.slice(1).join('.'))
    for (const member of type.members) value(member.type, [...trail, member.name.text])
  }
  ts.createSourceFile('global.d.ts', readFileSync(path.join(root, 'client/global.d.ts'), 'utf8'),
    ts.ScriptTarget.Latest, true).statements.forEach(statement => walk(statement, []))
  return paths.sort()
}

describe('the type declarations of the client library', () => {
  const folder = useFolder()

  it('declare exactly what the script adds to L', async () => {
    assert.deepEqual(globalPaths(), (await loadGlobal()).added)
  })

  it('compile with a page in strict mode, and declare no private members', async () => {
    const types = folder.path('types')
    await buildDeclarations(types)
    const page = folder.path('page.ts')
    writeFileSync(page, PAGE)
    const modules = path.join(root, 'node_modules/@types')
    const program = ts.createProgram([page, path.join(types, 'client/global.d.ts')], {
      strict: true, noEmit: true, skipLibCheck: true, module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler, lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
      typeRoots: [modules], types: ['leaflet'], paths: { leaflet: [path.join(modules, 'leaflet/index.d.ts')] }
    })
    const problems = ts.getPreEmitDiagnostics(program)
    assert.deepEqual(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')), [])
    assert.doesNotMatch(readFileSync(path.join(types, 'client/leaflet/history-layer.d.ts'), 'utf8'),
      /^ +(private |protected )?_\w/m)
  }).timeout(120000)

  it('list only events that the source fires', () => {
    for (const { name, events } of clientClasses()) {
      for (const event of events.filter(({ name: type }) => type !== 'layerload')) {
        assert.match(text, new RegExp(`(fire|emit|_tell)\\('${event.name}'`), `${name}: nothing fires ${event.name}`)
      }
    }
  })
})
