// Renders a chart as SVG in the colours of a light page. On a dark page, a style sheet inside replaces them by dark
// ones, so that one file serves both, also as an <img>.
import { parse, View } from 'vega'
import { compile } from 'vega-lite'
import { pairs } from './theme.js'

/**
 * @param {any} chart a specification of bench/plots/charts.js
 * @returns {Promise<string>} the same bytes for the same chart
 */
export async function render (chart) {
  const svg = await new View(parse(compile(chart).spec), { renderer: 'none' }).finalize().toSVG()
  const used = pairs().filter(([light]) => svg.includes(`"${light}"`))
  const rules = used.map(([light, night]) => `[fill="${light}"]{fill:${night}}[stroke="${light}"]{stroke:${night}}`)
    .join('')
  const head =
    `<title>${escape(chart.usermeta.title)}</title><style>@media (prefers-color-scheme:dark){${rules}}</style>`
  return svg.replace(/^<svg ([^>]*)class="marks" ([^>]*)>/, `<svg $1role="img" $2>${head}`) + '\n'
}

const escape = text => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
