// The plots of the benchmarks as Vega-Lite specifications in one style. Values are numbers in one unit; `low` and
// `high` are optional. Lengths are meaningful only on an axis that begins at zero, so a logarithmic axis gets dots
// instead of bars.
import { frame, grid, inOrder, ink, nameColumn, scaled, soft } from './frame.js'
import { coloursOf, theme } from './theme.js'
import { brief } from './words.js'

/** @typedef {{name: string, value: number, low?: number, high?: number, ours?: boolean}} Bar */

const shapes =
  ['circle', 'square', 'triangle-up', 'diamond', 'cross', 'triangle-down', 'triangle-right', 'triangle-left']
const withEnds = row => ({ ...row, low: row.low ?? row.value, high: row.high ?? row.value, words: brief(row.value) })

/** Whiskers from the lowest to the highest value, followed by the figure. */
function whiskers (across, along, size, offset = 6) {
  const rule = { type: 'rule', color: ink, strokeWidth: 1.2 }
  const tick = { type: 'tick', color: ink, thickness: 1.2, size, orient: 'vertical' }
  return [
    { mark: rule, encoding: { ...across, x: { field: 'low', ...along }, x2: { field: 'high' } } },
    ...['low', 'high'].map(field => (
      { transform: [{ filter: 'datum.low < datum.high' }], mark: tick, encoding: { ...across, x: { field, ...along } } }
    )),
    { mark: { type: 'text', align: 'left', baseline: 'middle', dx: offset, fontSize: 12, color: ink }, encoding: {
      ...across, x: { field: 'high', ...along }, text: { field: 'words' }
    } }
  ]
}

const lengths =
  (rows, unit, log) => (scaled(rows.flatMap(({ low, high }) => [low, high]), { title: unit, log, tight: true }))
const mark = (log, size) => log ? { type: 'point', filled: true, opacity: 1, size: 90 } : { type: 'bar', height: size }

/** Horizontal bars with whiskers. The bars of tilecouch stand out. */
export function bars ({ title, unit, rows, log = false }) {
  const values = rows.map(row => ({ ...withEnds(row), colour: (row.ours ? theme.ours : theme.others)[0] }))
  const order = rows.map(({ name }) => name)
  const names = nameColumn(order, 'name')
  const across = { y: { field: 'name', ...inOrder(order) } }
  const along = lengths(values, unit, log)
  return frame({
    title, left: names.width, height: rows.length * Math.max(26, names.height + 8), layers: [
      ...names.layers,
      {
        data: { values },
        layer: [
          { mark: mark(log, 15), encoding: {
            ...across, x: { field: 'value', ...along }, color: { field: 'colour', type: 'nominal', scale: null }
          } }, ...whiskers(across, along, 7, log ? 10 : 6)
        ]
      }]
  })
}

/** Groups of bars from top to bottom, with one bar for each name in each group. */
export function groupedBars ({ title, unit, rows, log = false }) {
  const values = rows.map(row => withEnds({ ...row, group: String(row.group) }))
  const names = [...new Set(rows.map(({ name }) => name))]
  const order = [...new Set(values.map(({ group }) => group))]
  const groups = nameColumn(order, 'group')
  const range = coloursOf(names)
  const along = lengths(values, unit, log)
  const across = { y: {
    field: 'group', ...inOrder(order), scale: { paddingInner: 0.25, paddingOuter: 0.1 }
  }, yOffset: { field: 'name', type: 'nominal', sort: names, scale: { domain: names } } }
  return frame({
    title, left: groups.width, legend: names.map((name, index) => ({ name, colour: range[index] })),
    height: order.length * Math.max(groups.height + 8, names.length * 17 + 10), layers: [
      ...groups.layers,
      {
        data: { values },
        layer: [
          {
            mark: mark(log, 12),
            encoding: { ...across, x: { field: 'value', ...along }, color: {
              field: 'name', type: 'nominal', scale: { domain: names, range }, legend: null
            } }
          },
          ...whiskers(across, along, 6, log ? 10 : 6)
        ]
      }]
  })
}

