// Draws docs/images/imports.svg, the folders and what they import, for CONTRIBUTING.md. `npm run docs` writes it.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Pixels. `columns` boxes of `height` stand beside each other. */
const panels = {
  attachments: { x: 10, y: 10, columns: 2, height: 32 },
  server: { x: 450, y: 10, columns: 3, height: 50 },
  client: { x: 10, y: 260, columns: 2, height: 66 },
  loader: { x: 450, y: 260, columns: 3, height: 84 },
  core: { x: 10, y: 650, columns: 5, height: 50 }
}
const box = { width: 178, gap: 8, head: 34 }

/** The way of an arrow. An import without a way is an error. */
const ways = {
  'attachments client': 'M150 206V258',
  'attachments core': 'M392 110H410V648',
  'client core': 'M150 592V648',
  'client loader': 'M392 420H448',
  'loader core': 'M730 572V648',
  'server core': 'M448 130H430V648',
  'server loader': 'M730 162V258'
}

const style = `
  <style>
    text { font: 14px system-ui, sans-serif; fill: #1f2933 } .name { font-weight: 600 }
    .small { font-size: 12px; fill: #52606d } .head { fill: #52606d }
    .panel { fill: #f5f7fa; stroke: #52606d } .box { fill: #e8f1fb; stroke: #2b6cb0 }
    .line { stroke: #52606d; stroke-width: 1.5; fill: none }
    @media (prefers-color-scheme: dark) {
      text { fill: #e4e7eb } .small { fill: #b8c2cc } .head { fill: #9aa5b1 }
      .panel { fill: #1b2027; stroke: #9aa5b1 } .box { fill: #16324f; stroke: #63b3ed } .line { stroke: #9aa5b1 }
    }
  </style>`

/** The files that each file imports, without types that only a comment imports. @returns {Map<string, string[]>} */
export function readImports (folders) {
  const files = folders.flatMap(folder => readdirSync(path.join(root, folder), { recursive: true })
    .map(name => path.join(folder, `${name}`))
    .filter(name => name.endsWith('.js') && !/node_modules|[\\/]dist[\\/]/.test(name)))
  return new Map(files.map(file => {
    const { importedFiles } = ts.preProcessFile(readFileSync(path.join(root, file), 'utf8'))
    const specifiers = importedFiles.map(({ fileName }) => fileName).filter(name => name.startsWith('.'))
    return [file, specifiers.map(specifier => path.join(path.dirname(file), specifier))]
  }))
}

/** `loader/load/seed/x.js` is in the panel `loader` and the box `load`; `loader/errors.js` in no box. */
function placeOf (file) {
  const [panel, ...rest] = file.split(path.sep)
  return { panel, box: rest.length > 1 ? rest[0] : undefined }
}

/** The boxes that each box imports in its panel, and the panels that import another one. */
function summarise (imports) {
  const boxes = new Map(Object.keys(panels).map(panel => [panel, new Map()]))
  const edges = new Set()
  for (const [file, importedFiles] of imports) {
    const from = placeOf(file)
    const siblings = boxes.get(from.panel).get(from.box) ?? new Set()
    if (from.box) boxes.get(from.panel).set(from.box, siblings)
    for (const to of importedFiles.map(placeOf)) {
      if (to.panel !== from.panel) edges.add(`${from.panel} ${to.panel}`)
      else if (to.box && to.box !== from.box) siblings.add(to.box)
    }
  }
  return { boxes, edges: [...edges].sort() }
}

function drawBox (name, imported, height, x, y) {
  const text = imported.length ? `→ ${imported.join(' ')}` : ''
  const lines = text.match(/\S.{0,25}(?= |$)/g) ?? [] // of at most 26 characters
  return [
    `<rect class="box" x="${x}" y="${y}" width="${box.width}" height="${height}" rx="4"/>`,
    `<text x="${x + 10}" y="${y + 21}">${name}/</text>`,
    ...lines.map((line, index) => `<text class="small" x="${x + 10}" y="${y + 40 + 16 * index}">${line}</text>`)
  ]
}

/** A folder. The boxes that import most of the others come first. */
function drawPanel (panel, siblings) {
  const { x, y, columns, height } = panels[panel]
  const entries = [...siblings].map(([name, imported]) => ({ name, imported: [...imported].sort() }))
  entries.sort((one, other) => other.imported.length - one.imported.length || one.name.localeCompare(other.name))
  const step = { x: box.width + box.gap, y: height + box.gap }
  const panelHeight = box.head + Math.ceil(entries.length / columns) * step.y
  return [
    `<rect class="panel" x="${x}" y="${y}" width="${columns * step.x + box.gap}" height="${panelHeight}" rx="6"/>`,
    `<text class="name" x="${x + 12}" y="${y + 23}">${panel}/</text>`,
    ...entries.flatMap(({ name, imported }, index) => drawBox(name, imported, height,
      x + box.gap + step.x * (index % columns), y + box.head + step.y * Math.floor(index / columns)))
  ]
}

function drawArrow (edge) {
  if (!ways[edge]) throw new Error(`${edge.replace(' ', '/ imports ')}/, which docs/imports-picture.js does not draw`)
  return `<path class="line" d="${ways[edge]}" marker-end="url(#head)"/>`
}

/** The whole picture. @returns {string} */
export function drawImports () {
  const { boxes, edges } = summarise(readImports(Object.keys(panels)))
  const shapes = [...[...boxes].flatMap(([panel, siblings]) => drawPanel(panel, siblings)), ...edges.map(drawArrow)]
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1030 752" width="1030" height="752" role="img">
  <title>The folders of the code, and what they import</title>${style}
  <marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">
    <path class="head" d="M0 0 8 4 0 8z"/>
  </marker>
  ${shapes.join('\n  ')}
</svg>
`
}

export const writePicture = () => writeFileSync(new URL('images/imports.svg', import.meta.url), drawImports())
