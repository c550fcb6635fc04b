// A chart as SVG. It is drawn in the colours of a light page; where the reader's page is dark, a style sheet inside
// takes their dark counterparts, so that one file serves both, also as an <img>.
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
  const dark = used.map(([light, other]) => `[fill="${light}"]{fill:${other}}[stroke="${light}"]{stroke:${other}}`)
    .join('')
  const head =
    `<title>${escape(chart.usermeta.title)}</title><style>@media (prefers-color-scheme:dark){${dark}}</style>`
  return svg.replace(/^<svg ([^>]*)class="marks" ([^>]*)>/, `<svg $1role="img" $2>${head}`) + '\n'
}

const escape = text => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
