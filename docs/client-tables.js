// The reference of client/, read from its source by the TypeScript compiler: classes with their options, events,
// methods and properties as JSDoc and the default literals describe them.
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/** Methods that Leaflet calls, and documents for every layer and control; and what a control calls of what it holds. */
const LEAFLETS = new Set(['onAdd', 'onRemove', 'createTile', 'getTileUrl', 'addTo', 'appendTo', 'dock', 'remove'])

/** Leaflet's reference, where a class begins. */
const LEAFLET = { 'L.GridLayer': 'gridlayer', 'L.TileLayer': 'tilelayer', 'L.Control': 'control' }

/**
 * @typedef {{name: string, type: string, meaning: string}} Member
 * @typedef {object} ClientClass
 * @property {string} name
 * @property {string | undefined} base of Leaflet
 * @property {string} meaning
 * @property {string} factory its name and parameters
 * @property {(Member & {value: string})[]} options value: as it is written
 * @property {(Member & {parameters: string})[]} methods
 * @property {Member[]} properties
 * @property {{name: string, fields: string, meaning: string}[]} events
 */

const index = fileURLToPath(new URL('../client/index.js', import.meta.url))
const program = ts.createProgram([index], {
  allowJs: true, checkJs: true, noEmit: true, strict: true, noImplicitAny: false,
  skipLibCheck: true, types: ['leaflet'],
  target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext
})
const checker = program.getTypeChecker()
const source = /** @type {ts.SourceFile} */ (program.getSourceFile(index))
const exported = checker.getExportsOfModule(/** @type {ts.Symbol} */ (checker.getSymbolAtLocation(source)))
const resolved = symbol => symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol

const line = text => text.replace(/\s+/g, ' ').trim()
const typeText = (type, node) => line(checker.typeToString(type, node, ts.TypeFormatFlags.NoTruncation))
  .replace(/import\("[^"]*"\)\./g, '')

/** What a comment says, with what stands behind its @type and @returns. */
function meaningOf (node) {
  const [doc] = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc).slice(-1)
  const tags = ts.getJSDocTags(node).filter(tag => ts.isJSDocTypeTag(tag) || ts.isJSDocReturnTag(tag))
  return [doc?.comment, ...tags.map(({ comment }) => comment)].map(
    comment => line(ts.getTextOfJSDocComment(comment) ?? '')
  ).filter(Boolean).join(' ')
}

const variablesOf = file =>
  file.statements.filter(ts.isVariableStatement).flatMap(({ declarationList }) => [...declarationList.declarations])

/** A statement of the file that declares a name. */
const declared = (file, name) => variablesOf(file).find(declaration => declaration.name.getText() === name)

const factoryOf = name => name[0].toLowerCase() + name.slice(1).replace(/Control$/, '')

/** The classes with options, events and a factory. @returns {ClientClass[]} */
export const clientClasses = () => exported.map(resolved).map(({ valueDeclaration: node }) => node)
  .filter(node => node && ts.isClassDeclaration(node) && node.name &&
    declared(node.getSourceFile(), factoryOf(node.name.text)))
  .filter(node => /^extends (Base|Emitter)$/.test(node.heritageClauses?.[0].getText())).map(readClass)
  .sort((a, b) => a.name < b.name ? -1 : 1)

/**
 * The class of the object that a control or a layer holds, and the names of the methods that are taken from it:
 * `delegate(Control, Held, …)` says so, or for layers `withHistoryMethods(…)`.
 */
function heldBy (node, file) {
  const call = file.statements.filter(ts.isExpressionStatement).map(({ expression }) => expression).find(
    ({ expression, arguments: given }) => expression?.getText() === 'delegate' && given[0].getText() === node.name.text)
  const classOf = name => /** @type {any} */ (resolved(checker.getSymbolAtLocation(name))).valueDeclaration
  if (call) return { held: classOf(call.arguments[1]) }
  const { expression } = declared(file, 'Base')?.initializer ?? {}
  if (expression?.getText() !== 'withHistoryMethods') return {}
  const methods = declared(classOf(expression).getSourceFile(), 'METHODS').initializer.text.split(' ')
  const engine = checker.getPropertyOfType(checker.getTypeAtLocation(node), 'history')
  return { held: checker.getTypeOfSymbol(engine).symbol.valueDeclaration, methods }
}

