// The reference of client/: what its source says, with the types that client/index.d.ts declares. Where a comment of the
// source is silent, the one of the declaration speaks.
import { classMembers, factoryOf, interfaceMembers, valueTypes } from './client-declarations.js'
import { clientClasses } from './client-source.js'

const code = text => text && `\`${text}\``

/** Leaflet's reference, where a class begins. */
const LEAFLET = { 'L.Evented': 'evented', 'L.GridLayer': 'gridlayer', 'L.TileLayer': 'tilelayer', 'L.Control': 'control' }

/** A class as its source and its declaration tell it together. @param {import('./client-source.js').ClientClass} source */
export function describeClass ({ name, base, meaning, options, events, methods }) {
  const types = Object.fromEntries(interfaceMembers(`${name}Options`).map(member => [member.name, member.type]))
  const declared = classMembers(name)
  const silent = interfaceMembers(`${name}Events`, ['TileEvents']).filter(event => !events.some(other => other.name === event.name))
  return {
    name,
    base,
    meaning: meaning.replace(/\s*\bFires `.*$/, '') || declared.meaning, // the events have a table
    options: options.map(option => ({ ...option, type: types[option.name] ?? '' })),
    methods: declared.methods.map(method => ({ ...method, meaning: methods.find(other => other.name === method.name)?.meaning || method.meaning })),
    properties: declared.properties,
    events: [...events, ...silent.map(event => ({ name: event.name, fields: fieldsOf(event.type), meaning: event.meaning }))]
  }
}

const fieldsOf = type => type === '{}' ? '' : `{${[...type.matchAll(/(\w+)\??:/g)].map(([, field]) => field).join(', ')}}`

/** @param {import('./client-source.js').ClientClass} source @param {(head: any[], rows: any[][]) => string} table */
function reference (source, table) {
  const { name, base, meaning, options, methods, properties, events } = describeClass(source)
  const section = (title, head, rows) => rows.length ? `#### ${title}\n\n${table(head, rows)}` : ''
  const { name: factory, parameters } = factoryOf(name)
  const parent = `[${base}](https://leafletjs.com/reference.html#${LEAFLET[base]})`
  return [
    `\`${factory}(${parameters})\`, class \`${name}\`. ${meaning} It extends ${parent}, whose options, methods and events it has as well.`,
    section('Options', ['option', 'type', 'default', 'meaning'], options.map(option => [code(option.name), code(option.type), option.value === 'undefined' ? '' : code(option.value), option.meaning])),
    section('Methods', ['method', 'returns', 'meaning'], methods.map(method => [code(`${method.name}(${method.parameters})`), code(method.type), method.meaning])),
    section('Properties', ['property', 'type', 'meaning'], properties.map(property => [code(property.name), code(property.type), property.meaning])),
    section('Events', ['event', 'fields', 'fired when'], events.map(event => [code(event.name), code(event.fields), event.meaning]))
  ].filter(Boolean).join('\n\n')
}

/** Tables by name: one for each class, and the types. @param {(head: any[], rows: any[][]) => string} table */
export const clientTables = table => ({
  ...Object.fromEntries(clientClasses().map(found => [found.name, reference(found, table)])),
  clientTypes: table(['type', 'what', ''], valueTypes().map(({ name, type, meaning }) => [code(name), code(type), meaning]))
})
