// Expressions of Prometheus, taken apart as far as a test has to know: which metrics they name, with which labels, and
// whether they are put together at all.
import assert from 'node:assert/strict'

const FUNCTIONS =
  new Set(['rate', 'increase', 'histogram_quantile', 'absent', 'time', 'sum', 'min', 'max', 'count', 'avg', 'topk'])
const AGGREGATIONS = new Set(['sum', 'min', 'max', 'count', 'avg', 'topk'])
const GROUPING = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right'])
const OPERATORS = new Set(['and', 'or', 'unless', 'bool'])
const RANGED = new Set(['rate', 'increase'])
const TOKENS = [
  /"(?:[^"\\]|\\.)*"/,
  /\[(?:\d+[smhd]|\$__rate_interval)\]/,
  /\d+(?:\.\d+)?(?:e\d+)?/,
  /[a-zA-Z_:][\w:]*/,
  /=~|!~|!=|==|>=|<=|[-+*/%^(){}=<>,]/
]
const TOKEN = new RegExp(`\\s*(?:${TOKENS.map(({ source }) => `(${source})`).join('|')})`, 'y')

/**
 * @param {string} text
 * @returns {{name: string, labels: {name: string, operator: string, value: string}[], ranged: boolean}[]} grouping
 *   labels are told in `grouped`
 */
export function selectorsOf (text) {
  const tokens = tokenize(text)
  const found = []
  const open = []
  for (let at = 0; at < tokens.length; at++) {
    const { kind, value } = tokens[at]
    const next = tokens[at + 1]?.value
    if (value === '(') open.push(tokens[at - 1]?.kind === 'word' ? tokens[at - 1].value : '(')
    else if (value === ')') assert.ok(open.pop(), `too many brackets: ${text}`)
    else if (kind !== 'word') continue
    else if (GROUPING.has(value)) at = skipList(tokens, at, text)
    else if (FUNCTIONS.has(value)) assert.ok(next === '(' || (AGGREGATIONS.has(value) && GROUPING.has(next ?? '')),
      `${value} without its brackets: ${text}`)
    else if (!OPERATORS.has(value)) {
      const selector = { name: value, labels: [], ranged: false }
      if (next === '{') at = readLabels(tokens, at + 2, selector.labels, text)
      selector.ranged = tokens[at + 1]?.kind === 'range'
      assert.equal(selector.ranged, RANGED.has(open.at(-1) ?? ''), `a range belongs to rate and increase: ${text}`)
      found.push(selector)
    }
  }
  assert.deepEqual(open, [], `brackets left open: ${text}`)
  return found
}

/** Labels by which an expression groups. */
export const groupingsOf = text => [
  ...text.matchAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g)
].flatMap(([, list]) => list.split(',').map(label => label.trim()).filter(Boolean))

function tokenize (text) {
  const tokens = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const at = TOKEN.lastIndex
    const match = TOKEN.exec(text)
    assert.ok(match, `not understood from ${JSON.stringify(text.slice(at, at + 20))} on: ${text}`)
    const [, string, range, number, word, sign] = match
    tokens.push({ kind: string ? 'string' : range ? 'range' : number
      ? 'number' : word ? 'word' : 'sign', value: string ?? range ?? number ?? word ?? sign })
  }
  return tokens
}

function skipList (tokens, at, text) {
  assert.equal(tokens[at + 1]?.value, '(', `a list of labels: ${text}`)
  let end = at + 2
  while (tokens[end] && tokens[end].value !== ')') end++
  assert.ok(tokens[end], `a list that ends: ${text}`)
  return end
}

function readLabels (tokens, at, labels, text) {
  for (; tokens[at]?.value !== '}'; at += tokens[at + 3]?.value === ',' ? 4 : 3) {
    const [name, operator, value] = tokens.slice(at, at + 3)
    assert.ok(name?.kind === 'word' && ['=', '!=', '=~', '!~'].includes(operator?.value) && value?.kind === 'string',
      `labels: ${text}`)
    labels.push({ name: name.value, operator: operator.value, value: JSON.parse(value.value) })
  }
  return at
}
