// What the source of client/ says about itself: classes with their options, events and methods, read from the syntax tree
// and the comments, since nothing of client/ can be loaded where there is no browser.
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('..', import.meta.url))

/** What Leaflet calls, and what it documents for every layer and control. */
const LEAFLETS = new Set(['initialize', 'onAdd', 'onRemove', 'createTile', 'getTileUrl', 'getEvents', 'getAttribution', 'beforeAdd', 'addTo', 'getContainer'])

/**
 * @typedef {{name: string, value: string, meaning: string}} Option value: as it is written
 * @typedef {{name: string, fields: string, meaning: string}} Event
 * @typedef {{name: string, meaning: string}} Method
 * @typedef {{name: string, base: string, file: string, meaning: string, options: Option[], events: Event[], methods: Method[], undocumented: string[]}} ClientClass
 *   undocumented: methods without a comment
 */

const parsed = new Map()

function parse (file) {
  if (!parsed.has(file)) parsed.set(file, ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true))
  return parsed.get(file)
}

/** The name a module exports, in the module that makes it. */
function resolveExport (file, name) {
  for (const statement of parse(file).statements) {
    if (ts.isExportDeclaration(statement) && statement.moduleSpecifier) {
      const found = statement.exportClause?.elements.find(element => element.name.text === name)
      if (found) return resolveExport(beside(file, statement.moduleSpecifier.text), (found.propertyName ?? found.name).text)
    }
    const declared = declarations(statement).find(declaration => declaration.name.getText() === name)
    if (declared && ts.isVariableStatement(statement)) return { file, statement, value: bare(declared.initializer) }
    if (declared) return { file, statement, value: declared }
  }
  throw new Error(`${file} exports no ${name}`)
}

const declarations = statement => ts.isVariableStatement(statement) ? [...statement.declarationList.declarations]
  : ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement) ? [statement] : []

const beside = (file, specifier) => relative(root, join(root, dirname(file), specifier))

// casts are parentheses with a comment
const bare = node => node && ts.isParenthesizedExpression(node) ? bare(node.expression) : node

/** Every name that client/index.js exports. */
export const exportedNames = () => parse('client/index.js').statements
  .filter(ts.isExportDeclaration).flatMap(({ exportClause }) => exportClause.elements.map(({ name }) => name.text)).sort()

/** The classes that client/index.js exports and that extend one of Leaflet's. @returns {ClientClass[]} */
export const clientClasses = () => exportedNames().map(name => readClass(name)).filter(found => found !== null)

/** @returns {ClientClass | null} */
function readClass (name) {
  if (name === 'TilecouchError') return null
  const { file, statement, value } = resolveExport('client/index.js', name)
  if (!ts.isCallExpression(value) || !/^L\.[\w.]+\.extend$/.test(value.expression.getText())) return null
  const members = /** @type {any[]} */ (bare(value.arguments[0]).properties)
  const found = members.find(member => member.name?.getText() === 'options')
  const included = members.filter(member => member.name?.getText() === 'includes')
    .flatMap(member => /** @type {any} */ (resolveName(file, bare(member.initializer)).value).properties ?? []) // Leaflet's own have none here
  const own = [...members, ...included].filter(member => ts.isMethodDeclaration(member) && /^[a-z]/.test(member.name.getText()) && !LEAFLETS.has(member.name.getText()))
  return {
    name,
    file,
    base: value.expression.getText().replace(/\.extend$/, ''),
    meaning: text(lastComment(statement)?.comment),
    options: found ? readOptions(resolveName(file, bare(found.initializer))) : [],
    events: ts.getJSDocTags(statement).filter(({ tagName }) => tagName.text === 'event').map(readEvent),
    methods: own.filter(lastComment).map(readMethod),
    undocumented: own.filter(method => !lastComment(method)).map(({ name: { text: method } }) => method)
  }
}

/** An object literal where it stands, or where its name leads. */
function resolveName (file, node) {
  if (!ts.isIdentifier(node)) return { file, value: node }
  for (const statement of parse(file).statements) {
    if (ts.isImportDeclaration(statement)) {
      const found = /** @type {any} */ (statement.importClause?.namedBindings)?.elements?.find(({ name }) => name.text === node.text)
      if (found) return resolveExport(beside(file, /** @type {any} */ (statement.moduleSpecifier).text), (found.propertyName ?? found.name).text)
    }
    const declared = declarations(statement).find(({ name }) => name.getText() === node.text)
    if (declared) return { file, value: bare(declared.initializer) }
  }
  throw new Error(`${file} does not say what ${node.text} is`)
}

function readOptions ({ file, value }) {
  const lines = parse(file).text
  return value.properties.filter(ts.isPropertyAssignment).map(property => {
    const rest = lines.slice(property.initializer.end, lines.indexOf('\n', property.initializer.end))
    return { name: property.name.getText(), value: property.initializer.getText(), meaning: /^,? *\/\/ (.*)$/.exec(rest)?.[1] ?? '' }
  })
}

const lastComment = node => ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc).pop()

/** @param {any} comment */
const text = comment => (ts.getTextOfJSDocComment(comment) ?? '').replace(/\s+/g, ' ').trim()

function readEvent (tag) {
  const [, name = '', fields = '', meaning = ''] = /^(\w+)\s*(\{[^}]*\})?\s*(.*)$/.exec(text(tag.comment)) ?? []
  return { name, fields, meaning }
}

function readMethod (method) {
  const meaning = [lastComment(method).comment, ts.getJSDocReturnTag(method)?.comment].map(text).filter(Boolean).join(' ')
  return { name: method.name.getText(), meaning }
}
