// The pages of the documentation, and the commands in their ```sh blocks.
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

const pagesBelow = folder => readdirSync(path.join(root, folder), { recursive: true })
  .map(name => path.posix.join(folder, `${name}`.replaceAll(path.sep, '/')))
  .filter(name => name.endsWith('.md')).sort()

/** All pages for readers. */
export const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md',
  'SECURITY.md', ...['client', 'deploy', 'test', 'bench'].map(name => `${name}/README.md`), ...pagesBelow('docs')]

/** The pages whose commands are run. */
export const taskPages = ['README.md', 'docs/tutorial.md', ...pagesBelow('docs/tasks')]

export const textOf = page => readFileSync(path.join(root, page), 'utf8')

/**
 * @typedef {object} Block
 * @property {string} page
 * @property {number} line of the page where it begins, from 1
 * @property {string[]} commands
 * @property {string} [reason] the reason not to run it: `<!-- not run: … -->` before it
 * @property {boolean} couchDb only run on a CouchDB: `<!-- on CouchDB -->`
 * @property {number} code exit code of the last command: 0, or `<!-- exit code 1 -->`
 * @property {{line: number, lines: string[]}} [prints] the ```text block after it: its output. `…` is a line that
 *   is left out
 */

const MARK = /^\s*<!-- (?:not run: (?<reason>\S.*)|(?<couchDb>on CouchDB)|exit code (?<code>\d+)) -->$/

/** @returns {Block[]} */
export function blocksOf (page, text = textOf(page)) {
  const lines = text.split('\n')
  /** @type {Block[]} */
  const blocks = []
  let marks = {}
  for (let index = 0; index < lines.length; index++) {
    const fence = /^( *)```(\w*)$/.exec(lines[index])
    const mark = MARK.exec(lines[index])?.groups
    if (mark) for (const [name, value] of Object.entries(mark)) marks[name] ??= value
    if (!fence) {
      if (!mark && lines[index].trim()) marks = {}
      continue
    }
    const [, indent, language] = fence
    const end = lines.indexOf(`${indent}\`\`\``, index + 1)
    assert.ok(end > 0, `${page}:${index + 1}: this block does not end`)
    const body = lines.slice(index + 1, end).map(line => line.slice(indent.length))
    const { reason, couchDb, code = 0 } = marks
    if (language === 'sh') {
      blocks.push({ page, line: index + 1, commands: commandsOf(body), reason, couchDb: Boolean(couchDb), code: +code })
    }
    if (language === 'text' && blocks.length) blocks[blocks.length - 1].prints ??= { line: index + 1, lines: body }
    marks = {}
    index = end
  }
  return blocks
}

/** The commands of a block, one per line. A backslash at its end or `<<'END'` continues it. @param {string[]} lines */
function commandsOf (lines) {
  const commands = []
  for (let index = 0; index < lines.length; index++) {
    let text = lines[index]
    if (!text.trim() || text.trim().startsWith('#')) continue
    while (text.endsWith('\\') && index + 1 < lines.length) text += `\n${lines[++index]}`
    const [, endMark] = /<<'(\w+)'/.exec(text) ?? []
    while (endMark && index + 1 < lines.length && lines[index] !== endMark) text += `\n${lines[++index]}`
    commands.push(text)
  }
  return commands
}

/** The anchors of a page's headings, as GitHub makes them. @param {string} text */
export function anchorsOf (text) {
  const counts = new Map()
  const withoutBlocks = text.replace(/^( *)```\w*\n[^]*?^\1```$/gm, '')
  return new Set([...withoutBlocks.matchAll(/^#{1,6} (.*)$/gm)].map(([, heading]) => {
    const slug = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').trim().replace(/\s/g, '-')
    const count = counts.get(slug) ?? 0
    counts.set(slug, count + 1)
    return count ? `${slug}-${count}` : slug
  }))
}
