// XML as text: what stands between the tags is escaped by construction, because only xml`…` makes markup.

class Markup {
  /** @param {string} text */
  constructor (text) {
    this.text = text
  }

  toString () {
    return this.text
  }
}

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' }

// XML 1.0 has no way to write these at all, not even escaped: a document with one of them is read by nobody
const FORBIDDEN = /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu

/** @param {unknown} text */
export const escapeXml = text => String(text).replace(FORBIDDEN, '\ufffd').replace(/[&<>"']/g, sign => ENTITIES[sign])

/**
 * Markup with values in it. A text is escaped, markup and lists are put in as they are, and what is not there is
 * nothing.
 * @param {TemplateStringsArray} parts
 * @param {...any} values
 */
export function xml (parts, ...values) {
  return new Markup(parts.reduce((text, part, index) => text + render(values[index - 1]) + part))
}

function render (value) {
  if (value instanceof Markup) return value.text
  if (Array.isArray(value)) return value.map(render).join('')
  return value === undefined || value === null || value === false ? '' : escapeXml(value)
}
