// Compares deploy/monitoring with the metrics of gateways, edges, CouchDB and the doctor: every name, label and value.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as yaml from 'js-yaml'
import { until } from '../../bench/wait.js'
import { doctorMetricTable, metricsOf } from '../../loader/check/doctor/metrics.js'
import { STATES, mirrorMetricTable } from '../../server/gateway/mirror-metrics.js'
import { KINDS, OUTCOMES, workerMetricTable, metricTable } from '../../server/gateway/metrics.js'
import { createSmallStore, look } from '../support/doctor.js'
import { useEdges } from '../support/edges.js'
import { backends, request, startThrowAwayEmbedded } from '../support/backends.js'
import { useFolder } from '../support/folder.js'

// The tests parse expressions of Prometheus as far as they need: the metrics with their labels, and the syntax.

const FUNCTIONS =
  new Set(['rate', 'increase', 'histogram_quantile', 'absent', 'time', 'sum', 'min', 'max', 'count', 'avg', 'topk'])
const AGGREGATIONS = new Set(['sum', 'min', 'max', 'count', 'avg', 'topk'])
const GROUPING = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right'])
const OPERATORS = new Set(['and', 'or', 'unless', 'bool'])
const RANGED = new Set(['rate', 'increase'])
const TOKENS = [/"(?:[^"\\]|\\.)*"/, /\[(?:\d+[smhd]|\$__rate_interval)\]/, /\d+(?:\.\d+)?(?:e\d+)?/,
  /[a-zA-Z_:][\w:]*/, /=~|!~|!=|==|>=|<=|[-+*/%^(){}=<>,]/]
const TOKEN = new RegExp(`\\s*(?:${TOKENS.map(({ source }) => `(${source})`).join('|')})`, 'y')

/**
 * @param {string} text
 * @returns {{name: string, labels: {name: string, operator: string, value: string}[], ranged: boolean}[]} without
 *   the labels of `groupingsOf`
 */
function selectorsOf (text) {
  const tokens = tokenize(text)
  const selectors = []
  const brackets = []
  for (let index = 0; index < tokens.length; index++) {
    const { kind, value } = tokens[index]
    const next = tokens[index + 1]?.value
    if (value === '(') brackets.push(tokens[index - 1]?.kind === 'word' ? tokens[index - 1].value : '(')
    else if (value === ')') assert.ok(brackets.pop(), `too many brackets: ${text}`)
    else if (kind !== 'word') continue
    else if (GROUPING.has(value)) index = skipList(tokens, index, text)
    else if (FUNCTIONS.has(value)) assert.ok(next === '(' || (AGGREGATIONS.has(value) && GROUPING.has(next ?? '')),
      `${value} without its brackets: ${text}`)
    else if (!OPERATORS.has(value)) {
      const selector = { name: value, labels: [], ranged: false }
      if (next === '{') index = readLabels(tokens, index + 2, selector.labels, text)
      selector.ranged = tokens[index + 1]?.kind === 'range'
      assert.equal(selector.ranged, RANGED.has(brackets.at(-1) ?? ''), `a range belongs to rate and increase: ${text}`)
      selectors.push(selector)
    }
  }
  assert.deepEqual(brackets, [], `brackets left open: ${text}`)
  return selectors
}

/** The labels by which an expression groups. */
const groupingsOf = text => [...text.matchAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g)]
  .flatMap(([, list]) => list.split(',').map(label => label.trim()).filter(Boolean))

function tokenize (text) {
  const tokens = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const start = TOKEN.lastIndex
    const match = TOKEN.exec(text)
    assert.ok(match, `not understood from ${JSON.stringify(text.slice(start, start + 20))} on: ${text}`)
    const index = match.slice(1).findIndex(value => value !== undefined)
    tokens.push({ kind: ['string', 'range', 'number', 'word', 'sign'][index], value: match[index + 1] })
  }
  return tokens
}

function skipList (tokens, index, text) {
  assert.equal(tokens[index + 1]?.value, '(', `a list of labels: ${text}`)
  let end = index + 2
  while (tokens[end] && tokens[end].value !== ')') end++
  assert.ok(tokens[end], `a list that ends: ${text}`)
  return end
}

