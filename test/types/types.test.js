import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { classMembers, declaredNames, factoryOf, globalPaths, interfaceMembers } from '../../docs/client-declarations.js'
import { clientClasses, exportedNames } from '../../docs/client-source.js'
import { describeClass } from '../../docs/client-tables.js'
import { loadGlobal } from './leaflet.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const text = readdirSync(path.join(root, 'client'), { recursive: true }).map(String).filter(name => name.endsWith('.js')).map(name => readFileSync(path.join(root, 'client', name), 'utf8')).join('\n')
const names = list => list.map(({ name }) => name).sort()

describe('the type declarations of the client library', () => {
  it('declare what client/index.js exports, and nothing else', () => {
    assert.deepEqual(declaredNames(), exportedNames())
  })

  it('declare what the script puts on L, and nothing else', async () => {
    assert.deepEqual(globalPaths(), (await loadGlobal()).added)
  })

  it('hold by themselves, without skipLibCheck', () => {
    const files = ['client/index.d.ts', 'client/global.d.ts'].map(name => path.join(root, name))
    const program = ts.createProgram(files, { strict: true, noEmit: true, module: ts.ModuleKind.NodeNext, lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'], types: ['leaflet'] })
    const problems = files.flatMap(file => ts.getPreEmitDiagnostics(program, program.getSourceFile(file)))
    assert.deepEqual(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')), [])
  }).timeout(60000)

  /** Methods that the parts of a control call on each other. */
  const internal = { TimelineControl: ['flush', 'hover', 'refresh', 'render', 'seek'] }

  for (const source of clientClasses()) {
    const { name, options, methods, undocumented } = source

    it(`know ${name}: its options, methods and events`, () => {
      assert.deepEqual(names(interfaceMembers(`${name}Options`)), names(options), 'options')
      assert.deepEqual([...names(classMembers(name).methods), ...internal[name] ?? []].sort(), [...names(methods), ...undocumented].sort(), 'methods')
      assert.ok(factoryOf(name))
      const declared = names(interfaceMembers(`${name}Events`))
      for (const { name: event } of describeClass(source).events) {
        assert.ok(declared.includes(event), `the event ${event} is not declared`)
        assert.match(text, new RegExp(`(fire|emit|_tell)\\('${event}'`), `nothing fires ${event}`)
      }
    })
  }
})
