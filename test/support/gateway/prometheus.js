// Parses metrics as Prometheus does, strictly enough to fail where Prometheus would.
import assert from 'node:assert/strict'

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (Na[nN]|[+-]?Inf|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/
const LABEL = /^([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/

/**
 * @param {string} text
 * @returns {Map<string, {help: string, type: string, samples: {name: string, labels: Record<string, string>, value:
 *   number}[]}>}
 */
export function parseMetrics (text) {
  const metrics = new Map()
  let current
  let name = ''
  for (const line of text.split('\n').filter(Boolean)) {
    const [, word, metricName, content] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? []
    if (word === 'HELP') {
      assert.ok(!metrics.has(metricName), `${metricName} is there once`)
      metrics.set(name = metricName, current = { help: content, type: '', samples: [] })
    } else if (word === 'TYPE') {
      assert.equal(metricName, name)
      current.type = content
    } else {
      const match = SAMPLE.exec(line)
      assert.ok(match && match[1].startsWith(name), line)
      current.samples.push(
        { name: match[1], labels: parseLabels(match[2] ?? ''), value: Number(match[3].replace('Inf', 'Infinity')) }
      )
    }
  }
  return metrics
}

function parseLabels (text) {
  const labels = {}
  while (text) {
    const match = LABEL.exec(text)
    assert.ok(match, text)
    labels[match[1]] = match[2]
    text = text.slice(match[0].length)
  }
  return labels
}