function readLabels (tokens, index, labels, text) {
  for (; tokens[index]?.value !== '}'; index += tokens[index + 3]?.value === ',' ? 4 : 3) {
    const [name, operator, value] = tokens.slice(index, index + 3)
    assert.ok(name?.kind === 'word' && ['=', '!=', '=~', '!~'].includes(operator?.value) && value?.kind === 'string',
      `labels: ${text}`)
    labels.push({ name: name.value, operator: operator.value, value: JSON.parse(value.value) })
  }
  return index
}

const file = name => fileURLToPath(new URL(`../../deploy/monitoring/${name}`, import.meta.url))
const read = name => readFileSync(file(name), 'utf8')

const SCRAPED = ['job', 'instance'] // labels that Prometheus adds
const STEM = /_(bucket|sum|count)$/

/** The metrics with their labels, and the possible values of labels, if they are known. */
const tables = [...Object.values(metricTable), ...Object.values(workerMetricTable),
  ...Object.values(mirrorMetricTable), ...Object.values(doctorMetricTable)]
const VALUES = {
  kind: KINDS, outcome: [...OUTCOMES, 'tiles', 'unchanged', 'missing'], state: STATES,
  task: ['seed', 'prune', 'check', 'backup'], area: ['database', 'indexes', 'disk', 'layers']
}

/** The names and labels of metrics in a text. Comments declare those without a sample yet. */
function metricsIn (text) {
  const labelsByName = new Map()
  const addLabels = (name, labels = []) => labelsByName.set(name, new Set([...labelsByName.get(name) ?? [], ...labels]))
  for (const line of text.split('\n')) {
    const [, sample, inner] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$/.exec(line) ?? []
    if (sample) addLabels(sample, [...(inner ?? '').matchAll(/(\w+)="/g)].map(([, label]) => label))
    const [, declared] = /^# TYPE (\S+)/.exec(line) ?? []
    if (declared) addLabels(declared)
  }
  return labelsByName
}

const alerts = yaml.load(read('alerts.yml')).groups.flatMap(({ rules }) => rules)
const dashboard = JSON.parse(read('grafana.json'))
const panels = dashboard.panels.filter(({ type }) => type !== 'row')
const PLACES = [...alerts.map(({ alert, expr }) => ({ where: alert, expr })),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ where: title, expr })))]
const USED = PLACES.flatMap(({ where, expr }) => selectorsOf(expr).map(selector => ({ where, expr, ...selector })))

