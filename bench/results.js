// The results of benchmarks as files: JSON with one line for each measure, so that a new run is a short diff.
import { readFile, writeFile } from 'node:fs/promises'

const WIDTH = 160 // columns

/** JSON whose objects and lists are on one line where they fit. */
export function compactJson (value, indent = '') {
  const line = JSON.stringify(value)
  if (typeof value !== 'object' || value === null || indent.length + line.length <= WIDTH) return line
  const inner = `${indent} `
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const parts = Array.isArray(value)
    ? value.map(one => compactJson(one, inner))
    : Object.entries(value).filter(([, one]) => one !== undefined)
      .map(([key, one]) => `${JSON.stringify(key)}: ${compactJson(one, inner)}`)
  return `${open}\n${parts.map(part => inner + part).join(',\n')}\n${indent}${close}`
}

export const writeResult = (file, result) => writeFile(file, compactJson(result) + '\n')

/** @returns {Promise<any>} undefined when there is none */
export const readResult = file => readFile(file, 'utf8')
  .then(JSON.parse, error => { if (error.code !== 'ENOENT') throw error })
