// Content codings that a client takes.

/**
 * Whether a client takes a coding: it names it, or everything, and does not give it weight 0.
 * @param {string | undefined} header Accept-Encoding
 * @param {string} coding
 */
export function accepts (header = '', coding) {
  if (header.length > 1000) return false // nobody's browser
  const weights = new Map(header.toLowerCase().split(',').map(part => {
    const [name, ...parameters] = part.split(';').map(text => text.trim())
    const weight = parameters.find(text => text.startsWith('q='))
    return [name, weight === undefined ? 1 : Number(weight.slice(2))]
  }))
  return (weights.get(coding) ?? weights.get('*') ?? 0) > 0
}
