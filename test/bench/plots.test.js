import assert from 'node:assert/strict'
import { bars, groupedBars, lines, spans } from '../../bench/plots/charts.js'
import { wrap } from '../../bench/plots/frame.js'
import { render } from '../../bench/plots/render.js'
import { colours, coloursOf, pairs } from '../../bench/plots/theme.js'
import { brief, megabytes, ms, range, table } from '../../bench/plots/words.js'

const LONG = 'gateway, memory for a third of the tiles, some wanted more than others'
const bar = { title: 'Tiles & <requests>', unit: 'a second', rows: [{ name: LONG, value: 100, low: 90, high: 120, ours: true }, { name: 'nginx', value: 50 }, { name: 'Redis', value: 200 }] }
const charts = {
  bars: bars(bar),
  dots: bars({ ...bar, log: true }),
  groupedBars: groupedBars({ title: 'Groups', unit: 'a second', rows: ['1 thread', '8 threads'].flatMap(group => ['gateway', 'CouchDB', LONG].map((name, at) => ({ group, name, value: at + 1, low: 1, high: 4 }))) }),
  lines: lines({ title: 'Batches', x: { title: 'documents a batch', log: true }, y: { title: 'documents a second' }, rows: ['in order', 'at random'].flatMap(series => [10, 100, 1000].map(x => ({ series, x, y: x / 2, low: 1, high: x }))) }),
  spans: spans({ title: 'Milliseconds', unit: 'ms', rows: [{ name: 'gateway', p50: 0.2, p90: 0.4, p99: 3, max: 40, ours: true }, { name: 'CouchDB', p50: 2, p90: 3, p99: 4, max: 5 }] })
}

/** What a reader reads. */
const wordsOf = svg => [...svg.matchAll(/>([^<>]+)</g)].map(([, words]) => words)
/** Lengths of the bars, from the top. */
const lengthsOf = svg => [...svg.split('mark-rect')[1].split('</g>')[0].matchAll(/d="M[\d.-]+,[\d.-]+h([\d.]+)v/g)].map(([, length]) => Number(length))

describe('the plots of the benchmarks', () => {
  /** @type {Record<string, string>} */
  const drawn = {}
  before(async () => { for (const [name, chart] of Object.entries(charts)) drawn[name] = await render(chart) })

  for (const [name, chart] of Object.entries(charts)) {
    it(`${name}: the same bytes for the same chart, and no figure that is none`, async () => {
      assert.equal(await render(structuredClone(chart)), drawn[name])
      assert.doesNotMatch(drawn[name], /NaN|Infinity|undefined/)
    })

    it(`${name}: every colour has another one where the page is dark, and nothing covers the page`, () => {
      const [, style] = /<style>(.*)<\/style>/.exec(drawn[name])
      assert.match(style, /^@media \(prefers-color-scheme:dark\)\{/)
      const used = new Set([...drawn[name].matchAll(/(fill|stroke)="(#\w+)"/g)].map(([, where, colour]) => `[${where}="${colour}"]{${where}:#`))
      assert.ok(used.size > 2)
      for (const rule of used) assert.ok(style.includes(rule), rule)
      assert.doesNotMatch(drawn[name], /class="background"[^>]* fill="#/)
    })

    it(`${name}: has a title, also for those who do not see it, and fits a page`, () => {
      const title = chart.usermeta.title.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;')
      assert.ok(drawn[name].includes('role="img"') && drawn[name].includes(`<title>${title}</title>`))
      assert.equal(wordsOf(drawn[name]).filter(words => words === title).length, 2, 'drawn as well')
      assert.match(drawn[name], / width="760" /)
    })
  }

  it('bars are as long as their values, in the order given', () => {
    const [first, second, third] = lengthsOf(drawn.bars)
    assert.ok(Math.abs(first / second - 2) < 0.02 && Math.abs(third / first - 2) < 0.02, `${first} ${second} ${third}`)
  })

  it('a logarithmic axis has dots: no bar begins at a nought that is not there', () => {
    assert.ok(Math.max(...lengthsOf(drawn.bars)) > 100)
    assert.ok(Math.max(...lengthsOf(drawn.dots)) < 3, 'the ends of whiskers')
  })

  it('whiskers are drawn only where there is a spread, figures behind all of them', () => {
    assert.equal(drawn.bars.split('mark-rule role-mark').pop().match(/<line/g)?.length, 3)
    assert.equal([...charts.bars.layer.flatMap(({ layer = [] }) => layer)].filter(({ transform }) => transform).length, 2)
    for (const figure of ['100', '50', '200']) assert.ok(wordsOf(drawn.bars).includes(figure), figure)
  })

  it('long names are broken, not cut', () => {
    for (const line of wrap(LONG)) {
      assert.ok(line.length <= 40, line)
      assert.ok(wordsOf(drawn.bars).includes(line), line)
    }
    assert.equal(wrap(LONG).join(' '), LONG)
    assert.ok(charts.bars.padding.left >= 40 * 6, 'room for them')
  })

  it('a name has its colour in every plot, and no plot has one twice', () => {
    const [nginx, other, redis] = coloursOf(['nginx', 'something new', 'Redis'])
    assert.deepEqual([nginx, redis], [colours.nginx[0], colours.Redis[0]])
    assert.ok(other !== nginx && other !== redis)
    assert.equal(coloursOf(['MapProxy, file cache'])[0], colours.MapProxy[0])
    const many = ['MapProxy, file cache', 'MapProxy, CouchDB cache', 'gateway', 'gateway, cold', 'nginx', 'a', 'b', 'c', 'd', 'e']
    assert.equal(new Set(coloursOf(many)).size, many.length)
    assert.equal(new Set(pairs().map(([light]) => light)).size, pairs().length)
  })
})

describe('the words of the benchmarks', () => {
  it('have as many digits as they are worth', () => {
    assert.deepEqual([0, 0.01234, 0.5, 7.456, 44.61, 123.4, 50722.3].map(brief), ['0', '0.012', '0.5', '7.46', '44.6', '123', '50,722'])
    assert.deepEqual([0.123, 4.56, 56.7, 1234.5].map(ms), ['0.12', '4.6', '57', '1,235'])
    assert.deepEqual([megabytes(2_400_000), megabytes(1_029_400_505), megabytes(null)], ['2.4 MB', '1,029 MB', ''])
  })

  it('say the spread where there is one', () => {
    assert.equal(range({ median: 1234, min: 1000, max: 2000 }, '/s'), '1,234/s (1,000–2,000)')
    assert.equal(range({ median: 12, min: 12, max: 12 }), '12')
  })

  it('make tables whose cells cannot end them', () => assert.equal(table(['a', 'b'], [['x|y', null]]), '| a | b |\n| --- | --- |\n| x\\|y |  |'))
})