describe('the metrics that deploy/monitoring uses', () => {
  const folder = useFolder()
  const edges = useEdges()
  const usedWith = prefix => USED.filter(({ name }) => name.startsWith(prefix))
  const stem = name => name.replace(STEM, '')

  it('are shown by a gateway and an edge, with their names and labels', async () => {
    const server = await startThrowAwayEmbedded()
    const url = `${server.url.replace(/\/$/, '')}/tiles`
    await createSmallStore(url)
    const edge = await edges.start(url, { data: folder.path('edge') }) // a gateway and a mirror
    try {
      await until(async () => (await edge.get('osm/5/1/1.png')).status === 200, { what: 'the edge to have the tile' })
      const metrics = metricsIn(await until(async () => {
        const text = await edge.metrics()
        return text.includes('tilecouch_requests_total{') && text.includes('tilecouch_mirror_lag_seconds ') && text
      }, { what: 'all metrics' }))
      // metrics of the process that keeps workers: test/gateway/workers.test.js
      for (const { name } of Object.values(workerMetricTable)) metrics.set(name, new Set())
      const used = [...usedWith('tilecouch_').filter(({ name }) => !/^tilecouch_(doctor|task)_/.test(name)),
        ...usedWith('process_'), ...usedWith('nodejs_')]
      assert.ok(used.length > 30)
      for (const { where, name, labels } of used) {
        assert.ok(metrics.has(name) || metrics.has(stem(name)), `${where}: nobody shows ${name}`)
        const knownLabels = tables.find(table => table.name === stem(name))?.labels ?? []
        for (const { name: label } of labels) {
          assert.ok([...SCRAPED, 'le', ...knownLabels, ...metrics.get(name) ?? []].includes(label),
            `${where}: ${name} has no label ${label}`)
        }
      }
      // the tables list all labels of the metrics
      for (const [name, labels] of metrics) {
        const table = tables.find(metric => metric.name === stem(name))
        if (table) assert.deepEqual([...labels].filter(label => !['le', ...table.labels].includes(label)), [], name)
      }
    } finally {
      await edge.close()
      await server.close()
    }
  })

  it('are shown by CouchDB to a user with the role _metrics', async function () {
    const backend = backends.find(({ name }) => name === 'CouchDB')
    if (!backend) return this.skip()
    const server = await backend.url()
    const { metrics_path: address, basic_auth: { username } } = yaml.load(read('prometheus.yml'))
      .scrape_configs.find(({ job_name: job }) => job === 'couchdb')
    const user = `${username}_${process.pid}`
    await request(`${server}/_users/org.couchdb.user:${user}`,
      { method: 'PUT', body: JSON.stringify({ name: user, password: 'p', roles: ['_metrics'], type: 'user' }) })
    const userUrl = new URL(server)
    userUrl.username = user
    userUrl.password = 'p'
    const answer = await request(new URL(address, userUrl).href)
    const text = await answer.text()
    const { headers } = await request(`${server}/_users/org.couchdb.user:${user}`, { method: 'HEAD' })
    await request(`${server}/_users/org.couchdb.user:${user}?rev=${headers.get('etag')?.replaceAll('"', '')}`,
      { method: 'DELETE' })
    assert.equal(answer.status, 200, 'the role _metrics is enough')
    const metrics = metricsIn(text)
    const used = usedWith('couchdb_')
    assert.ok(used.length > 15)
    for (const { where, name, labels } of used) {
      const labelsOfMetric = metrics.get(name)
      assert.ok(labelsOfMetric, `${where}: CouchDB does not show ${name}`)
      for (const { name: label, value, operator } of labels) {
        if (SCRAPED.includes(label)) continue
        assert.ok(labelsOfMetric.has(label), `${where}: ${name} has no label ${label}`)
        for (const one of value.split('|')) {
          const isPattern = operator === '=~' && one.includes('.') && label === 'code'
          assert.ok(isPattern || text.includes(`${name}{${label}="${one}"`), `${where}: ${name} has no ${label} ${one}`)
        }
      }
    }
  })

  it('are written by the doctor and the timers', async () => {
    const server = await startThrowAwayEmbedded()
    try {
      const url = `${server.url.replace(/\/$/, '')}/tiles`
      await createSmallStore(url, { retention: { last: 1 } })
      const report = await look(url)
      const metrics = metricsIn(await metricsOf(report))
      const used = usedWith('tilecouch_doctor_')
      assert.ok(used.length > 8)
      const figures = new Set(report.findings.flatMap(({ figures: values = {} }) => Object.keys(values)))
      for (const name of ['free', 'file', 'active']) figures.add(name) // figures of a CouchDB
      for (const { where, name, labels } of used) {
        for (const { name: label, value } of labels) {
          assert.ok([...SCRAPED, ...metrics.get(name) ?? []].includes(label), `${where}: ${name} has no label ${label}`)
          if (label === 'figure') assert.ok(figures.has(value), `${where}: there is no figure ${value}`)
        }
      }
    } finally {
      await server.close()
    }
    const names = new Set(usedWith('tilecouch_task_').map(({ name }) => name))
    assert.deepEqual([...names], ['tilecouch_task_success_timestamp_seconds'])
  })

  it('are selected by existing values of labels, and grouped by labels that they have', () => {
    for (const { where, name, labels } of USED.filter(selector => selector.name.startsWith('tilecouch_'))) {
      for (const { name: label, value, operator } of labels) {
        const knownValues = VALUES[label]
        if (!knownValues || label === 'state') continue
        for (const labelValue of operator.endsWith('~') ? value.split('|') : [value]) {
          assert.ok(knownValues.includes(labelValue), `${where}: ${name} has no ${label} ${labelValue}`)
        }
      }
    }
    for (const { where, labels } of usedWith('tilecouch_mirror_state')) {
      for (const { name, value } of labels) if (name === 'state') assert.ok(STATES.includes(value), where)
    }
    for (const { where, expr } of PLACES) {
      const ownLabels = [...SCRAPED, 'le', 'quantile', 'memory_type', ...selectorsOf(expr).flatMap(
        ({ name }) => tables.find(table => table.name === stem(name))?.labels ??
          (name === 'couchdb_httpd_status_codes' ? ['code'] : [])
      )]
      for (const label of groupingsOf(expr)) assert.ok(ownLabels.includes(label), `${where}: ${label}`)
    }
  })
})

