// Whether this Node is the one that package.json asks for. Node 12 must be able to read this file.
import { readFileSync } from 'node:fs'

const numberOf = version => version.split('.').slice(0, 2).reduce((sum, part) => sum * 1000 + Number(part), 0)

/** On an older Node, prints the version that is needed and makes the command fail. */
export function isNewEnough () {
  const { engines } = JSON.parse(String(readFileSync(new URL('../package.json', import.meta.url))))
  const needed = engines.node.replace('>=', '')
  const { node } = process.versions
  if (numberOf(node) >= numberOf(needed)) return true
  console.error(`tilecouch needs Node ${needed} or later, and this is Node ${node}. ` +
    'See https://nodejs.org, or use a container.')
  process.exitCode = 1
  return false
}
