// Writes an archive in a process of its own, which a test can kill: argv is the folder, tiles across, and bytes a tile.
// It says where it is, a line each, and at the end what came of it.
import { writeSync } from 'node:fs'
import { random } from '../../bench/tiles.js'
import { tile, write } from './pmtiles-writing.js'

const [dir, across, size] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])]
const z = Math.ceil(Math.log2(across))

// every tenth column is sea; the rest is told apart by its first bytes
function * tiles () {
  const numbers = Array.from({ length: across }, (_, index) => index)
  for (const x of numbers.map(number => `${number}:`).sort().map(name => parseInt(name))) {
    for (const y of numbers.map(String).sort().map(Number)) {
      const bytes = Buffer.alloc(x % 10 ? size : Math.ceil(size / 4), x % 10 ? y : 7)
      if (x % 10) bytes.writeUInt32LE(Math.floor(random(x * 65536 + y)() * 2 ** 32), 0)
      if (x % 10) bytes.writeUInt32LE(x * 65536 + y, 4)
      yield tile(z, x, y, bytes, { type: 'image/png' })
    }
  }
}

function say (line) {
  writeSync(1, `${line}\n`)
}

let peak = 0
const timer = setInterval(() => { peak = Math.max(peak, process.memoryUsage().rss) }, 20)
let count = 0
function * counted () {
  for (const one of tiles()) {
    if (count++ % 1000 === 0) say(count)
    yield one
  }
  say('finishing')
}
const result = await write(dir, counted())
clearInterval(timer)
say(JSON.stringify({ ...result, peak: Math.max(peak, process.memoryUsage().rss) }))
