// XML as text: everything between the tags is escaped, because only xml`…` makes markup.

class Markup extends String {}

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' }

// not allowed in XML 1.0, not even escaped
const FORBIDDEN = /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu

export const escapeXml = text => String(text).replace(FORBIDDEN, '\ufffd').replace(/[&<>"']/g, sign => ENTITIES[sign])

/**
 * Markup with values. A text is escaped; markup and lists are inserted unchanged; undefined, null and false are left
 * out.
 * @param {TemplateStringsArray} parts @param {...any} values
 */
export function xml (parts, ...values) {
  return new Markup(parts.reduce((text, part, index) => text + render(values[index - 1]) + part))
}

function render (value) {
  if (value instanceof Markup) return String(value)
  if (Array.isArray(value)) return value.map(render).join('')
  return value === undefined || value === null || value === false ? '' : escapeXml(value)
}
