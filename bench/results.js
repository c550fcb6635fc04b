// Stores the results of benchmarks as JSON files with one line per measure, so that a new run gives a short diff.
import { readFile, writeFile } from 'node:fs/promises'

const WIDTH = 160 // columns

/** JSON with each object and list on one line if it fits. */
export function compactJson (value, indent = '') {
  const line = JSON.stringify(value)
  if (typeof value !== 'object' || value === null || indent.length + line.length <= WIDTH) return line
  const inner = `${indent} `
  const [opening, closing] = Array.isArray(value) ? '[]' : '{}'
  const parts = Array.isArray(value)
    ? value.map(item => compactJson(item, inner))
    : Object.entries(value).filter(([, entry]) => entry !== undefined)
      .map(([key, entry]) => `${JSON.stringify(key)}: ${compactJson(entry, inner)}`)
  return `${opening}\n${parts.map(part => inner + part).join(',\n')}\n${indent}${closing}`
}

export const writeResult = (file, result) => writeFile(file, compactJson(result) + '\n')

/** @returns {Promise<any>} undefined if the file does not exist */
export const readResult = file => readFile(file, 'utf8')
  .then(JSON.parse, error => { if (error.code !== 'ENOENT') throw error })
