// A small, strict parser of XML documents for tests. It refuses documents that are not well-formed. Names get the
// prefix that PREFIXES has for the namespace, whatever prefix the document uses.
import assert from 'node:assert/strict'

/** @typedef {{name: string, attributes: Record<string, string>, children: Node[], text: string}} Node */

const PREFIXES = {
  'http://www.opengis.net/wmts/1.0': '',
  'http://www.opengis.net/ows/1.1': 'ows:',
  'http://demo.geo-solutions.it/share/wmts-multidim/wmts_multi_dimensional.xsd': 'md:',
  'http://www.w3.org/1999/xlink': 'xlink:',
  'http://www.w3.org/2001/XMLSchema-instance': 'xsi:',
  'http://www.w3.org/XML/1998/namespace': 'xml:'
}
const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const TOKEN = /<\/([\w:.-]+)\s*>|<([\w:.-]+)((?:\s+[\w:.-]+="[^"<]*")*)\s*(\/?)>|([^<]+)/gy
// eslint-disable-next-line no-control-regex -- characters that XML does not allow
const FORBIDDEN = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Surrogate}/u

const unescape = text => text.replace(/&([^;]*);?/g,
  (entity, name) => ENTITIES[name] ?? assert.fail(`a bare & or an unknown entity: ${entity}`))

/** @param {string} document @returns {Node} the root */
export function parseXml (document) {
  assert.doesNotMatch(document, FORBIDDEN)
  const [declaration] = /^<\?xml version="1\.0" encoding="UTF-8"\?>\s*/.exec(document) ??
    assert.fail('no XML declaration')
  const top = { name: '', attributes: {}, children: [], text: '', scope: {
    xml: 'http://www.w3.org/XML/1998/namespace'
  } }
  const openElements = [top]
  TOKEN.lastIndex = declaration.length
  while (TOKEN.lastIndex < document.length) {
    const offset = TOKEN.lastIndex
    const [, end, start, attributes, empty, text] = TOKEN.exec(document) ??
      assert.fail(`not well-formed: ${document.slice(offset, offset + 60)}`)
    const parent = openElements[openElements.length - 1]
    if (text !== undefined) parent.text += unescape(text)
    else if (end) {
      assert.equal(end, parent.raw, 'tags are nested')
      openElements.pop()
    } else {
      const node = element(start, attributes, parent.scope)
      parent.children.push(node)
      if (!empty) openElements.push(node)
    }
  }
  assert.deepEqual([openElements.length, top.children.length, top.text.trim()],
    [1, 1, ''], 'one root, closed, with nothing beside it')
  return top.children[0]
}

function element (raw, written, outer) {
  const pairs = [...written.matchAll(/([\w:.-]+)="([^"]*)"/g)].map(([, name, value]) => [name, unescape(value)])
  assert.equal(new Set(pairs.map(([name]) => name)).size, pairs.length, `${raw} has an attribute twice`)
  const isNamespace = ([name]) => /^xmlns(:|$)/.test(name)
  const scope =
    { ...outer, ...Object.fromEntries(pairs.filter(isNamespace).map(([name, uri]) => [name.slice(6), uri])) }
  const resolve = (name, isAttribute) => {
    const [prefix, local] = name.includes(':') ? name.split(':') : ['', name]
    if (isAttribute && !prefix) return local
    return (PREFIXES[scope[prefix]] ?? assert.fail(`${name} is in no known namespace`)) + local
  }
  const attributes =
    Object.fromEntries(pairs.filter(pair => !isNamespace(pair)).map(([name, value]) => [resolve(name, true), value]))
  return { name: resolve(raw, false), raw, attributes, children: [], text: '', scope }
}

/** All elements of a name below a node, at any depth. @param {Node} node @returns {Node[]} */
export const all =
  (node, name) => node.children.flatMap(child => [...(child.name === name ? [child] : []), ...all(child, name)])

/** The children of a name. @param {Node} node */
export const childrenOf = (node, name) => node.children.filter(child => child.name === name)

/** The text below a path of children, each of which must exist once. @param {Node} node @param {string} path */
export function textOf (node, ...path) {
  for (const name of path) {
    const matches = childrenOf(node, name)
    assert.equal(matches.length, 1, `one ${name} in ${node.name}`)
    node = matches[0]
  }
  return node.text.trim()
}
