// What client/index.d.ts and client/global.d.ts declare, by name.
import { readFileSync } from 'node:fs'
import ts from 'typescript'

/** @typedef {{name: string, type: string, meaning: string}} Member */

const parse = name => {
  const url = new URL(`../client/${name}`, import.meta.url)
  return ts.createSourceFile(name, readFileSync(url, 'utf8'), ts.ScriptTarget.Latest, true)
}

const { statements } = parse('index.d.ts')
const find = name => /** @type {any} */ (statements.find(statement => /** @type {any} */ (statement).name?.text === name))
const isExported = statement => statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)

const line = node => node.getText().replace(/\s+/g, ' ')
const meaning = node => (ts.getTextOfJSDocComment(/** @type {any} */ (ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc).pop())?.comment) ?? '').replace(/\s+/g, ' ').trim()

/** Names of values, which a module has to export. */
export const declaredNames = () => statements
  .filter(statement => isExported(statement) && (ts.isClassDeclaration(statement) || ts.isFunctionDeclaration(statement)))
  .map(statement => /** @type {any} */ (statement).name.text).sort()

/**
 * Members of an interface, with those of its parents in the same file.
 * @param {string} name @param {string[]} [without] parents
 * @returns {Member[]}
 */
export function interfaceMembers (name, without = []) {
  const found = find(name)
  if (!found || !ts.isInterfaceDeclaration(found)) return []
  const parents = found.heritageClauses?.flatMap(({ types }) => types.map(type => type.expression.getText())) ?? []
  const inherited = parents.filter(parent => !without.includes(parent)).flatMap(parent => interfaceMembers(parent, without))
  const own = found.members.filter(ts.isPropertySignature).map(member => ({ name: member.name.getText(), type: line(member.type), meaning: meaning(member) }))
  return [...inherited.filter(({ name: other }) => !own.some(member => member.name === other)), ...own]
}

/**
 * Methods and properties of a class of its own.
 * @param {string} name
 * @returns {{meaning: string, methods: (Member & {parameters: string})[], properties: Member[]}}
 */
export function classMembers (name) {
  const members = /** @type {any[]} */ ([...find(name).members])
  return {
    meaning: meaning(find(name)),
    methods: members.filter(ts.isMethodDeclaration).map(method => ({
      name: method.name.getText(), parameters: method.parameters.map(line).join(', '), type: line(method.type), meaning: meaning(method)
    })),
    properties: members.filter(member => ts.isPropertyDeclaration(member) && member.name.getText() !== 'options')
      .map(property => ({ name: property.name.getText(), type: line(property.type), meaning: meaning(property) }))
  }
}

/** The factory of a class: its name begins with a small letter, and does without "Control", as Leaflet's do. @param {string} name */
export function factoryOf (name) {
  const factory = find(name[0].toLowerCase() + name.slice(1).replace(/Control$/, ''))
  return { name: factory.name.text, parameters: factory.parameters.map(line).join(', ') }
}

/** Types that values have: what is exported and belongs to no class alone. @returns {Member[]} */
export const valueTypes = () => statements
  .filter(statement => isExported(statement) && (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)))
  .filter(statement => !/(Options|Events|Listening|Event)$/.test(/** @type {any} */ (statement).name.text))
  .map(statement => {
    const { name, type } = /** @type {any} */ (statement)
    return { name: name.text, type: type ? line(type) : `{${interfaceMembers(name.text).map(member => member.name).join(', ')}}`, meaning: meaning(statement) }
  })

/** Paths on the global L that global.d.ts declares: `TileLayer.Couch.History`. */
export function globalPaths () {
  const paths = []
  const walk = (node, path) => {
    if (ts.isModuleDeclaration(node)) for (const inner of /** @type {any} */ (node.body).statements) walk(inner, [...path, node.name.text])
    else if (ts.isVariableStatement(node)) for (const { name, type } of node.declarationList.declarations) value(type, [...path, name.getText()])
  }
  const value = (type, path) => {
    if (ts.isIntersectionTypeNode(type)) return type.types.forEach(part => value(part, path))
    if (!ts.isTypeLiteralNode(type)) return paths.push(path.slice(1).join('.'))
    for (const member of type.members) value(/** @type {any} */ (member).type, [...path, /** @type {any} */ (member.name).text])
  }
  parse('global.d.ts').statements.forEach(statement => walk(statement, []))
  return paths.sort()
}