describe('deploy/monitoring/alerts.yml', () => {
  it('has complete rules, each with a reason and a description in docs/monitoring.md', () => {
    const text = read('alerts.yml')
    const docs = readFileSync(fileURLToPath(new URL('../../docs/monitoring.md', import.meta.url)), 'utf8')
    assert.equal(new Set(alerts.map(({ alert }) => alert)).size, alerts.length)
    for (const { alert, expr, for: duration, labels, annotations } of alerts) {
      assert.match(alert, /^(Tilecouch|CouchDb)[A-Z]\w+$/)
      assert.ok(['page', 'ticket'].includes(labels.severity), alert)
      assert.match(annotations.summary, /\{\{ \$(labels|value)|No backup/)
      if (duration) assert.match(duration, /^\d+[mhd]$/)
      assert.match(expr, /[<>=]=? (\d|on)|absent/, `${alert} compares with something`)
      assert.match(text, new RegExp(`      # .+\n      - alert: ${alert}\n`), `${alert} has a reason`)
      assert.ok(docs.includes(`\`${alert}\``), `docs/monitoring.md tells of ${alert}`)
      for (const [, label] of annotations.summary.matchAll(/\$labels\.(\w+)/g)) {
        const groups = groupingsOf(expr)
        assert.ok(!groups.length || groups.includes(label), `${alert}: ${label} is not there any more`)
      }
    }
  })
})

describe('deploy/monitoring/prometheus.yml', () => {
  const { rule_files: rules, scrape_configs: jobs } = yaml.load(read('prometheus.yml'))

  it('reads alerts.yml, defines all jobs that alerts and panels use, and holds no password', () => {
    assert.deepEqual(rules, ['alerts.yml'])
    const names = jobs.map(({ job_name: name }) => name)
    assert.deepEqual(names, ['tilecouch', 'tilecouch-edge', 'couchdb', 'node'])
    const jobLabels = USED.flatMap(({ labels }) => labels).filter(({ name }) => name === 'job')
    assert.ok(jobLabels.length > 3)
    for (const { value, operator } of jobLabels) {
      assert.ok(names.some(name => operator === '=' ? name === value : new RegExp(`^(${value})$`).test(name)), value)
    }
    for (const { basic_auth: auth } of jobs) assert.equal(auth?.password, undefined)
  })
})

describe('deploy/monitoring/grafana.json', () => {
  it('can be imported: it has unique ids, a choice of data source, no overlapping panels', () => {
    assert.ok(dashboard.schemaVersion >= 36 && dashboard.id === null)
    assert.equal(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length)
    const variables = dashboard.templating.list.map(({ name }) => name)
    assert.deepEqual(variables, ['datasource', 'instance', 'couchdb'])
    const taken = new Map()
    for (const { title, type, gridPos: { x, y, w, h }, targets = [], datasource, fieldConfig } of dashboard.panels) {
      assert.ok(title && x >= 0 && x + w <= 24 && h > 0, title)
      for (let row = y; row < y + h; row++) {
        for (let column = x; column < x + w; column++) {
          assert.equal(taken.get(`${row} ${column}`), undefined, `${title} lies over ${taken.get(`${row} ${column}`)}`)
          taken.set(`${row} ${column}`, title)
        }
      }
      if (type === 'row') continue
      assert.ok(['timeseries', 'stat', 'table'].includes(type), type)
      assert.deepEqual(datasource, { type: 'prometheus', uid: '${datasource}' })
      const { unit, thresholds } = fieldConfig.defaults
      assert.ok(['none', 'short', 's', 'bytes', 'Bps', 'ops', 'reqps', 'percentunit'].includes(unit), title)
      assert.equal(thresholds.steps[0].value, null, 'the first threshold is the base')
      assert.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length)
      for (const { expr, legendFormat } of targets) {
        for (const [, name] of expr.matchAll(/\$(\w+)/g)) {
          assert.ok([...variables, '__rate_interval'].includes(name), `${title}: ${name}`)
        }
        const groups = groupingsOf(expr)
        if (groups.length) for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) {
          assert.ok(groups.includes(label), `${title}: the legend names ${label}`)
        }
      }
    }
  })
})