/** @returns {ClientClass} */
function readClass (node) {
  const name = node.name.text
  const file = node.getSourceFile()
  const base = /(L\.\w+)\.extend\(/.exec(declared(file, 'Base')?.getText())?.[1]
  const { held, methods } = heldBy(node, file)
  const factory = factoryOf(name)
  const method = declared(file, factory).initializer
  const isPublic = text => /^[a-z]/.test(text) && !LEAFLETS.has(text)
  const delegated = [...held?.members ?? []].filter(member => methods?.includes(member.name?.getText()) ?? true)
  const members = [...node.members, ...delegated]
    .filter(member => ts.isMethodDeclaration(member) && isPublic(member.name.getText()))
  return {
    name,
    base,
    meaning: meaningOf(node),
    factory: `${factory}(${parametersOf(method)})`,
    options: optionsOf(variablesOf(file).find(declaration => /Defaults$/.test(declaration.name.getText()))),
    methods: members.filter(member => ts.getJSDocCommentsAndTags(member).length).map(member => ({
      name: member.name.getText(), parameters: parametersOf(member), meaning: meaningOf(member),
      type: typeText(checker.getReturnTypeOfSignature(checker.getSignatureFromDeclaration(member)), member)
    })),
    properties: [node, methods ? undefined : held].flatMap(each => each ? propertiesOf(each) : []),
    events: eventsOf(`${name}Events`, file)
  }
}

const parametersOf = node => node.parameters.map(parameter => {
  const [tag] = ts.getJSDocParameterTags(parameter)
  const type = tag?.typeExpression ? line(tag.typeExpression.type.getText()) : 'any'
  return `${parameter.name.getText()}${tag?.isBracketed ? '?' : ''}: ${type}`
}).join(', ')

/** The literal behind a name, which may be another file's. */
const literalOf = expression => ts.isIdentifier(expression)
  ? resolved(/** @type {ts.Symbol} */ (checker.getSymbolAtLocation(expression))).valueDeclaration.initializer
  : expression

const optionsOf = declaration => literalOf(declaration.initializer).properties.flatMap(property => {
  if (ts.isSpreadAssignment(property)) return optionsOf({ initializer: property.expression })
  const own = ts.getJSDocType(property)
  const type = own ? line(own.getText()).replace(/ \| undefined$/, '')
    : typeText(checker.getBaseTypeOfLiteralType(checker.getTypeAtLocation(property.initializer)), property)
  return { name: property.name.getText(), type, value: property.initializer.getText(), meaning: meaningOf(property) }
})

/** What the constructor assigns, where a comment says what it is. */
function propertiesOf (node) {
  const { body } = node.members.find(ts.isConstructorDeclaration)
  const isDescribed = statement => ts.isExpressionStatement(statement) &&
    /^this\.(?!element)[a-z]/.test(statement.getText()) &&
    ts.getJSDocCommentsAndTags(statement.expression).length
  return body.statements.filter(isDescribed).map(({ expression }) => {
    const name = expression.left.name.text
    const property = checker.getPropertyOfType(checker.getTypeAtLocation(node), name)
    return { name, type: typeText(checker.getTypeOfSymbol(property), node), meaning: meaningOf(expression) }
  })
}

/** Those that a comment describes: Leaflet's own events have none. */
function eventsOf (name, file) {
  const type = checker.getDeclaredTypeOfSymbol(checker.resolveName(name, file, ts.SymbolFlags.Type, false))
  return checker.getPropertiesOfType(type).map(event => ({
    name: event.name,
    fields: checker.getPropertiesOfType(checker.getTypeOfSymbol(event)).map(field => field.name).join(', '),
    meaning: line(ts.displayPartsToString(event.getDocumentationComment(checker)))
  })).filter(({ meaning }) => meaning).map(event => ({ ...event, fields: event.fields && `{${event.fields}}` }))
}

/** Types that values have. @returns {Member[]} */
const isValueType = symbol => !(resolved(symbol).flags & ts.SymbolFlags.Value) && !/(Options|Events)$/.test(symbol.name)

const valueTypes = () => exported.filter(isValueType).map(symbol => {
  const type = checker.getDeclaredTypeOfSymbol(symbol)
  const origin = type.aliasSymbol ?? type.symbol
  const properties = checker.getPropertiesOfType(type)
    .filter(({ name, declarations }) => /^[a-z]/.test(name) &&
      declarations?.every(node => !node.getSourceFile().fileName.includes('node_modules')))
  const tag = origin?.declarations?.find(ts.isJSDocTypedefTag)
  const shape = properties.length
    ? `{${properties.map(({ name }) => name).join(', ')}}`
    : line(tag?.typeExpression?.getText() ?? checker.typeToString(type))
  const meaning = tag
    ? ts.getTextOfJSDocComment(tag.comment)
    : origin && ts.displayPartsToString(origin.getDocumentationComment(checker))
  return { name: symbol.name, type: type.isClass() ? 'class' : shape, meaning: line(meaning ?? '') }
})

/** A member of a class, as it is declared. @param {string} declaration @param {string} meaning */
const item = (declaration, meaning) => `- \`${declaration.replaceAll('\\|', '|')}\`: ${meaning}`

/** A method as it is called; those without a type return the object itself. */
const signature = ({ name, parameters, type }) =>
  `${name}(${parameters})${type === 'this' ? '' : `: ${shortType(type)}`}`

/** `getX` and `setX` are one item, which says what `setX` sets. */
function methodItems (methods) {
  const setterOf = ({ name }) => methods.find(method => /^get/.test(name) && method.name === name.replace('get', 'set'))
  const setters = new Set(methods.map(setterOf))
  return methods.filter(method => !setters.has(method)).map(method => {
    const setter = setterOf(method)
    if (!setter) return item(signature(method), method.meaning)
    return `- \`${signature(method)}\`, ${item(signature(setter), setter.meaning).slice(2)}`
  })
}

/** A paragraph of the page: what the list has, and the list. @param {string} title @param {string[]} items */
const section = (title, items) => items.length ? `**${title}**\n\n${items.join('\n')}` : ''

/** Members that a control and what it holds both have are one. @template {{name: string}} T @param {T[]} members */
const byName = members => [...new Map(members.map(member => [member.name, member])).values()]

const names = members => members.map(({ name }) => `\`${name}\``).join(', ')

/** The type and the default; a default that is a number, text or boolean says its type itself. */
function typeOfOption ({ type, value }) {
  if (value === 'undefined') return `: ${type}`
  return ['number', 'string', 'boolean'].includes(type) ? ` = ${value}` : `: ${type} = ${value}`
}

/** An object by the names of its fields: `{ z: number; x: number; }` becomes `{z, x}`. */
const shortType = type =>
  type.replace(/\{ ((?:\w+: [^;{}]+; )+)\}/g, (_, fields) => `{${fields.match(/\w+(?=: )/g).join(', ')}}`)

/** The lists of members that two classes may share. @type {('options' | 'methods' | 'properties' | 'events')[]} */
const KINDS = ['options', 'methods', 'properties', 'events']

/**
 * The members of a class, apart: those that are the same in another class, and its own.
 * @param {ClientClass} described @param {ClientClass} [like]
 */
function splitMembers (described, like) {
  const own = {}
  const shared = {}
  for (const kind of KINDS) {
    const others = new Set(like?.[kind].map(other => JSON.stringify(other)))
    const members = byName(/** @type {any[]} */ (described[kind]))
    shared[kind] = members.filter(member => others.has(JSON.stringify(member)))
    own[kind] = members.filter(member => !others.has(JSON.stringify(member)))
  }
  return { own, shared }
}

/** @param {ClientClass} described @param {ClientClass} [like] a class whose members it may share */
function reference (described, like) {
  const { base, factory } = described
  const { own, shared } = splitMembers(described, like)
  const sharedLists = KINDS.filter(kind => shared[kind].length).map(kind => `the ${kind} ${names(shared[kind])}`)
  const parent = base
    ? `It extends [${base}](https://leafletjs.com/reference.html#${LEAFLET[base]}).`
    : 'It has `on`, `once` and `off`, as [L.Evented](https://leafletjs.com/reference.html#evented).'
  return [
    `\`${factory}\`, class \`${described.name}\`. ${described.meaning} ${parent}`,
    like && `As \`${like.name}\`: ${sharedLists.join('; ')}.`,
    section('Options', own.options.map(option => item(`${option.name}${typeOfOption(option)}`, option.meaning))),
    section('Methods', methodItems(own.methods)),
    section('Properties', own.properties.map(property => item(`${property.name}: ${property.type}`, property.meaning))),
    section('Events', own.events.map(({ name, fields, meaning }) => item(`${name} ${fields}`.trim(), meaning)))
  ]
    .filter(Boolean)
    .join('\n\n')
}

/** Classes by a class that has members in common with it. */
const LIKE = { HistoryLayer: 'CouchLayer', TimelineControl: 'Player' }

/** Lists by name: one for each class, and the types with a meaning that they name. */
export function clientTables () {
  const classes = clientClasses()
  const likeOf = name => classes.find(described => described.name === LIKE[name])
  const lists = Object.fromEntries(
    classes.map(described => [described.name, reference(described, likeOf(described.name))])
  )
  const namedTypes = new Set(Object.values(lists).join('\n').match(/\w+/g))
  const isExplained = ({ name, meaning }) => meaning && !/^Texts /.test(meaning) && namedTypes.has(name)
  const types = valueTypes().filter(isExplained)
    .map(({ name, type, meaning }) => item(`${name}: ${type.replace(/^\{(.*[|(].*|string.*)\}$/, '$1')}`, meaning))
  return { ...lists, clientTypes: types.join('\n') }
}