/**
 * Lines with points, and a band from the lowest to the highest value.
 * @param {{title: string, x: any, y: any, rows: any[], fits?: any[]}} options fits: rows of fitted curves, drawn dashed
 *   instead of lines between the points
 */
export function lines ({ title, x, y, rows, fits }) {
  const values = rows.map(row => ({ ...row, low: row.low ?? row.y, high: row.high ?? row.y }))
  const names = [...new Set(rows.map(({ series }) => series))]
  const range = coloursOf(names)
  const color = { field: 'series', type: 'nominal', scale: { domain: names, range }, legend: null }
  const across = { field: 'x', ...scaled(rows.map(row => row.x), { ...x, zero: false, tight: true }) }
  const heights = [...values.flatMap(({ low, high }) => [low, high]), ...(fits ?? []).map(row => row.y)]
  const upwards = scaled(heights, { log: y.log })
  return frame({
    title, left: 70, height: 300, above: y.title,
    legend: names.length > 1 ? names.map((name, at) => ({ name, colour: range[at], shape: shapes[at % shapes.length] }))
      : [],
    layers: [{
      data: { values },
      layer: [
        { mark: { type: 'area', opacity: 0.16 }, encoding: {
          x: across, y: { field: 'low', ...upwards }, y2: { field: 'high' }, color
        } },
        {
          ...(fits && { data: { values: fits } }),
          mark: { type: 'line', strokeWidth: 2, ...(fits && { strokeDash: [6, 4] }) },
          encoding: { x: across, y: { field: 'y', ...upwards }, color }
        },
        {
          mark: { type: 'point', filled: true, opacity: 1, size: 55 },
          encoding: {
            x: across, y: { field: 'y', ...upwards }, color,
            shape: { field: 'series', type: 'nominal', scale: {
              domain: names, range: names.map((_, index) => shapes[index % shapes.length])
            }, legend: null }
          }
        }
      ]
    }]
  })
}

const ranks = [{ rank: 'p50', shape: 'circle' }, { rank: 'p90', shape: 'diamond' },
  { rank: 'p99', shape: 'triangle-up' }, { rank: 'max', shape: 'cross' }]

/** Spans of time: one line per row from the median to the longest, with marks at the percentiles. */
export function spans ({ title, unit, rows, log = true }) {
  const order = rows.map(({ name }) => name)
  const names = nameColumn(order, 'name')
  const across = {
    y: { field: 'name', ...inOrder(order), axis: {
      title: null, labels: false, ticks: false, domain: false, grid: true, gridColor: grid
    } }
  }
  const values = rows.map(row => ({ ...row, colour: (row.ours ? theme.ours : theme.others)[0], words: brief(row.max) }))
  const along = scaled(rows.flatMap(({ p50, max }) => [p50, max]), { title: unit, log, tight: !log })
  const color = { field: 'colour', type: 'nominal', scale: null }
  return frame({
    title, left: names.width, legend: ranks.map(({ rank, shape }) => ({ name: rank, colour: soft, shape })),
    height: rows.length * Math.max(24, names.height + 8), layers: [
      ...names.layers,
      {
        data: { values },
        layer: [
          { mark: { type: 'rule', strokeWidth: 2 }, encoding: {
            ...across, x: { field: 'p50', ...along }, x2: { field: 'max' }, color
          } },
          ...ranks.map(
            ({ rank, shape }) => (
              { mark: { type: 'point', filled: true, opacity: 1, size: 70, shape }, encoding: {
                ...across, x: { field: rank, ...along }, color
              } }
            )
          ),
          { mark: { type: 'text', align: 'left', baseline: 'middle', dx: 8, fontSize: 12, color: ink }, encoding: {
            ...across, x: { field: 'max', ...along }, text: { field: 'words' }
          } }
        ]
      }]
  })
}
